package story

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/evalengine/evalengine/engine/eval"
)

// catalog asks a [Catalog] for each thing once, for several at a time, and
// keeps the answers.
type catalog struct {
	from    Catalog
	pending map[string]func(context.Context) answer
	answers map[string]answer
	schemas map[string]*schema
}

// answer is what the catalog said, in one of the fields.
type answer struct {
	description eval.Description
	manifest    *eval.Manifest
	err         error
}

// atOnce bounds how many plugins are started side by side.
const atOnce = 8

func newCatalog(c Catalog) *catalog {
	return &catalog{from: c, pending: map[string]func(context.Context) answer{}, answers: map[string]answer{}, schemas: map[string]*schema{}}
}

func hostKey(driver, sha string) string        { return "host " + driver + " " + sha }
func provisionerKey(name, sha string) string   { return "provisioner " + name + " " + sha }
func moduleKey(name string) string             { return "module " + name }
func scorerKey(module, scorer string) string   { return "scorer " + module + "/" + scorer }
func (c *catalog) answer(key string) answer    { return c.answers[key] }
func (c *catalog) known(key string) (ok bool)  { _, ok = c.answers[key]; return ok }
func (c *catalog) want(key string, ask asking) { c.pending[key] = ask }

type asking func(context.Context) answer

func (c *catalog) wantHost(driver, sha string) {
	c.want(hostKey(driver, sha), func(ctx context.Context) answer {
		d, err := c.from.Host(ctx, driver, sha)
		return answer{description: d, err: err}
	})
}

func (c *catalog) wantProvisioner(name, sha string) {
	c.want(provisionerKey(name, sha), func(ctx context.Context) answer {
		d, err := c.from.Provisioner(ctx, name, sha)
		return answer{description: d, err: err}
	})
}

func (c *catalog) wantModule(cfg *eval.ModuleConfig, name string) {
	c.want(moduleKey(name), func(ctx context.Context) answer {
		m, err := c.from.Module(ctx, cfg, name)
		if err == nil && m == nil {
			err = fmt.Errorf("module %q has no manifest", name)
		}
		return answer{manifest: m, err: err}
	})
}

// fetch answers everything that was wanted.
func (c *catalog) fetch(ctx context.Context) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for key, ask := range c.pending {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			a := answer{err: ctx.Err()}
			if a.err == nil {
				a = ask(ctx)
			}
			mu.Lock()
			defer mu.Unlock()
			c.answers[key] = a
		})
	}
	wg.Wait()
	clear(c.pending)
	return ctx.Err()
}

// named is an error with what it is about, which most say themselves.
func named(kind, name string, err error) string {
	text := err.Error()
	var f *eval.Fault
	if errors.As(err, &f) && f.Detail != "" {
		text = f.Detail // its cause says nothing to whoever wrote the suite
	}
	if strings.Contains(text, strconv.Quote(name)) {
		return upperFirst(text)
	}
	return fmt.Sprintf("%s %q: %s", upperFirst(kind), name, text)
}

// missing reports why something of the catalog cannot be used. known are the
// names that would have been right.
func (l *loader) missing(rng hcl.Range, kind, name string, err error, known []string) {
	if errors.Is(err, ErrDigest) {
		l.found.fail(rng, kind+" is not the pinned one", "%s. Nothing of it was run. If you meant to change it, pin the new one.", named(kind, name, err))
		return
	}
	if !errors.Is(err, ErrUnknown) {
		l.found.fail(rng, kind+" cannot be used", "%s.", named(kind, name, err))
		return
	}
	hint := suggest(name, known)
	if len(known) == 0 {
		hint = "None is installed. `evalengine doctor` says where they are looked for."
	}
	l.found.fail(rng, "unknown "+kind, "%s", sentence(fmt.Sprintf("There is no %s %q.", kind, name), hint))
}

// fetch asks the catalog for what the suite uses.
func (l *loader) fetch(ctx context.Context, stories []*storyBlock) error {
	for _, h := range l.usedHosts() {
		if !h.pin.unreadable {
			l.catalog.wantHost(h.config.Driver, h.config.SHA256)
		}
	}
	for _, st := range stories {
		if t := l.targets[st.target]; t != nil && t.config.Provisioner != "" {
			t.used = true
			if !t.pin.unreadable {
				l.catalog.wantProvisioner(t.config.Provisioner, t.config.SHA256)
			}
		}
		for _, b := range st.uses() {
			l.wantScorer(b.Labels[0])
		}
	}
	return l.catalog.fetch(ctx)
}

func (l *loader) wantScorer(label string) {
	module, _, ok := cutScorer(label)
	if !ok || l.catalog.pending[moduleKey(module)] != nil {
		return
	}
	m := l.modules[module]
	switch {
	case m == nil:
		l.catalog.wantModule(nil, module)
	case m.usable:
		m.used = true
		l.catalog.wantModule(&m.config, module)
	}
}
