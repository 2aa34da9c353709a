package trial

import (
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/findings"
)

// settle makes what all finders said into a trial's findings: each said once, with
// its fingerprint, and marked where it cites a step that the transcript does not
// have.
func settle(list []eval.Finding, steps []eval.Step) []eval.Finding {
	known := map[string]bool{}
	for i := range steps {
		known[steps[i].ID] = true
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Unverified = list[i].Unverified || slices.ContainsFunc(list[i].Evidence, func(e eval.Evidence) bool {
			return e.Step != "" && !known[e.Step]
		})
	}
	list = sayOnce(list)
	for i := range list {
		list[i].Fingerprint = findings.Fingerprint(list[i])
	}
	return list
}

// covers has, for a kind of finding, the kinds that say no more than it does where
// they cite the same step or none.
var covers = map[string][]string{
	"tool_error":         {"repeated_failure"},
	"confusing_tool":     {"repeated_failure"},
	"missing_capability": {"unavailable_tool", "repeated_failure", "hidden_error", "mcp_error_in_success"},
	"misleading_success": {"hidden_error", "mcp_error_in_success"},
	"oversized_result":   {"verbose_result", "host_truncated_result"},
	"repeated_call":      {"repeated_call"},
}

// sayOnce leaves out findings that another one covers: several finders look at the
// same calls, and none knows of the others. Of two that cover each other the first
// stays.
func sayOnce(list []eval.Finding) []eval.Finding {
	var out []eval.Finding
	for i, f := range list {
		if !slices.ContainsFunc(list[:i], func(g eval.Finding) bool { return isCovered(f, g) }) &&
			!slices.ContainsFunc(list[i+1:], func(g eval.Finding) bool { return isCovered(f, g) && !isCovered(g, f) }) {
			out = append(out, f)
		}
	}
	return out
}

// isCovered reports whether g, of another finder, says what f says. A finder that
// does not name a tool's server means any.
func isCovered(f, g eval.Finding) bool {
	if f.Source == g.Source || g.Unverified || !slices.Contains(covers[g.Kind], f.Kind) || !sameTool(f.Tool, g.Tool) {
		return false
	}
	if len(f.Evidence) == 0 {
		return true
	}
	return slices.ContainsFunc(f.Evidence, func(e eval.Evidence) bool {
		return e.Step != "" && slices.ContainsFunc(g.Evidence, func(o eval.Evidence) bool { return o.Step == e.Step })
	})
}

func sameTool(a, b string) bool {
	return a != "" && (a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a))
}
