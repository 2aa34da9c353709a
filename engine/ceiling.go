package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

// standardCeiling is the scorer that holds scores against a gold where the gold
// names no other.
const standardCeiling = "gold/ceiling"

// ceilingOf is the scorer that holds the scores of a story against its gold.
func ceilingOf(g *eval.Gold) string {
	if g.Ceiling != "" {
		return g.Ceiling
	}
	return standardCeiling
}

// fixed is a value that is known at load.
type fixed eval.JSON

func (f fixed) Value(eval.Vars) (eval.JSON, error) { return eval.JSON(f), nil }

// addCeilings gives each judge of a story with a gold a use of the gold's ceiling,
// unless the story uses that scorer itself.
func (e *Engine) addCeilings(ctx context.Context, s *eval.Suite) diag.List {
	var list diag.List
	for i := range s.Stories {
		st := &s.Stories[i]
		if st.Gold == nil {
			continue
		}
		name := ceilingOf(st.Gold)
		if slices.ContainsFunc(st.Uses, func(u eval.ScorerUse) bool { return u.Scorer == name }) {
			continue
		}
		spec, err := e.ceiling(ctx, s, name)
		if err != nil {
			list = append(list, diag.Diagnostic{
				Severity: diag.Error, Summary: "no such ceiling", Subject: word(st.Gold.Source, "gold"), Detail: err.Error() + ".",
			})
			continue
		}
		st.Uses = append(st.Uses, ceilings(st, name, spec.Role)...)
	}
	return list
}

// ceiling is what the manifest says of a ceiling.
func (e *Engine) ceiling(ctx context.Context, s *eval.Suite, name string) (*eval.ScorerSpec, error) {
	module, scorer, _ := strings.Cut(name, "/")
	var cfg *eval.ModuleConfig
	if i := slices.IndexFunc(s.Modules, func(m eval.ModuleConfig) bool { return m.Name == module }); i >= 0 {
		cfg = &s.Modules[i]
	}
	m, err := e.module(ctx, cfg, module)
	if err != nil {
		return nil, err
	}
	spec := m.Manifest().Scorer(scorer)
	switch {
	case spec == nil:
		return nil, fmt.Errorf("module %q has no scorer %q", module, scorer)
	case spec.Role != eval.RoleMeasure:
		return nil, fmt.Errorf("%q is for %s blocks; a ceiling is a measure", name, spec.Role)
	case !slices.Contains(spec.Needs, eval.PartGold) || !slices.Contains(spec.Needs, eval.PartScores):
		return nil, fmt.Errorf("%q does not need the parts gold and scores: it is no ceiling", name)
	}
	return spec, nil
}

// ceilings are the uses of a ceiling, one for each judge.
func ceilings(st *eval.Story, name string, role eval.Role) []eval.ScorerUse {
	var uses []eval.ScorerUse
	for _, u := range st.Uses {
		if u.Role != eval.RoleJudge {
			continue
		}
		params, err := json.Marshal(map[string]string{"score": u.Name})
		if err != nil {
			panic(err) // a string can be written
		}
		use := eval.ScorerUse{Name: name, Scorer: name, Role: role, Params: fixed(params), Source: st.Gold.Source}
		if n := len(uses); n > 0 {
			use.Name = fmt.Sprintf("%s#%d", name, n+1)
		}
		uses = append(uses, use)
	}
	return uses
}
