package gateway

import (
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// patience is how long a call must have been without its answer to be told of: an
// agent may also take a call back, or a trial end, when it has just been made.
const patience = 10 * time.Second

// left notes that nobody waits any more for the flight's answer.
func (f *flight) left() {
	if f.call >= 0 {
		now := f.s.g.since()
		f.s.g.calls.change(f.call, func(c *Call) {
			if !c.Finished && c.left == 0 {
				c.left = now
			}
		})
	}
}

// waitFindings tell of the tools that did not answer while somebody waited.
func (s *server) waitFindings() []eval.Finding {
	s.g.mu.Lock()
	end := s.g.ended
	s.g.mu.Unlock()
	if end == 0 {
		end = s.g.since()
	}
	silent := map[string][]time.Duration{}
	var tools []string
	for _, c := range s.g.Calls() {
		wait := end - c.At
		if c.left > 0 {
			wait = c.left - c.At
		}
		if c.Server != s.cfg.Name || c.Finished || wait < s.g.patience {
			continue
		}
		if silent[c.Tool] == nil {
			tools = append(tools, c.Tool)
		}
		silent[c.Tool] = append(silent[c.Tool], wait)
	}
	var list []eval.Finding
	for _, tool := range tools[:min(len(tools), maxFindings)] {
		f := s.finding("mcp_no_answer", eval.SeverityMajor, "tool %q left %d calls without an answer, the longest for %d s",
			quote(tool), len(silent[tool]), int(slices.Max(silent[tool]).Seconds()))
		f.Tool = tool
		list = append(list, f)
	}
	return list
}
