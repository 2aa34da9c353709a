package main

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// plan is a config with its placeholders replaced: what is to be done for one
// target.
type plan struct {
	// env is the whole environment of setup, snapshot and cleanup.
	env     map[string]string
	files   map[string]string // by clean path
	setup   [][]string
	cleanup [][]string
	parts   []part
	state   sources
	values  map[string]string
	// backends are the addresses that relays pass requests on to.
	backends map[string]string
	secrets  []string

	setupTimeout, cleanupTimeout time.Duration
}

// part is one server with the process behind it.
type part struct {
	name string
	// serve is the process that runs as long as the target, if any.
	serve []string
	// command or url is the server; both are empty for a process that only others
	// talk to.
	command []string
	url     string
	env     map[string]string // whole
	headers map[string]string
	probe   bool
	ready   ready
	timeout time.Duration
}

// planner makes a plan, one attribute after the other; the first error stays.
type planner struct {
	*expander
	c    *config
	base map[string]string
	err  error
}

func (p *planner) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *planner) text(what, s string) string {
	v, err := p.expand(s)
	if err != nil {
		p.fail(fmt.Errorf("%s: %w", what, err))
	}
	return v
}

func (p *planner) texts(what string, m map[string]string) map[string]string {
	v, err := p.table(what, m)
	if err != nil {
		p.fail(err)
	}
	return v
}

// words is a command line; nil stays nil.
func (p *planner) words(what string, list []string) []string {
	if len(list) == 0 {
		return nil
	}
	v, err := p.command(what, list)
	if err != nil {
		p.fail(err)
	}
	return v
}

func (p *planner) lines(what string, list [][]string) [][]string {
	v, err := p.commands(what, list)
	if err != nil {
		p.fail(err)
	}
	return v
}

func (p *planner) bound(what, s, def string) time.Duration {
	d, err := duration(what, s, def)
	if err != nil {
		p.fail(err)
	}
	return d
}

// newPlan replaces the placeholders of c. base is the environment of everything,
// which the config's env goes over.
func newPlan(c *config, x *expander, base map[string]string) (*plan, error) {
	parts, err := c.parts()
	if err != nil {
		return nil, err
	}
	p := &planner{expander: x, c: c, base: base}
	out := &plan{
		env:            overlay(base, p.texts("env", c.Env)),
		files:          p.seeds(),
		setup:          p.lines("setup", c.Setup),
		cleanup:        p.lines("cleanup", c.Cleanup),
		state:          p.sources(),
		values:         p.texts("values", c.Values),
		backends:       p.texts("backends", c.Backends),
		setupTimeout:   p.bound("setup_timeout", c.SetupTimeout, defaultSetup),
		cleanupTimeout: p.bound("cleanup_timeout", c.CleanupTimeout, defaultCleanup),
	}
	for _, np := range parts {
		out.parts = append(out.parts, p.part(np, out.env))
	}
	if p.err != nil {
		return nil, p.err
	}
	out.secrets, err = p.secrets(out)
	return out, err
}

func (p *planner) part(np namedPart, env map[string]string) part {
	at := func(what string) string {
		if np.name == p.c.Name {
			return what
		}
		return "servers." + np.name + "." + what
	}
	headers := p.texts(at("headers"), np.Headers)
	return part{
		name:    np.name,
		serve:   p.words(at("serve"), np.Serve),
		command: p.words(at("command"), np.Command),
		url:     p.text(at("url"), np.URL),
		env:     overlay(env, p.texts(at("env"), np.Env)),
		headers: headers,
		probe:   np.URL != "" && np.Probe == nil || np.Probe != nil && *np.Probe,
		timeout: p.bound(at("ready_timeout"), np.ReadyTimeout, defaultReady),
		ready: ready{
			url: p.text(at("ready_url"), np.ReadyURL), headers: headers, body: p.text(at("ready_body"), np.ReadyBody),
			nonceHeader: np.ReadyNonceHeader, nonce: p.fixed["nonce"],
		},
	}
}

// seeds are the files that the working folder starts with.
func (p *planner) seeds() map[string]string {
	out := map[string]string{}
	put := func(what, path, content string) {
		clean, err := inside(p.text(what, path))
		if err == nil && has(out, clean) {
			err = fmt.Errorf("%q is there twice", clean)
		}
		if err != nil {
			p.fail(fmt.Errorf("%s: %w", what, err))
		}
		out[clean] = content
	}
	for _, path := range sortedKeys(p.c.Files) {
		put("files", path, p.c.Files[path])
	}
	for _, path := range sortedKeys(p.c.Templates) {
		put("templates", path, p.text("templates."+path, p.c.Templates[path]))
	}
	return out
}

func (p *planner) sources() sources {
	c := p.c
	headers := p.texts("snapshot_headers", c.SnapshotHeaders)
	if len(c.SnapshotHeaders) == 0 {
		headers = p.texts("headers", c.Headers)
	}
	globs, err := p.list("snapshot_files", c.SnapshotFiles)
	if err != nil {
		p.fail(err)
	}
	s := sources{
		command: p.words("snapshot", c.Snapshot), format: c.SnapshotFormat,
		globs: globs, url: p.text("snapshot_url", c.SnapshotURL), headers: headers,
		max: c.SnapshotMaxBytes, timeout: p.bound("snapshot_timeout", c.SnapshotTimeout, defaultSnapshot),
	}
	if s.max == 0 {
		s.max = defaultMaxBytes
	}
	if s.max < 0 {
		p.fail(errors.New("snapshot_max_bytes: less than nothing"))
	}
	if len(s.command) == 0 && len(s.globs) == 0 && s.url == "" {
		s.globs = []string{"**"}
	}
	if err := checkGlobs(s.globs); err != nil {
		p.fail(fmt.Errorf("snapshot_files: %w", err))
	}
	return s
}

// servers are what the engine's gateway connects to, in dir.
func (p *plan) servers(dir string, marks map[string]string) []eval.Server {
	var list []eval.Server
	for _, s := range p.parts {
		switch {
		case s.url != "":
			list = append(list, eval.Server{Name: s.name, URL: s.url, Headers: s.headers, StartTimeout: s.timeout})
		case len(s.command) > 0:
			list = append(list, eval.Server{
				Name: s.name, Command: s.command[0], Args: s.command[1:], Dir: dir, StartTimeout: s.timeout,
				Env: overlay(s.env, marks),
			})
		}
	}
	return list
}

func overlay(base, more map[string]string) map[string]string {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, more)
	return out
}

func has[V any](m map[string]V, k string) bool { _, ok := m[k]; return ok }
