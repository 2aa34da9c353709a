package trial

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/wasm"
)

// partDigits is how much of a SHA-256 tells one part of a definition from another:
// 64 bits, for parts that nobody makes alike on purpose.
const partDigits = 16

// untold stands for what is made of the target's values in a way that cannot be
// followed without them.
const untold = "untold"

func partDigest(parts ...string) string {
	b, err := json.Marshal(parts)
	if err != nil {
		panic(err) // texts can be written
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:partDigits]
}

// definitions say what the attempt's scores were made from, in the order of the
// story.
func (a *attempt) definitions() []eval.Definition {
	if len(a.scores) == 0 {
		return nil
	}
	var list []eval.Definition
	for _, c := range a.story.Checks {
		made := map[string]string{"condition": partDigest(c.Written)}
		if c.Values != "" {
			made["values"] = partDigest(c.Values)
		}
		list = append(list, eval.Definition{Score: "check/" + c.Name, MadeFrom: made})
	}
	for i := range a.story.Uses {
		u := &a.story.Uses[i]
		if m := a.r.Modules[moduleOf(u)]; m != nil {
			list = append(list, eval.Definition{Score: u.Name, MadeFrom: a.madeFrom(u, m)})
		}
	}
	return list
}

func (a *attempt) madeFrom(u *eval.ScorerUse, m *wasm.Module) map[string]string {
	made := map[string]string{"module": m.SHA256()[:partDigits]}
	for name, value := range a.paramDigests(u) {
		made[name] = value
	}
	for _, c := range a.r.Suite.Models {
		if slices.Contains(u.Models, c.Name) {
			made["model."+c.Name] = c.Provider + "/" + c.Model + " " + partDigest(string(c.Config), c.SHA256)
		}
	}
	spec := m.Manifest().Scorer(scorerOf(u))
	g := a.gold(asks(spec))
	switch {
	case g == nil || spec == nil || !slices.Contains(spec.Needs, eval.PartGold):
	case g.Trial != "":
		made["against"] = g.Trial + " " + goldDigest(g)
	default:
		made["gold"] = goldDigest(g)
	}
	return made
}

func goldDigest(g *Gold) string {
	grades, err := json.Marshal([][]eval.Grade{g.Grades, g.Floor})
	if err != nil {
		return untold // no number: nothing can be said of it
	}
	parts := []string{string(g.State), string(grades), g.Stale}
	for _, p := range g.Pages {
		parts = append(parts, p.Name, string(p.HTML))
	}
	return partDigest(parts...)
}

// paramDigests are of the parameters by name, as they would be for the first repeat
// on a target that is named and not known.
func (a *attempt) paramDigests(u *eval.ScorerUse) map[string]string {
	if u.Params == nil {
		return nil
	}
	t := a.trial
	t.Repeat = 1
	params, err := u.Params.Value(eval.Vars{Target: standIn(a.values), Trial: t})
	if err != nil {
		return map[string]string{"params": untold}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(params, &members) != nil {
		return map[string]string{"params": partDigest(string(params))}
	}
	out := map[string]string{}
	for name, v := range members {
		out["param."+name] = partDigest(canonical(eval.JSON(v)))
	}
	return out
}

// standIn is a target's values with each text replaced by its own name and each
// number by 0: what differs from target to target does not define a score.
func standIn(values eval.JSON) eval.JSON {
	var v any
	if len(values) == 0 || json.Unmarshal(values, &v) != nil {
		return nil
	}
	b, err := json.Marshal(named(v, "target"))
	if err != nil {
		return nil
	}
	return b
}

func named(v any, path string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = named(member, path+"."+name)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = named(v[i], path+"[]")
		}
		return out
	case string:
		return "${" + path + "}"
	case float64:
		return 0
	case bool:
		return false
	}
	return v
}
