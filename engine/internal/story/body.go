package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// bodySpec says what a block may hold.
type bodySpec struct {
	// name is the block's type, empty for a file.
	name     string
	required []string
	optional []string
	// blocks are the nested block types, with how many labels each has.
	blocks []blockSpec
}

type blockSpec struct {
	name string
	// label names what the label is; empty is a block without a label.
	label string
	// once is a block that may stand once in its parent.
	once bool
}

var (
	fileBody = bodySpec{blocks: []blockSpec{
		{name: "suite", label: "name"}, {name: "variable", label: "name"}, {name: "locals"},
		{name: "host", label: "name"}, {name: "target", label: "name"}, {name: "model", label: "name"},
		{name: "scorer", label: "module"}, {name: "story", label: "name"},
	}}
	suiteBody = bodySpec{name: "suite", optional: []string{"hosts", "repeats", "timeout", "on_timeout", "retries", "budget_usd", "max_trials", "circuit"},
		blocks: []blockSpec{{name: "limits", once: true}, {name: "provider", label: "url"}, {name: "browser", once: true}}}
	limitsBody     = bodySpec{name: "limits", optional: []string{"turns", "tokens", "tool_bytes", "usd"}}
	providerBody   = bodySpec{name: "provider", optional: []string{"concurrency", "requests_per_minute"}}
	variableBody   = bodySpec{name: "variable", optional: []string{"type", "default", "description", "sensitive"}, blocks: []blockSpec{{name: "validation"}}}
	validationBody = bodySpec{name: "validation", required: []string{"condition", "error_message"}}
	hostBody       = bodySpec{name: "host", required: []string{"driver"}, optional: []string{"capabilities", "env", "sha256", "concurrency", "isolation"}, blocks: []blockSpec{{name: "config", once: true}}}
	targetBody     = bodySpec{name: "target", required: []string{"provisioner"}, optional: []string{"env", "sha256"}, blocks: []blockSpec{{name: "config", once: true}, {name: "tool", label: "pattern"}}}
	ruleBody       = bodySpec{name: "tool", optional: []string{"requires", "destructive"}}
	browserBody    = bodySpec{name: "browser", optional: []string{"path", "url", "concurrency"}}
	modelBody      = bodySpec{name: "model", required: []string{"provider", "name"}, optional: []string{"sha256"}, blocks: []blockSpec{{name: "config", once: true}}}
	scorerBody     = bodySpec{name: "scorer", required: []string{"source"}, optional: []string{"sha256"}, blocks: []blockSpec{{name: "grants", once: true}}}
	grantsBody     = bodySpec{name: "grants", optional: []string{"models", "memory", "timeout", "output", "log", "calls"}}
	storyBody      = bodySpec{name: "story", required: []string{"prompt"},
		optional: []string{"for_each", "name", "tags", "target", "hosts", "repeats", "timeout"},
		blocks: []blockSpec{
			{name: "turn", label: "name"}, {name: "variant", label: "name"}, {name: "check", label: "name"},
			{name: "assert", label: "scorer"}, {name: "measure", label: "scorer"}, {name: "judge", label: "scorer"},
			{name: "capture", label: "name"}, {name: "gold", once: true}, {name: "limits", once: true},
		}}
	turnBody    = bodySpec{name: "turn", required: []string{"prompt"}}
	variantBody = bodySpec{name: "variant", optional: []string{"prompt", "prepend", "append"}, blocks: []blockSpec{{name: "tool", label: "pattern"}}}
	changeBody  = bodySpec{name: "tool", optional: []string{"hide", "description", "latency", "fault", "fault_every"}}
	checkBody   = bodySpec{name: "check", required: []string{"condition"}, optional: []string{"error_message", "dimension"}}
	captureBody = bodySpec{name: "capture", required: []string{"url"}, optional: []string{"viewport", "viewports", "scale", "first_screen", "max_height",
		"expect_url", "expect_text", "wait_for", "hide", "origins", "timeout"}}
	goldBody  = bodySpec{name: "gold", optional: []string{"script", "files", "url", "samples", "ceiling"}, blocks: []blockSpec{{name: "floor", once: true}}}
	floorBody = bodySpec{name: "floor", optional: []string{"script", "files", "url"}}
	allBodies = []*bodySpec{&fileBody, &suiteBody, &variableBody, &hostBody, &targetBody, &modelBody, &scorerBody, &storyBody, &variantBody}
)

func (s *bodySpec) attribute(name string) bool {
	return slices.Contains(s.required, name) || slices.Contains(s.optional, name)
}

func (s *bodySpec) block(name string) *blockSpec {
	for i := range s.blocks {
		if s.blocks[i].name == name {
			return &s.blocks[i]
		}
	}
	return nil
}

func (s *bodySpec) blockNames() []string {
	var names []string
	for _, b := range s.blocks {
		names = append(names, b.name)
	}
	return names
}

func (s *bodySpec) title() string {
	if s.name == "" {
		return "the top level of a file"
	}
	return "a " + s.name + " block"
}

type attributes = hclsyntax.Attributes

// content compares a body with its spec and returns the blocks that belong. def
// is where a missing attribute is reported.
func (l *loader) content(body *hclsyntax.Body, spec *bodySpec, def hcl.Range) (attributes, []*hclsyntax.Block) {
	for _, a := range l.unknown(body, spec) {
		l.unknownAttribute(a, spec)
	}
	for _, name := range spec.required {
		if body.Attributes[name] == nil {
			l.found.fail(def, "missing attribute", "%s needs %q.", upperFirst(spec.title()), name)
		}
	}
	var blocks []*hclsyntax.Block
	for i, b := range body.Blocks {
		if l.blockBelongs(b, spec, body.Blocks[:i]) {
			blocks = append(blocks, b)
		}
	}
	return body.Attributes, blocks
}

// unknown returns the attributes that the spec does not have, in their order.
func (l *loader) unknown(body *hclsyntax.Body, spec *bodySpec) []*hclsyntax.Attribute {
	var list []*hclsyntax.Attribute
	for name, a := range body.Attributes {
		if !spec.attribute(name) {
			list = append(list, a)
		}
	}
	return inOrder(list)
}

func inOrder(list []*hclsyntax.Attribute) []*hclsyntax.Attribute {
	slices.SortFunc(list, func(a, b *hclsyntax.Attribute) int { return a.SrcRange.Start.Byte - b.SrcRange.Start.Byte })
	return list
}

func (l *loader) unknownAttribute(a *hclsyntax.Attribute, spec *bodySpec) {
	if b := spec.block(a.Name); b != nil {
		l.found.fail(a.NameRange, "block written as an attribute", "%q is a block: write %s { ... } without \"=\".", a.Name, b.header())
		return
	}
	known := append(slices.Clone(spec.required), spec.optional...)
	hint := suggest(a.Name, known)
	if spec.block("config") != nil && nearest(a.Name, known) == "" {
		hint = sentence(hint, "A plugin's own settings go into its config block.")
	}
	if spec.name == "" {
		hint = "A file holds blocks alone; for a value to refer to, write locals { ... }."
	}
	l.found.fail(a.NameRange, "unknown attribute", "%s", sentence(fmt.Sprintf("%s has no attribute %q.", upperFirst(spec.title()), a.Name), hint))
}

func (b *blockSpec) header() string {
	if b.label == "" {
		return b.name
	}
	return b.name + " \"" + strings.ToUpper(b.label) + "\""
}

func (l *loader) blockBelongs(b *hclsyntax.Block, spec *bodySpec, before hclsyntax.Blocks) bool {
	known := spec.block(b.Type)
	if known == nil {
		l.found.fail(b.TypeRange, "unknown block", "%s", sentence(
			fmt.Sprintf("%s has no block %q.", upperFirst(spec.title()), b.Type), l.blockHint(b, spec)))
		return false
	}
	want := 0
	if known.label != "" {
		want = 1
	}
	if len(b.Labels) != want {
		l.found.fail(b.DefRange(), "wrong number of labels", "Write %s { ... }.", known.header())
		return false
	}
	if known.once {
		for _, other := range before {
			if other.Type == b.Type {
				l.found.fail(b.TypeRange, "duplicate block", "%s has one %s block, and there is one already, at %s.", upperFirst(spec.title()), b.Type, at(other.DefRange()))
				return false
			}
		}
	}
	return true
}

func (l *loader) blockHint(b *hclsyntax.Block, spec *bodySpec) string {
	if spec.attribute(b.Type) {
		return fmt.Sprintf("It is an attribute: write %s = ...", b.Type)
	}
	if near := nearest(b.Type, spec.blockNames()); near != "" {
		return fmt.Sprintf("Did you mean %q?", near)
	}
	for _, other := range allBodies {
		if other.block(b.Type) != nil {
			return fmt.Sprintf("It belongs into %s.", other.title())
		}
	}
	return suggest(b.Type, spec.blockNames())
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
