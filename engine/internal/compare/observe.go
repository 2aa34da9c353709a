package compare

import "github.com/evalengine/evalengine/engine/eval"

// observed is one trial's value of one quantity.
type observed struct {
	key   quantityKey
	facts facts
	state eval.ScoreState
	value float64
	parts []part
}

// observe takes out of a record what is compared: for each dimension with asserts
// whether all of them held, each score, and the effort. A trial that says nothing of
// the agent gives nothing.
func observe(r *eval.Record) []observed {
	if r.Status != eval.StatusPassed && r.Status != eval.StatusFailed {
		return nil
	}
	out := gates(r.Scores)
	for _, s := range r.Scores {
		out = append(out, score(s))
	}
	return append(out, effort(r)...)
}

// score has a measure's raw value where there is one.
func score(s eval.Score) observed {
	o := observed{
		key:   quantityKey{eval.QuantityScore, s.Name},
		facts: facts{role: s.Role, dimension: s.Dimension},
		state: s.State, parts: []part{{s.Name, s.Scorer}},
	}
	if s.Role == eval.RoleMeasure && (s.Raw != nil || s.State != eval.Scored) {
		o.facts.unit, o.facts.lower = s.Unit, s.LowerIsBetter
	}
	switch {
	case s.State != eval.Scored:
	case s.Role == eval.RoleMeasure && s.Raw != nil:
		o.value = *s.Raw
	case s.Value != nil:
		o.value = *s.Value
	default:
		o.state = eval.ScoreErrored
	}
	return o
}

// gates say of each dimension whether its asserts held: one that did not decides,
// whatever the others are.
func gates(scores []eval.Score) []observed {
	var out []observed
	at := map[eval.Dimension]int{}
	for _, s := range scores {
		if s.Role != eval.RoleAssert {
			continue
		}
		i, ok := at[s.Dimension]
		if !ok {
			i = len(out)
			at[s.Dimension] = i
			out = append(out, observed{
				key:   quantityKey{eval.QuantityGate, string(s.Dimension)},
				facts: facts{role: eval.RoleAssert, dimension: s.Dimension}, state: eval.Scored, value: 1,
			})
		}
		o := &out[i]
		o.parts = append(o.parts, part{s.Name, s.Scorer})
		switch {
		case s.State == eval.Scored && (s.Passed == nil || !*s.Passed):
			o.state, o.value = eval.Scored, 0
		case o.value == 0 || s.State == eval.Scored:
		case s.State == eval.ScoreErrored || o.state != eval.ScoreErrored:
			o.state = s.State
		}
	}
	return out
}

func effort(r *eval.Record) []observed {
	one := func(name, unit string, v float64) observed {
		return observed{
			key:   quantityKey{eval.QuantityEffort, name},
			facts: facts{dimension: eval.DimensionPath, unit: unit, lower: true}, state: eval.Scored, value: v,
		}
	}
	return []observed{
		one("seconds", "s", r.Timings.Agent),
		one("calls", "calls", float64(r.Calls.Total)),
		one("failed_calls", "calls", float64(r.Calls.Failed)),
		one("turns", "turns", float64(r.Usage.Turns)),
		one("tokens", "tokens", float64(r.Usage.InputTokens+r.Usage.OutputTokens)),
	}
}
