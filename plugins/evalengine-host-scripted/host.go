package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host"
	"github.com/evalengine/evalengine/plugins/internal/mcpclient"
)

const version = "1"

// maxConfigs is how many host blocks' configs are kept parsed. A run has few.
const maxConfigs = 16

// scripted implements [eval.Host].
type scripted struct {
	mu      sync.Mutex
	configs []*parsed
}

// parsed is a config that was read once for all its trials.
type parsed struct {
	raw     []byte
	scripts map[string]*script
	err     error
}

var _ eval.Host = (*scripted)(nil)

func (h *scripted) Describe(context.Context) (eval.Description, error) {
	return eval.Description{
		Name: "scripted", Version: version,
		Doc: "Performs written tool calls, without a model.",
		Capabilities: []string{
			eval.CapMultiTurn, eval.CapMCPHTTP, eval.CapNoFolders, eval.CapInProcess, eval.CapReusable,
		},
		Schema: eval.Schema{Attributes: []eval.Attribute{{
			Name: "scripts", Type: "map(string)", Required: true,
			Doc: "Scripts as JSON text, by story, story.variant or story.variant.host.",
		}}},
	}, nil
}

func (h *scripted) Start(_ context.Context, spec eval.SessionSpec) (eval.Session, error) {
	c := h.parse(spec)
	if c.err != nil {
		return nil, c.err
	}
	key, s := c.find(spec.Trial)
	if s == nil {
		return nil, wrong("no script for story %q, variant %q, host %q; there are scripts for %s",
			spec.Trial.Story, spec.Trial.Variant, spec.Trial.Host,
			strings.Join(slices.Sorted(maps.Keys(c.scripts)), ", "))
	}
	if spec.Turns != 0 && spec.Turns != len(s.turns) {
		return nil, wrong("script %q has %d turns, the story has %d", key, len(s.turns), spec.Turns)
	}
	client := mcpclient.New("evalengine-scripted", spec.Servers)
	return &session{key: key, script: s, client: client, saved: map[string]any{}}, nil
}

// find returns the most specific script.
func (c *parsed) find(t eval.Trial) (string, *script) {
	variant := t.Variant
	if variant == "" {
		variant = eval.NoVariant
	}
	for _, key := range []string{
		t.Story + "." + variant + "." + t.Host, t.Story + "." + variant, t.Story,
	} {
		if s := c.scripts[key]; s != nil {
			return key, s
		}
	}
	return "", nil
}

// parse reads the scripts of a config, once for each config that is new.
func (h *scripted) parse(spec eval.SessionSpec) *parsed {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.configs {
		if bytes.Equal(c.raw, spec.Config) {
			return c
		}
	}
	c := &parsed{raw: bytes.Clone(spec.Config), scripts: map[string]*script{}}
	c.err = c.read(spec)
	if len(h.configs) == maxConfigs {
		h.configs = h.configs[1:]
	}
	h.configs = append(h.configs, c)
	return c
}

func (c *parsed) read(spec eval.SessionSpec) error {
	var config struct {
		Scripts map[string]string `json:"scripts"`
	}
	if err := host.Config(spec, &config); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(config.Scripts)) {
		s, err := parseScript([]byte(config.Scripts[key]))
		if err != nil {
			return wrong("script %q: %v", key, err)
		}
		c.scripts[key] = s
	}
	return nil
}

// wrong is a fault that every trial of this host would have.
func wrong(format string, args ...any) error {
	return &eval.Fault{
		Cause: eval.CauseHostConfig, Retry: eval.RetryStop, Detail: fmt.Sprintf(format, args...),
	}
}
