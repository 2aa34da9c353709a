package story

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/evalengine/evalengine/engine/eval"
)

// hostBlock is a host block and what it becomes.
type hostBlock struct {
	block  *hclsyntax.Block
	config eval.HostConfig
	driver hcl.Range
	// isolation is where its isolation is asked for, the block where it is not.
	isolation hcl.Range
	pin       pin
}

// targetBlock is a target block and what it becomes.
type targetBlock struct {
	block       *hclsyntax.Block
	config      eval.TargetConfig
	provisioner hcl.Range
	pin         pin
	used        bool
}

func (l *loader) declareHosts() {
	for _, b := range l.blocks["host"] {
		var before *hclsyntax.Block
		if h := l.hosts[b.Labels[0]]; h != nil {
			before = h.block
		}
		if !l.declared("host", b, before) {
			continue
		}
		attrs, _ := l.content(b.Body, &hostBody, b.DefRange())
		h := &hostBlock{block: b, driver: attrRange(attrs["driver"], b)}
		h.config = eval.HostConfig{
			Name: b.Labels[0], Source: toSource(b.DefRange()),
			Capabilities: l.textsAttr(attrs["capabilities"], l.root),
			Env:          l.envAttr(attrs["env"]),
		}
		h.config.SHA256, h.pin = l.pinAttr(attrs["sha256"])
		h.config.Concurrency, _ = l.intAttr(attrs["concurrency"], l.root, 1, maxConcurrency)
		h.config.Driver, _ = l.filledAttr(attrs["driver"], l.root)
		h.config.Isolation, h.isolation = l.isolationPolicy(attrs["isolation"]), attrRange(attrs["isolation"], b)
		l.hosts[b.Labels[0]] = h
		l.order.hosts = append(l.order.hosts, b.Labels[0])
	}
}

func (l *loader) declareTargets() {
	for _, b := range l.blocks["target"] {
		var before *hclsyntax.Block
		if t := l.targets[b.Labels[0]]; t != nil {
			before = t.block
		}
		if !l.declared("target", b, before) {
			continue
		}
		attrs, blocks := l.content(b.Body, &targetBody, b.DefRange())
		t := &targetBlock{block: b, provisioner: attrRange(attrs["provisioner"], b)}
		t.config = eval.TargetConfig{
			Name: b.Labels[0], Source: toSource(b.DefRange()),
			Env: l.envAttr(attrs["env"]),
		}
		t.config.SHA256, t.pin = l.pinAttr(attrs["sha256"])
		t.config.Provisioner, _ = l.filledAttr(attrs["provisioner"], l.root)
		for _, inner := range blocks {
			if inner.Type == "tool" {
				t.config.Tools = append(t.config.Tools, l.toolRule(inner, t.config.Tools))
			}
		}
		l.targets[b.Labels[0]] = t
		l.order.targets = append(l.order.targets, b.Labels[0])
	}
}

func attrRange(a *hclsyntax.Attribute, b *hclsyntax.Block) hcl.Range {
	if a == nil {
		return b.DefRange()
	}
	return a.Expr.Range()
}

func (l *loader) toolRule(b *hclsyntax.Block, before []eval.ToolRule) eval.ToolRule {
	attrs, _ := l.content(b.Body, &ruleBody, b.DefRange())
	r := eval.ToolRule{
		Pattern: b.Labels[0], Source: toSource(b.LabelRanges[0]),
		Requires: l.textsAttr(attrs["requires"], l.root), Destructive: l.boolAttr(attrs["destructive"], l.root),
	}
	l.checkPattern(b)
	if len(attrs) == 0 {
		l.found.warn(b.DefRange(), "rule without effect", "The rule says nothing: set requires or destructive.")
	}
	if slices.ContainsFunc(before, func(o eval.ToolRule) bool { return o.Pattern == r.Pattern }) {
		l.found.fail(b.LabelRanges[0], "duplicate rule", "There is a rule for %q already. Put both into one block.", r.Pattern)
	}
	return r
}

func (l *loader) checkPattern(b *hclsyntax.Block) {
	if p := b.Labels[0]; p == "" || len(p) > 300 {
		l.found.fail(b.LabelRanges[0], "unusable pattern", "The label is a tool's name or a pattern such as \"designer_*\" or \"server/*\".")
	}
}

// envAttr takes names of environment variables.
func (l *loader) envAttr(a *hclsyntax.Attribute) []string {
	list := l.textsAttr(a, l.root)
	for i, n := range list {
		if !envName(n) {
			l.found.fail(elementRange(a.Expr, i), "unusable name", "%q is not the name of an environment variable. The list has names alone; their values come from the engine's environment.", n)
		}
	}
	return list
}

func envName(s string) bool {
	for i, r := range s {
		letter := r == '_' || (r >= 'A' && r <= 'Z') || (r >= 'a' && r <= 'z')
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 256
}

// usedHosts are those that the suite runs on.
func (l *loader) usedHosts() []*hostBlock {
	var list []*hostBlock
	for i := range l.suite.Hosts {
		list = append(list, l.hosts[l.suite.Hosts[i].Name])
	}
	return list
}

// configure checks config blocks against what the plugins take. A plugin that
// is not used is not started, so its config is not checked.
func (l *loader) configure(stories []*storyBlock) {
	for i, h := range l.usedHosts() {
		if h.config.Driver == "" || h.pin.unreadable {
			continue
		}
		a := l.catalog.answer(hostKey(h.config.Driver, h.config.SHA256))
		if a.err != nil {
			l.missing(h.pin.at(h.driver, a.err), "driver", h.config.Driver, a.err, l.catalog.from.HostNames())
			continue
		}
		l.suite.Hosts[i].Config = l.pluginConfig(h.block, h.driver, hostKey(h.config.Driver, h.config.SHA256), "driver", h.config.Driver, a.description.Schema)
		l.multiTurn(h, a.description, stories)
		l.isolated(h, a.description)
	}
	for _, name := range l.order.targets {
		t := l.targets[name]
		if !t.used || t.pin.unreadable {
			continue
		}
		key := provisionerKey(t.config.Provisioner, t.config.SHA256)
		if a := l.catalog.answer(key); a.err != nil {
			l.missing(t.pin.at(t.provisioner, a.err), "provisioner", t.config.Provisioner, a.err, l.catalog.from.ProvisionerNames())
		} else {
			t.config.Config = l.pluginConfig(t.block, t.provisioner, key, "provisioner", t.config.Provisioner, a.description.Schema)
		}
		l.suite.Targets = append(l.suite.Targets, t.config)
	}
}

// unused warns of what no story refers to.
func (l *loader) unused() {
	for _, name := range l.order.targets {
		if t := l.targets[name]; !t.used {
			l.found.warn(t.block.DefRange(), "unused target", "No story has target = target.%s; its config was not checked.", name)
		}
	}
	for _, name := range l.order.modules {
		if m := l.modules[name]; !m.used {
			l.found.warn(m.block.DefRange(), "unused scorer module", "No story uses a scorer of %q; the module was not read.", name)
		}
	}
}

func (l *loader) pluginConfig(b *hclsyntax.Block, at hcl.Range, key, kind, name string, from eval.Schema) eval.JSON {
	sch, err := l.catalog.compile(key, from)
	if err != nil {
		l.found.fail(at, kind+" cannot be used", "%s %q: %v.", upperFirst(kind), name, err)
		return nil
	}
	return l.configBlock(nested(b, "config"), sch, fmt.Sprintf("the config of %s %q", kind, name), b.DefRange())
}

// multiTurn refuses stories that a host cannot play.
func (l *loader) multiTurn(h *hostBlock, d eval.Description, stories []*storyBlock) {
	if d.Has(eval.CapMultiTurn) {
		return
	}
	for _, st := range stories {
		on := len(st.hosts) == 0 || slices.Contains(st.hosts, h.config.Name)
		if turn := nested(st.block, "turn"); turn != nil && on {
			l.found.fail(turn.DefRange(), "host without further turns",
				"The driver %q of host.%s can give an agent one prompt only. Restrict the story with hosts = [...] to others.", h.config.Driver, h.config.Name)
		}
	}
}

func nested(b *hclsyntax.Block, kind string) *hclsyntax.Block {
	for _, inner := range b.Body.Blocks {
		if inner.Type == kind {
			return inner
		}
	}
	return nil
}

// decodeModels reads the model blocks. Their config is not checked here: the
// engine's own model clients take it.
func (l *loader) decodeModels() {
	for _, name := range l.order.models {
		b := l.models[name]
		attrs, _ := l.content(b.Body, &modelBody, b.DefRange())
		m := eval.ModelConfig{Name: name, Source: toSource(b.DefRange()), Config: eval.JSON("{}")}
		m.Provider, _ = l.filledAttr(attrs["provider"], l.root)
		m.Model, _ = l.filledAttr(attrs["name"], l.root)
		if c := nested(b, "config"); c != nil {
			m.Config = l.freeConfig(c)
		}
		l.suite.Models = append(l.suite.Models, m)
	}
}

// freeConfig renders attributes of any name and type.
func (l *loader) freeConfig(b *hclsyntax.Block) eval.JSON {
	for _, inner := range b.Body.Blocks {
		l.found.fail(inner.TypeRange, "unknown block", "A config takes attributes alone: write %s = { ... }.", inner.Type)
	}
	vals := map[string]cty.Value{}
	for _, a := range inOrder(values(b.Body.Attributes)) {
		v, secret, ok := l.evalSecret(a.Expr, l.root)
		if ok && secret {
			l.secret(v, a.Expr.Range(), fmt.Sprintf("%q", a.Name))
		}
		if ok && !v.IsNull() {
			vals[a.Name] = v
		}
	}
	obj := cty.ObjectVal(vals)
	out, err := ctyjson.Marshal(obj, obj.Type())
	if err != nil {
		l.found.fail(b.DefRange(), "wrong value", "The config cannot be passed on: %v.", err)
		return nil
	}
	return out
}
