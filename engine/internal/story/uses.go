package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/evalengine/evalengine/engine/eval"
)

// cutScorer splits module/scorer.
func cutScorer(label string) (module, scorer string, ok bool) {
	module, scorer, ok = strings.Cut(label, "/")
	return module, scorer, ok && module != "" && scorer != "" && !strings.Contains(scorer, "/")
}

// use reads an assert, measure or judge block; it returns false where it
// reported an error.
func (l *loader) use(b *hclsyntax.Block, s *eval.Story, st *storyBlock, late *scope) (eval.ScorerUse, bool) {
	label := b.Labels[0]
	spec := l.scorer(b)
	if spec == nil {
		return eval.ScorerUse{}, false
	}
	if !l.sameRole(b, spec) {
		return eval.ScorerUse{}, false
	}
	u := eval.ScorerUse{Name: label, Scorer: label, Role: spec.Role, Source: toSource(b.DefRange())}
	module, name, _ := cutScorer(label)
	sch, err := l.catalog.compile(scorerKey(module, name), spec.Params)
	if err != nil {
		l.found.fail(b.LabelRanges[0], "scorer cannot be used", "Scorer %q: %v.", label, err)
		return u, false
	}
	var except []string
	if spec.Role == eval.RoleJudge {
		except = []string{"model", "models"}
		u.Models = l.judgeModels(b, module, st)
	}
	p := l.params(b.Body, sch, late, "scorer \""+label+"\"", b.DefRange(), except)
	if p == nil {
		return u, false
	}
	u.Params = p
	l.pages(b, p, spec, s)
	return u, true
}

// scorer finds what a block's label names.
func (l *loader) scorer(b *hclsyntax.Block) *eval.ScorerSpec {
	label, rng := b.Labels[0], b.LabelRanges[0]
	module, name, ok := cutScorer(label)
	if !ok {
		l.found.fail(rng, "unusable name of a scorer", "A scorer is named MODULE/SCORER, such as \"tools/called\".")
		return nil
	}
	m := l.modules[module]
	if m != nil && !m.usable {
		return nil
	}
	a := l.catalog.answer(moduleKey(module))
	if a.err != nil {
		if m != nil {
			// Its own block is where that can be mended, and is told once.
			m.usable = false
			rng = m.pin.at(attrRange(m.block.Body.Attributes["source"], m.block), a.err)
		}
		known := append(slices.Clone(l.catalog.from.ModuleNames()), l.order.modules...)
		l.missing(rng, "scorer module", module, a.err, known)
		return nil
	}
	spec := a.manifest.Scorer(name)
	if spec == nil {
		var known []string
		for i := range a.manifest.Scorers {
			known = append(known, a.manifest.Scorers[i].Name)
		}
		l.found.fail(rng, "unknown scorer", "%s", sentence(fmt.Sprintf("The module %q has no scorer %q.", module, name), suggest(name, known)))
	}
	return spec
}

func (l *loader) sameRole(b *hclsyntax.Block, spec *eval.ScorerSpec) bool {
	if spec.Role == role(b) {
		return true
	}
	why := map[eval.Role]string{
		eval.RoleAssert:  "it decides whether a trial passes",
		eval.RoleMeasure: "it informs and never fails a trial",
		eval.RoleJudge:   "it may ask a model and never fails a trial",
	}[spec.Role]
	l.found.fail(b.TypeRange, "wrong role", "%q is no %s: %s. Write %s %q { ... }.", b.Labels[0], b.Type, why, spec.Role, b.Labels[0])
	return false
}

// judgeModels are the model blocks that a judge may ask.
func (l *loader) judgeModels(b *hclsyntax.Block, module string, st *storyBlock) []string {
	one, many := b.Body.Attributes["model"], b.Body.Attributes["models"]
	if one != nil && many != nil {
		l.found.fail(one.NameRange, "two kinds of model", "Set \"model\" to one model or \"models\" to a list of them.")
	}
	if many == nil {
		name, ok := l.refAttr(one, st.scope, "model", l.root.models)
		if !ok || name == "" {
			return nil
		}
		l.granted(one.Expr.Range(), module, name)
		return []string{name}
	}
	list, ok := l.refsAttr(many, st.scope, "model", l.root.models)
	if ok && len(list) == 0 {
		l.found.fail(many.Expr.Range(), "no models", "The list is empty. Leave \"models\" out where the judge is to be skipped.")
	}
	for i, name := range list {
		l.granted(elementRange(many.Expr, i), module, name)
	}
	return list
}

// granted checks that a module of the suite's own may use the model.
func (l *loader) granted(rng hcl.Range, module, model string) {
	m := l.modules[module]
	if m == nil || model == "" || slices.Contains(m.config.Grants.Models, model) {
		return
	}
	l.found.fail(rng, "model not granted",
		"The scorer module %q may not use model.%s: add it to \"models\" in its grants, at %s.", module, model, at(m.block.DefRange()))
}

// looksElsewhere reports whether a scorer that can look at pages has something else
// to look at.
func looksElsewhere(p *params, spec *eval.ScorerSpec) bool {
	for _, leaf := range p.named("judge") {
		if leaf.text == "visual" {
			return false
		}
	}
	return slices.Contains(spec.Needs, eval.PartTranscript) || slices.Contains(spec.Needs, eval.PartState)
}

// pages warns of a scorer that looks at pages in a story that takes none, and
// refuses names of pages that are not taken.
func (l *loader) pages(b *hclsyntax.Block, p *params, spec *eval.ScorerSpec, s *eval.Story) {
	if !slices.ContainsFunc(spec.Needs, func(p eval.Part) bool {
		return p == eval.PartPages || p == eval.PartPagesHTML || p == eval.PartPagesImage
	}) {
		return
	}
	var names []string
	for _, c := range s.Captures {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		if looksElsewhere(p, spec) {
			return
		}
		l.found.warn(b.DefRange(), "no pages to look at", "%q looks at captured pages and the story captures none: its score will be skipped. Add capture \"home\" { url = ... }.", b.Labels[0])
		return
	}
	for _, leaf := range p.named("page", "pages") {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(leaf.text, n) }) && !strings.Contains(leaf.text, "*") {
			l.found.fail(leaf.rng, "unknown page", "%s", sentence(fmt.Sprintf("The story captures no page %q.", leaf.text), suggest(leaf.text, names)))
		}
	}
}
