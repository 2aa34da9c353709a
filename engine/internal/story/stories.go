package story

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxEach bounds for_each.
const maxEach = 10_000

// storyBlock is one story: a story block, or one item of a block with for_each.
type storyBlock struct {
	block *hclsyntax.Block
	attrs attributes
	inner []*hclsyntax.Block
	// scope sees var, local, path and, with for_each, each.
	scope  *scope
	name   string
	target string
	hosts  []string
}

// uses are the assert, measure and judge blocks.
func (st *storyBlock) uses() []*hclsyntax.Block {
	var list []*hclsyntax.Block
	for _, b := range st.inner {
		if role(b) != "" {
			list = append(list, b)
		}
	}
	return list
}

func role(b *hclsyntax.Block) eval.Role {
	switch r := eval.Role(b.Type); r {
	case eval.RoleAssert, eval.RoleMeasure, eval.RoleJudge:
		return r
	}
	return ""
}

// expand makes the stories of all story blocks, with what others must know
// first: their names, targets and hosts.
func (l *loader) expand() []*storyBlock {
	var all []*storyBlock
	names := map[string]*storyBlock{}
	for _, b := range l.blocks["story"] {
		attrs, inner := l.content(b.Body, &storyBody, b.DefRange())
		for _, st := range l.items(b, attrs) {
			st.block, st.attrs, st.inner = b, attrs, inner
			if other := names[st.name]; other != nil {
				l.duplicateStory(st, other)
				continue
			}
			names[st.name] = st
			l.place(st)
			all = append(all, st)
		}
	}
	return all
}

func (l *loader) duplicateStory(st, other *storyBlock) {
	rng := st.block.LabelRanges[0]
	if st.block == other.block {
		l.found.fail(attrRange(st.attrs["for_each"], st.block), "duplicate story", "Two items give the story name %q. Tell them apart with name = \"...${each.key}\".", st.name)
		return
	}
	l.found.fail(rng, "duplicate story", "The story %q is declared already, at %s. Rename one of them.", st.name, at(other.block.DefRange()))
}

// items are the stories of one block: one, or one for each item of for_each.
func (l *loader) items(b *hclsyntax.Block, attrs attributes) []*storyBlock {
	a := attrs["for_each"]
	if !l.checkName("story", b.Labels[0], b.LabelRanges[0]) {
		return nil
	}
	if a == nil {
		if n := attrs["name"]; n != nil {
			l.found.fail(n.NameRange, "name without for_each", "A story's name is its label; \"name\" is for stories with for_each.")
		}
		return []*storyBlock{{name: b.Labels[0], scope: l.root}}
	}
	v, ok := l.eval(a.Expr, l.root)
	if !ok {
		return nil
	}
	items, ok := l.forEach(a, v)
	if !ok {
		return nil
	}
	if len(items) == 0 {
		l.found.warn(a.Expr.Range(), "story without items", "for_each is empty, so the block makes no story.")
	}
	var list []*storyBlock
	for _, it := range items {
		st := &storyBlock{scope: l.root.with(map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(it.key), "value": it.value})}, false)}
		if st.name, ok = l.itemName(b, attrs, it.key, st.scope); ok {
			list = append(list, st)
		}
	}
	return list
}

type item struct {
	key   string
	value cty.Value
}

// forEach takes a map, an object or a set of texts, in the order of the keys.
func (l *loader) forEach(a *hclsyntax.Attribute, v cty.Value) ([]item, bool) {
	t := v.Type()
	switch {
	case v.IsNull():
		l.found.fail(a.Expr.Range(), "for_each is null", "A map, an object or a set of texts is needed.")
		return nil, false
	case t.IsTupleType() || t.IsListType():
		l.found.fail(a.Expr.Range(), "wrong type", "for_each takes a map, an object or a set of texts, so that every story has a name of its own: write toset(...) around a list of texts, or { for v in LIST : v.name => v }.")
		return nil, false
	case t.IsSetType() && t.ElementType() != cty.String && v.LengthInt() > 0, !t.IsSetType() && !t.IsMapType() && !t.IsObjectType():
		l.found.fail(a.Expr.Range(), "wrong type", "for_each takes a map, an object or a set of texts; this is %s.", typeName(t))
		return nil, false
	}
	if n := v.LengthInt(); n > maxEach {
		l.found.fail(a.Expr.Range(), "too many items", "for_each has %d items; %d are allowed.", n, maxEach)
		return nil, false
	}
	var items []item
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if t.IsSetType() {
			k = e
		}
		if k.IsNull() {
			continue
		}
		items = append(items, item{k.AsString(), e})
	}
	return items, true
}

// itemName is the story's name for one item: the name attribute, or the label
// and the key.
func (l *loader) itemName(b *hclsyntax.Block, attrs attributes, key string, s *scope) (string, bool) {
	if a := attrs["name"]; a != nil {
		name, ok := l.textAttr(a, s)
		return name, ok && l.checkName("story", name, a.Expr.Range())
	}
	rng := attrs["for_each"].Expr.Range()
	part := slug(key)
	if part == "" {
		l.found.fail(rng, "unusable name", "Nothing of the key %q can stand in a name. Set name = \"...\" with a text made of each.value.", key)
		return "", false
	}
	name := b.Labels[0] + "-" + part
	if len(name) > maxName {
		l.found.fail(rng, "unusable name", "%q is longer than %d characters. Set name = \"...\" to make it shorter.", name, maxName)
		return "", false
	}
	return name, true
}

// place settles the story's target and hosts.
func (l *loader) place(st *storyBlock) {
	st.target, _ = l.refAttr(st.attrs["target"], st.scope, "target", l.root.targets)
	a := st.attrs["hosts"]
	listed, ok := l.refsAttr(a, st.scope, "host", l.root.hosts)
	if !ok {
		return
	}
	st.hosts = l.unique(a, listed)
	if len(st.hosts) == 0 {
		l.found.fail(a.Expr.Range(), "no hosts", "The list is empty, so the story would never run. Leave \"hosts\" out to run on every host of the suite.")
	}
	for i, h := range listed {
		if !slices.Contains(l.suiteOwn, h) && l.suite.Host(h) == nil && len(l.suite.Hosts) > 0 {
			l.found.fail(elementRange(a.Expr, i), "host not in the suite", "host.%s is declared, but not among the suite's hosts. Add it to \"hosts\" of the suite.", h)
		}
	}
}

// late is the scope of what may refer to the trial and its target.
func (l *loader) late(st *storyBlock) *scope {
	more := unknownTrial()
	if st.target != "" || st.attrs["target"] != nil {
		return st.scope.with(more, true)
	}
	delete(more, "target")
	s := st.scope.with(more, true)
	s.elsewhere = maps.Clone(s.elsewhere)
	s.elsewhere["target"] = "The story has no target: set target = target.NAME."
	return s
}

// decodeStory reads all else of a story.
func (l *loader) decodeStory(st *storyBlock) {
	s := eval.Story{Name: st.name, Target: st.target, Hosts: st.hosts, Source: toSource(st.block.DefRange())}
	late := l.late(st)
	s.Tags = l.tags(st)
	s.Repeats, _ = l.intAttr(st.attrs["repeats"], st.scope, 1, maxRepeats)
	s.Timeout = l.durationAttr(st.attrs["timeout"], st.scope)
	s.Turns = []eval.Turn{{Prompt: l.prompt(st.attrs["prompt"], late)}}
	seen := map[string]*hclsyntax.Block{}
	counts := map[string]int{}
	s.Captures = l.captures(st, late, seen)
	for _, b := range st.inner {
		if !l.firstOf(b, seen) {
			continue
		}
		switch b.Type {
		case "turn":
			l.checkName("turn", b.Labels[0], b.LabelRanges[0])
			attrs, _ := l.content(b.Body, &turnBody, b.DefRange())
			s.Turns = append(s.Turns, eval.Turn{Name: b.Labels[0], Prompt: l.prompt(attrs["prompt"], late)})
		case "variant":
			s.Variants = append(s.Variants, l.variant(b, st, late))
		case "check":
			if c, ok := l.decodeCheck(b, st, st.scope); ok {
				s.Checks = append(s.Checks, c)
			}
		case "assert", "measure", "judge":
			if u, ok := l.use(b, &s, st, late); ok {
				counts[u.Scorer]++
				if n := counts[u.Scorer]; n > 1 {
					u.Name = fmt.Sprintf("%s#%d", u.Scorer, n)
				}
				s.Uses = append(s.Uses, u)
			}
		case "limits":
			s.Limits = l.limits(b, st.scope)
		case "gold":
			s.Gold = l.gold(b, st)
		}
	}
	l.suite.Stories = append(l.suite.Stories, s)
}

// firstOf reports a block whose label stands in the story already. Scorers may
// be used several times; captures were looked at before.
func (l *loader) firstOf(b *hclsyntax.Block, seen map[string]*hclsyntax.Block) bool {
	if len(b.Labels) == 0 || role(b) != "" || b.Type == "capture" {
		return true
	}
	return l.firstLabel(b, seen)
}

func (l *loader) firstLabel(b *hclsyntax.Block, seen map[string]*hclsyntax.Block) bool {
	key := b.Type + " " + fold(b.Labels[0])
	if other := seen[key]; other != nil {
		l.found.fail(b.LabelRanges[0], "duplicate "+b.Type, "The story has the %s %q already, at %s. Rename one of them.", b.Type, other.Labels[0], at(other.DefRange()))
		return false
	}
	seen[key] = b
	return true
}

func (l *loader) tags(st *storyBlock) []string {
	list := l.textsAttr(st.attrs["tags"], st.scope)
	for i, t := range list {
		if !validName(t) {
			l.found.fail(elementRange(st.attrs["tags"].Expr, i), "unusable tag", "A tag is made of a-z, 0-9, \"-\" and \"_\". For example %q.", slug(t))
		}
	}
	return list
}

// prompt is a late text that must be there; content reports its absence.
func (l *loader) prompt(a *hclsyntax.Attribute, s *scope) eval.Late[string] {
	if a != nil && l.unfinished(a.Expr) {
		return fixed("")
	}
	p := l.lateText(a, s)
	if p == nil {
		if a != nil && !l.found.list.HasErrors() {
			l.found.fail(a.Expr.Range(), "no prompt", "%q must not be null.", a.Name)
		}
		return fixed("")
	}
	return p
}

func (l *loader) variant(b *hclsyntax.Block, st *storyBlock, late *scope) eval.Variant {
	l.checkName("variant", b.Labels[0], b.LabelRanges[0])
	attrs, inner := l.content(b.Body, &variantBody, b.DefRange())
	v := eval.Variant{
		Name: b.Labels[0], Source: toSource(b.DefRange()),
		Prompt: l.lateText(attrs["prompt"], late), Prepend: l.lateText(attrs["prepend"], late), Append: l.lateText(attrs["append"], late),
	}
	for _, t := range inner {
		if slices.ContainsFunc(v.Tools, func(c eval.ToolChange) bool { return c.Pattern == t.Labels[0] }) {
			l.found.fail(t.LabelRanges[0], "duplicate tool", "The variant changes %q already. Put both into one block.", t.Labels[0])
			continue
		}
		v.Tools = append(v.Tools, l.toolChange(t, st))
	}
	if len(v.Tools) > 0 && st.target == "" && st.attrs["target"] == nil {
		l.found.fail(inner[0].DefRange(), "no target", "The story has no target, so there are no tools to change. Set target = target.NAME.")
	}
	return v
}

func (l *loader) toolChange(b *hclsyntax.Block, st *storyBlock) eval.ToolChange {
	attrs, _ := l.content(b.Body, &changeBody, b.DefRange())
	l.checkPattern(b)
	c := eval.ToolChange{Pattern: b.Labels[0], Source: toSource(b.LabelRanges[0])}
	c.Hide = l.boolAttr(attrs["hide"], st.scope)
	c.Description, _ = l.filledAttr(attrs["description"], st.scope)
	c.Latency = l.durationAttr(attrs["latency"], st.scope)
	c.Fault, _ = l.filledAttr(attrs["fault"], st.scope)
	c.FaultEvery, _ = l.intAttr(attrs["fault_every"], st.scope, 1, 1_000_000)
	if len(attrs) == 0 {
		l.found.fail(b.DefRange(), "change without effect", "Set hide, description, latency or fault.")
	}
	if attrs["fault_every"] != nil && attrs["fault"] == nil {
		l.found.fail(attrs["fault_every"].NameRange, "fault_every without fault", "Set fault to the text that stands in for the answer.")
	}
	if c.Hide && len(attrs) > 1 {
		l.found.fail(attrs["hide"].NameRange, "hidden tool changed", "A tool that is hidden cannot be called: the other attributes have no effect.")
	}
	return c
}
