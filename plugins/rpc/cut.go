package rpc

import (
	"encoding/json"

	"github.com/evalengine/evalengine/engine/eval"
)

// keptOfCut is how much of an oversized field is kept.
const keptOfCut = 1 << 20

// cutStep cuts what makes a step larger than [MaxStep]: better a step that says
// it is cut than a session that ends because a message is too large.
func cutStep(s eval.Step) eval.Step {
	if len(s.Text)+len(s.Arguments)+len(s.Result) <= MaxStep {
		return s
	}
	s.Truncated = true
	if len(s.Text) > keptOfCut {
		s.Text = valid(s.Text[:keptOfCut])
	}
	s.Arguments = cutJSON(s.Arguments)
	if len(s.Result) > keptOfCut {
		s.Bytes = max(s.Bytes, int64(len(s.Result)))
		s.Result = cutJSON(s.Result)
	}
	return s
}

// cutJSON keeps the beginning of a large value as a JSON string.
func cutJSON(j eval.JSON) eval.JSON {
	if len(j) <= keptOfCut {
		return j
	}
	b, err := json.Marshal(valid(string(j[:keptOfCut])))
	if err != nil {
		return nil
	}
	return b
}
