package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/examples/sitebuilder/server"
	"github.com/evalengine/evalengine/plugins/provisioner/provisionertest"
)

func TestConformance(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "evalengine-provisioner-sitebuilder")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	provisionertest.Kit{
		Binary: bin,
		Request: func(_ testing.TB, req *eval.ProvisionRequest) {
			req.Config = eval.JSON(`{"template":"demo"}`)
		},
		Broken: func(_ testing.TB, req *eval.ProvisionRequest) {
			req.Config = eval.JSON(`{"template":"castle"}`)
		},
		Change: func(t testing.TB, target eval.Target) { rename(t, target, "Changed") },
		Check:  check,
		// All in one process: hundreds are cheap.
		Targets: 200,
	}.Run(t)
}

func check(t testing.TB, req eval.ProvisionRequest, target eval.Target) {
	v := values(t, target)
	if v["site_id"] != "site_1" {
		t.Errorf("site_id = %q; want site_1", v["site_id"])
	}
	if _, body := get(t, v["url"]+"/_nonce"); !strings.Contains(body, req.Nonce) {
		t.Errorf("the site at %s has the nonce %q; want %q", v["url"], body, req.Nonce)
	}
	s := target.Servers[0]
	if len(target.Servers) != 1 || s.Name != "sitebuilder" || s.Headers["Authorization"] != "Bearer "+target.Secrets[0] {
		t.Errorf("servers = %+v", target.Servers)
	}
}

func TestValues(t *testing.T) {
	for _, tt := range []struct {
		config string
		live   int
	}{{``, 404}, {`{"template":"blank"}`, 404}, {`{"template":"demo"}`, 200}, {`{"template":"cluttered"}`, 200}} {
		b := newBuilder()
		target := provision(t, b, tt.config, 1)
		v := values(t, target)
		if len(v) != 3 {
			t.Errorf("%s: values = %v; want url, preview_url and site_id", tt.config, v)
		}
		if status, _ := get(t, v["url"]+"/"); status != tt.live {
			t.Errorf("%s: the live site answers %d; want %d", tt.config, status, tt.live)
		}
		if status, _ := get(t, v["preview_url"]+"/"); status != 200 {
			t.Errorf("%s: the preview answers %d; want 200", tt.config, status)
		}
	}
}

func TestUnknownTemplate(t *testing.T) {
	_, err := newBuilder().Provision(t.Context(), eval.ProvisionRequest{Config: eval.JSON(`{"template":"castle"}`)})
	if f := eval.AsFault(err); f.Retry != eval.RetryNever || !strings.Contains(f.Detail, "castle") {
		t.Errorf("fault = %+v; want one that names castle and is not retried", f)
	}
}

// A neighbour that answers at the instance's address is not taken for it.
func TestNonceOfAnother(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"nonce":"theirs"}`)
	}))
	defer other.Close()
	in := &server.Instance{SiteURL: other.URL, Nonce: "mine"}
	if err := newBuilder().prove(t.Context(), in); err == nil {
		t.Error("another's nonce was accepted")
	}
}

// A hundred side by side: each client sees its own account alone.
func TestEachSeesItsOwn(t *testing.T) {
	b := newBuilder()
	targets := make([]eval.Target, 100)
	var wg sync.WaitGroup
	for i := range targets {
		wg.Go(func() {
			targets[i] = provision(t, b, `{"template":"blank"}`, i+1)
			rename(t, targets[i], fmt.Sprintf("Home of %d", i))
		})
	}
	wg.Wait()
	for i, target := range targets {
		state, err := b.Snapshot(t.Context(), target.ID)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Pages []struct {
				Title string `json:"title"`
			} `json:"pages"`
		}
		if err := json.Unmarshal(state, &s); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("Home of %d", i); len(s.Pages) != 1 || s.Pages[0].Title != want {
			t.Errorf("target %d has the pages %v; want one %q", i, s.Pages, want)
		}
		next := targets[(i+1)%len(targets)]
		if got := status(t, target.Servers[0].URL, next.Servers[0].Headers["Authorization"]); got != http.StatusUnauthorized {
			t.Errorf("target %d let the token of another in: %d", i, got)
		}
	}
}

func TestDestroy(t *testing.T) {
	b := newBuilder()
	target := provision(t, b, "", 1)
	url := values(t, target)["url"]
	for range 2 {
		if err := b.Destroy(t.Context(), target.ID); err != nil {
			t.Errorf("Destroy = %v", err)
		}
	}
	if resp, err := http.Get(url); err == nil {
		resp.Body.Close()
		t.Error("the destroyed site still answers")
	}
	_, err := b.Snapshot(t.Context(), target.ID)
	var f *eval.Fault
	if !errors.As(err, &f) || f.Cause != eval.CauseObserve {
		t.Errorf("Snapshot of a destroyed target = %v; want a fault", err)
	}
}

func BenchmarkTarget(b *testing.B) {
	p := newBuilder()
	for b.Loop() {
		target, err := p.Provision(b.Context(), eval.ProvisionRequest{Nonce: "nonce"})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Snapshot(b.Context(), target.ID); err != nil {
			b.Fatal(err)
		}
		if err := p.Destroy(b.Context(), target.ID); err != nil {
			b.Fatal(err)
		}
	}
}

func provision(t testing.TB, b *builder, config string, n int) eval.Target {
	t.Helper()
	target, err := b.Provision(t.Context(), eval.ProvisionRequest{
		Trial: eval.Trial{Story: "s", Host: "h", Repeat: n}, Config: eval.JSON(config), Nonce: fmt.Sprintf("nonce-%d", n),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Destroy(context.Background(), target.ID) })
	return target
}

func values(t testing.TB, target eval.Target) map[string]string {
	t.Helper()
	var v map[string]string
	if err := json.Unmarshal(target.Values, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// rename gives the home page another title, over MCP as an agent would.
func rename(t testing.TB, target eval.Target, title string) {
	t.Helper()
	s := target.Servers[0]
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: s.URL, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: &withHeaders{headers: s.Headers}},
	}, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer session.Close()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "pages_update_settings", Arguments: map[string]any{"page_id": "page_1", "title": title},
	})
	if err != nil || res.IsError {
		t.Errorf("pages_update_settings = %+v, %v", res, err)
	}
}

type withHeaders struct {
	http.Transport
	headers map[string]string
}

func (w *withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range w.headers {
		r.Header.Set(k, v)
	}
	return w.Transport.RoundTrip(r)
}

func get(t testing.TB, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	var b strings.Builder
	if err := resp.Write(&b); err != nil {
		t.Error(err)
	}
	return resp.StatusCode, b.String()
}

func status(t testing.TB, url, authorization string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", authorization)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
