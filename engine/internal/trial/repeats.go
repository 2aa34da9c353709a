package trial

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of what is told of calls made again. Twice is no fact yet: to look before
// and after a change is a way to work.
const (
	repeatsToTell     = 3
	maxRepeatEvidence = 10
)

// repeats finds, for each tool of the target's servers, the call that the agent
// made most often with the same arguments.
func repeats(steps []eval.Step) []eval.Finding {
	type group struct {
		steps []eval.Evidence
		n     int
	}
	groups := map[[sha256.Size]byte]*group{}
	most := map[string]*group{}
	var order []string
	for i := range steps {
		s := &steps[i]
		if s.Kind != eval.StepToolCall || s.Server == "" || s.Truncated || s.BadArguments {
			continue
		}
		tool := s.Server + "/" + s.Tool
		key := sha256.Sum256([]byte(tool + "\x00" + canonical(s.Arguments)))
		g := groups[key]
		if g == nil {
			g = &group{}
			groups[key] = g
		}
		if g.n++; g.n <= maxRepeatEvidence {
			g.steps = append(g.steps, eval.Evidence{Step: s.ID})
		}
		if most[tool] == nil {
			order = append(order, tool)
		}
		if most[tool] == nil || g.n > most[tool].n {
			most[tool] = g
		}
	}
	var list []eval.Finding
	for _, tool := range order {
		g := most[tool]
		if g.n < repeatsToTell {
			continue
		}
		list = append(list, eval.Finding{
			Kind: "repeated_call", Tool: tool, Severity: eval.SeverityInfo, Evidence: g.steps, Source: "engine",
			Text: fmt.Sprintf("the same call of %s was made %d times, with the same arguments", tool, g.n),
		})
	}
	return list
}

// canonical is the same for arguments that mean the same: members in one order,
// no space. Numbers stay as they are written.
func canonical(args eval.JSON) string {
	if len(args) == 0 || string(args) == "null" {
		return "{}"
	}
	dec := json.NewDecoder(strings.NewReader(string(args)))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return string(args)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(args)
	}
	return string(b)
}
