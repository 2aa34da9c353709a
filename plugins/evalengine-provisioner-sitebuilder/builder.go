package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/examples/sitebuilder/server"
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
	"github.com/evalengine/evalengine/plugins/provisioner"
)

// version is the plugin's own.
const version = "0.1.0"

// readyTimeout bounds the wait for an instance's proof.
const readyTimeout = 10 * time.Second

// builder holds the instances of all trials.
type builder struct {
	client http.Client

	mu   sync.Mutex
	live map[string]*server.Instance
}

var _ eval.Provisioner = (*builder)(nil)

func newBuilder() *builder {
	// Every instance has a port of its own and is asked once: a connection that is
	// kept would only hold a descriptor.
	return &builder{
		client: http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		live:   map[string]*server.Instance{},
	}
}

type config struct {
	Template string `json:"template"`
}

func (b *builder) Describe(context.Context) (eval.Description, error) {
	return eval.Description{
		Name: "sitebuilder", Version: version,
		Doc: "A website builder in memory for each trial, with an MCP server, a live site and a preview.",
		Schema: eval.Schema{Attributes: []eval.Attribute{{
			Name: "template", Type: "string", Default: eval.JSON(`"blank"`), Enum: site.Templates(),
			Doc: "what the account holds at the start: blank is an unpublished site with an empty home page, " +
				"demo a published marketing site with a blog, cluttered the same with a stale second collection",
		}}},
	}, nil
}

// Provision starts an instance that lives until Destroy, not until ctx ends.
func (b *builder) Provision(ctx context.Context, req eval.ProvisionRequest) (eval.Target, error) {
	var c config
	if err := provisioner.Config(req, &c); err != nil {
		return eval.Target{}, err
	}
	if err := ctx.Err(); err != nil {
		return eval.Target{}, context.Cause(ctx)
	}
	in, err := server.Start(context.WithoutCancel(ctx), server.Options{Template: c.Template, Nonce: req.Nonce})
	if err != nil {
		return eval.Target{}, refused(c, err)
	}
	t, err := b.target(ctx, in)
	if err != nil {
		return eval.Target{}, errors.Join(err, in.Close())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live[t.ID] = in
	return t, nil
}

// refused is the fault of an instance that did not start: a template that does
// not exist is the suite's, anything else may be better the next time.
func refused(c config, err error) error {
	retry := eval.RetryTrial
	if c.Template != "" && !slices.Contains(site.Templates(), c.Template) {
		retry = eval.RetryNever
	}
	return &eval.Fault{Cause: eval.CauseProvision, Retry: retry, Detail: fmt.Sprintf("template %q: %v", c.Template, err)}
}

// target is a started instance once it has proven to be the one that was started.
func (b *builder) target(ctx context.Context, in *server.Instance) (eval.Target, error) {
	if err := b.prove(ctx, in); err != nil {
		return eval.Target{}, &eval.Fault{Cause: eval.CauseNotReady, Retry: eval.RetryTrial, Detail: in.SiteURL + ": " + err.Error()}
	}
	// The MCP endpoint's own address is not among them: agents go by the gateway.
	values := map[string]string{"url": in.SiteURL, "preview_url": in.SiteURL + "/preview"}
	if sites := in.State().Sites; len(sites) > 0 {
		values["site_id"] = sites[0].ID
	}
	data, err := json.Marshal(values)
	if err != nil {
		return eval.Target{}, err
	}
	return eval.Target{
		ID: rand.Text(), Values: data, Secrets: []string{in.Token},
		Servers: []eval.Server{{
			Name: "sitebuilder", URL: in.MCPURL, Headers: map[string]string{"Authorization": "Bearer " + in.Token},
		}},
	}, nil
}

// prove asks the address that the agent will be given for the nonce.
func (b *builder) prove(ctx context.Context, in *server.Instance) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, in.SiteURL+"/_nonce", nil)
	if err != nil {
		return err
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return err
	}
	var said struct {
		Nonce string `json:"nonce"`
	}
	if err := json.Unmarshal(body, &said); err != nil || said.Nonce != in.Nonce {
		return errors.New("somebody else's instance answers here")
	}
	return nil
}

func (b *builder) Snapshot(_ context.Context, targetID string) (eval.JSON, error) {
	b.mu.Lock()
	in := b.live[targetID]
	b.mu.Unlock()
	if in == nil {
		return nil, &eval.Fault{Cause: eval.CauseObserve, Retry: eval.RetryNever, Detail: fmt.Sprintf("there is no target %q", targetID)}
	}
	return json.Marshal(in.State())
}

func (b *builder) Destroy(_ context.Context, targetID string) error {
	b.mu.Lock()
	in := b.live[targetID]
	delete(b.live, targetID)
	b.mu.Unlock()
	if in == nil {
		return nil
	}
	return in.Close()
}
