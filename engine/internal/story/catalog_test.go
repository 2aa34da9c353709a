package story

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
)

// fakeCatalog has a few plugins and modules of every shape.
type fakeCatalog struct {
	mu    sync.Mutex
	asked []string
}

func (c *fakeCatalog) ask(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, what)
}

func (c *fakeCatalog) sorted() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(slices.Values(c.asked))
}

func (c *fakeCatalog) HostNames() []string {
	return []string{"claude-code", "codex", "scripted", "oneshot"}
}
func (c *fakeCatalog) ProvisionerNames() []string { return []string{"sitebuilder", "command"} }
func (c *fakeCatalog) ModuleNames() []string {
	return []string{"tools", "answer", "html", "path", "judge"}
}

func (c *fakeCatalog) Host(_ context.Context, driver, sha string) (eval.Description, error) {
	c.ask("host " + driver)
	switch driver {
	case "claude-code", "codex", "scripted":
		return eval.Description{Name: driver, Capabilities: []string{eval.CapMultiTurn, eval.CapIsolation}, Schema: eval.Schema{Attributes: []eval.Attribute{
			{Name: "model", Type: "string", Doc: "the model's name"},
			{Name: "max_turns", Type: "number", Default: eval.JSON(`40`)},
			{Name: "effort", Type: "string", Enum: []string{"low", "medium", "high"}},
			{Name: "args", Type: "list(string)"},
			{Name: "settings", Type: "map(string)"},
			{Name: "limits", Type: "object({ seconds = number, calls = optional(number, 7) })"},
			{Name: "api_key", Type: "string", Secret: true},
			{Name: "extra", Type: "any"},
		}}}, nil
	case "oneshot":
		return eval.Description{Name: driver, Capabilities: []string{eval.CapIsolation}}, nil
	case "open":
		return eval.Description{Name: driver, Needs: []eval.Need{{Name: "isolation", Path: "no user namespaces"}}}, nil
	case "broken":
		return eval.Description{}, &eval.Fault{Cause: eval.CausePlugin, Retry: eval.RetryStop, Detail: "the plugin ended before its handshake"}
	case "badschema":
		return eval.Description{Capabilities: []string{eval.CapMultiTurn, eval.CapIsolation}, Schema: eval.Schema{Attributes: []eval.Attribute{{Name: "x", Type: "lits(string)"}}}}, nil
	}
	return eval.Description{}, fmt.Errorf("looked in 3 folders: %w", ErrUnknown)
}

func (c *fakeCatalog) Provisioner(_ context.Context, name, _ string) (eval.Description, error) {
	c.ask("provisioner " + name)
	switch name {
	case "sitebuilder":
		return eval.Description{Name: name, Schema: eval.Schema{Attributes: []eval.Attribute{{Name: "template", Type: "string", Default: eval.JSON(`"blank"`)}}}}, nil
	case "command":
		return eval.Description{Name: name, Schema: eval.Schema{Attributes: []eval.Attribute{
			{Name: "servers", Type: "map(object({ command = list(string), dir = optional(string) }))", Required: true, Doc: "MCP servers by name"},
		}}}, nil
	}
	return eval.Description{}, ErrUnknown
}

func (c *fakeCatalog) ModelNames() []string { return []string{"anthropic", "openai"} }

func (c *fakeCatalog) Model(_ context.Context, provider, _ string) (eval.Description, error) {
	c.ask("model " + provider)
	switch provider {
	case "anthropic", "openai":
		return eval.Description{Name: provider, Schema: eval.Schema{Attributes: []eval.Attribute{
			{Name: "base_url", Type: "string"}, {Name: "max_tokens", Type: "number"},
		}}}, nil
	}
	return eval.Description{}, ErrUnknown
}

func (c *fakeCatalog) CheckModel(m eval.ModelConfig) error {
	if strings.Contains(string(m.Config), "ftp:") {
		return errors.New("base_url is no address")
	}
	return nil
}

func (c *fakeCatalog) Module(_ context.Context, cfg *eval.ModuleConfig, name string) (*eval.Manifest, error) {
	c.ask("module " + name)
	text := func(n string, required bool) eval.Attribute {
		return eval.Attribute{Name: n, Type: "string", Required: required}
	}
	switch {
	case cfg != nil && name == "brand":
		return &eval.Manifest{Module: name, Scorers: []eval.ScorerSpec{
			{Name: "tone", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, Params: eval.Schema{Attributes: []eval.Attribute{text("brief", true)}}},
			{Name: "colours", Role: eval.RoleMeasure, Dimension: eval.DimensionQuality},
		}}, nil
	case cfg != nil:
		return nil, errors.New("not a WebAssembly module")
	case name == "tools":
		return &eval.Manifest{Module: name, Scorers: []eval.ScorerSpec{
			{Name: "called", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome, Params: eval.Schema{Attributes: []eval.Attribute{
				text("tool", true), {Name: "min", Type: "number", Default: eval.JSON(`1`)}, {Name: "max", Type: "number"}, {Name: "arguments", Type: "any"},
			}}},
			{Name: "not_called", Role: eval.RoleAssert, Dimension: eval.DimensionConstraint, Params: eval.Schema{Attributes: []eval.Attribute{text("tool", true)}}},
			{Name: "order", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome, Params: eval.Schema{Attributes: []eval.Attribute{
				{Name: "tools", Type: "list(string)"}, {Name: "steps", Type: "list(object({ tool = string, optional = optional(bool, false) }))"},
			}}},
		}}, nil
	case name == "answer":
		return &eval.Manifest{Module: name, Scorers: []eval.ScorerSpec{
			{Name: "contains", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome, Params: eval.Schema{Attributes: []eval.Attribute{
				text("text", true), {Name: "mode", Type: "string", Enum: []string{"exact", "fold"}, Default: eval.JSON(`"exact"`)},
			}}},
		}}, nil
	case name == "html":
		return &eval.Manifest{Module: name, Scorers: []eval.ScorerSpec{
			{Name: "semantic_html_ratio", Role: eval.RoleMeasure, Dimension: eval.DimensionQuality, Needs: []eval.Part{eval.PartPagesHTML}, Params: eval.Schema{Attributes: []eval.Attribute{{Name: "pages", Type: "list(string)"}}}},
		}}, nil
	case name == "path":
		return &eval.Manifest{Module: name, Scorers: []eval.ScorerSpec{{Name: "effort", Role: eval.RoleMeasure, Dimension: eval.DimensionPath}}}, nil
	case name == "judge":
		return &eval.Manifest{Module: name, Scorers: []eval.ScorerSpec{
			{Name: "transcript", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, Params: eval.Schema{Attributes: []eval.Attribute{text("rubric", true)}}},
			{Name: "visual", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, Needs: []eval.Part{eval.PartPagesImage}, Params: eval.Schema{Attributes: []eval.Attribute{{Name: "pages", Type: "list(string)"}, text("brief", true)}}},
		}}, nil
	}
	return nil, ErrUnknown
}
