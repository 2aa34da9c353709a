package trial

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
)

// merge makes the transcript of what the host told (steps, in its order) and
// what the gateway saw (calls, in order of arrival). The gateway's word on a
// call's arguments, result, size and time is taken over the host's; what only one
// of them knows is kept and marked. ends has the time at which each turn ended, in
// milliseconds.
// The second result are those that the host kept from its agent.
func merge(steps []eval.Step, calls []gateway.Call, ends []float64) (merged, kept []eval.Step) {
	m := newMerger(steps)
	var unreported []int
	for i := range calls {
		if j := m.find(&calls[i]); j >= 0 {
			m.confirm(j, &calls[i])
			continue
		}
		unreported = append(unreported, i)
	}
	return m.assemble(calls, unreported, ends), m.kept
}

type merger struct {
	steps []eval.Step
	// open has the places of the calls that no gateway call is matched with yet,
	// by server and tool.
	open map[[2]string][]int
	// result has the place of each call's result step.
	result map[string]int
	// kept are the results that the host kept from its agent.
	kept []eval.Step
	// behind has result steps that the host did not tell, by the call's place.
	behind map[int]eval.Step
}

func newMerger(steps []eval.Step) *merger {
	m := &merger{steps: steps, open: map[[2]string][]int{}, result: map[string]int{}, behind: map[int]eval.Step{}}
	for i := range steps {
		s := &steps[i]
		switch s.Kind {
		case eval.StepToolCall:
			if s.Server != "" {
				key := keyOf(s.Server, s.Tool)
				m.open[key] = append(m.open[key], i)
			}
			if s.CallID == "" {
				s.CallID = "host-" + strconv.Itoa(i+1)
			}
		case eval.StepToolResult:
			m.result[s.CallID] = i
		}
	}
	return m
}

// keyOf is what is the same of a tool's name in the host's words and in the
// server's: some hosts tell names as their model knows them, with characters
// replaced that its API does not take.
func keyOf(server, tool string) [2]string { return [2]string{plain(server), plain(tool)} }

func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

// lookahead bounds how many open calls of one tool are compared with one that
// the gateway saw.
const lookahead = 64

// find takes the first open host call that is this one: same server and tool,
// and the same arguments, else the first with other arguments; -1 where there is
// none.
func (m *merger) find(c *gateway.Call) int {
	key := keyOf(c.Server, c.Tool)
	open := m.open[key]
	if len(open) == 0 {
		return -1
	}
	n := m.choose(open[:min(len(open), lookahead)], c)
	i := open[n]
	m.open[key] = slices.Delete(open, n, n+1)
	return i
}

// choose prefers, of the calls with the same arguments, the first that ended as the
// gateway saw it: calls made at once may arrive in another order.
func (m *merger) choose(open []int, c *gateway.Call) int {
	same := -1
	for n, i := range open {
		s := &m.steps[i]
		if !sameJSON(s.Arguments, c.Arguments) {
			continue
		}
		if j, ok := m.result[s.CallID]; ok == c.Finished && (!ok || m.steps[j].IsError == c.IsError) {
			return n
		}
		if same < 0 {
			same = n
		}
	}
	return max(same, 0)
}

func sameJSON(a, b eval.JSON) bool {
	if string(a) == string(b) {
		return true
	}
	var x, y any
	if decode(a, &x) != nil || decode(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

// decode reads absent arguments as the empty object, which they mean.
func decode(j eval.JSON, v *any) error {
	if len(j) == 0 || string(j) == "null" {
		*v = map[string]any{}
		return nil
	}
	return json.Unmarshal(j, v)
}

func (m *merger) confirm(i int, c *gateway.Call) {
	s := &m.steps[i]
	s.Observed, s.Server, s.Tool = eval.Confirmed, c.Server, c.Tool
	s.Arguments, s.BadArguments, s.Truncated = c.Arguments, false, c.ArgumentsTruncated
	if !c.Finished {
		return
	}
	j, ok := m.result[s.CallID]
	if !ok {
		res := resultStep(c, s.CallID, s.Turn, eval.Confirmed)
		res.Parent = s.Parent
		m.behind[i] = res
		return
	}
	r := &m.steps[j]
	r.Server, r.Tool = c.Server, c.Tool
	r.Observed, r.DurationMS, r.Bytes = eval.Confirmed, ms(c), c.Bytes
	if withheld(r.Result, c) {
		// What the agent saw is what it can be judged by.
		r.IsError = c.IsError
		m.kept = append(m.kept, *r)
		return
	}
	r.Result, r.IsError, r.Truncated = c.Result, c.IsError, c.Truncated
}

// withheld reports whether the host gave its agent a notice in place of a result
// that was too large for it.
func withheld(told eval.JSON, c *gateway.Call) bool {
	return int64(len(told)) < c.Bytes && isNotice(told) && !isNotice(c.Result)
}

func isNotice(result eval.JSON) bool {
	head := bytes.ToLower(result[:min(len(result), 600)])
	return bytes.Contains(head, []byte("exceeds maximum allowed tokens")) || bytes.Contains(head, []byte("<persisted-output>")) ||
		bytes.Contains(head, []byte(`\u003cpersisted-output\u003e`))
}

// assemble puts host steps and the calls that the host never told in one order
// and numbers them.
func (m *merger) assemble(calls []gateway.Call, unreported []int, ends []float64) []eval.Step {
	out := make([]eval.Step, 0, len(m.steps)+len(m.behind)+2*len(unreported))
	for i := range m.steps {
		s := &m.steps[i]
		for len(unreported) > 0 && before(&calls[unreported[0]], s, ends) {
			out = append(out, callSteps(&calls[unreported[0]], unreported[0], ends)...)
			unreported = unreported[1:]
		}
		if s.Kind == eval.StepToolCall && s.Server != "" && s.Observed == "" {
			s.Observed = eval.Unconfirmed
		}
		out = append(out, *s)
		if res, ok := m.behind[i]; ok {
			out = append(out, res)
		}
	}
	for _, n := range unreported {
		out = append(out, callSteps(&calls[n], n, ends)...)
	}
	for i := range out {
		out[i].ID = "s" + strconv.Itoa(i+1)
	}
	return out
}

func before(c *gateway.Call, s *eval.Step, ends []float64) bool {
	turn := turnAt(millis(c.At), ends)
	return turn < s.Turn || turn == s.Turn && millis(c.At) < s.AtMS
}

// turnAt is the turn that was under way at a time.
func turnAt(at float64, ends []float64) int {
	turn := 1
	for turn < len(ends) && at > ends[turn-1] {
		turn++
	}
	return turn
}

// callSteps are the steps of a call that the host never told.
func callSteps(c *gateway.Call, n int, ends []float64) []eval.Step {
	id, turn := "gateway-"+strconv.Itoa(n+1), turnAt(millis(c.At), ends)
	steps := []eval.Step{{
		Turn: turn, Kind: eval.StepToolCall, CallID: id, Server: c.Server, Tool: c.Tool,
		Arguments: c.Arguments, Truncated: c.ArgumentsTruncated, Observed: eval.Unreported, AtMS: millis(c.At),
	}}
	if c.Finished {
		steps = append(steps, resultStep(c, id, turn, eval.Unreported))
	}
	return steps
}

func resultStep(c *gateway.Call, id string, turn int, o eval.Observation) eval.Step {
	return eval.Step{
		Turn: turn, Kind: eval.StepToolResult, CallID: id, Server: c.Server, Tool: c.Tool,
		Result: c.Result, IsError: c.IsError, Bytes: c.Bytes, Truncated: c.Truncated, Observed: o,
		AtMS: millis(c.At + c.Duration), DurationMS: ms(c),
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func ms(c *gateway.Call) *float64 {
	d := millis(c.Duration)
	return &d
}

// counts sums up the tool calls of a transcript.
func counts(steps []eval.Step) eval.Counts {
	var n eval.Counts
	for _, c := range eval.Calls(steps) {
		n.Total++
		n.Bytes += c.Bytes
		switch c.Status {
		case eval.CallError:
			n.Failed++
		case eval.CallUnfinished:
			n.Unfinished++
		}
		switch c.Observed {
		case eval.Unconfirmed:
			n.Unconfirmed++
		case eval.Unreported:
			n.Unreported++
		}
	}
	return n
}
