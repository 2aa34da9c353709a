package main

import (
	"strconv"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// The parameters that several scorers share.
var (
	toolParam = eval.Attribute{Name: "tool", Type: "string", Required: true,
		Doc: `The tool, as "tool" or "server/tool"; * and ? are wildcards. "*/search" is the search of any server, "/Bash" a tool of the host's own.`}
	actionParam = eval.Attribute{Name: "action", Type: "string",
		Doc: `For a tool that takes a list of actions: counts each action of that name (* and ? are wildcards), not the call.`}
	statusParam = eval.Attribute{Name: "status", Type: "string", Default: eval.JSON(`"any"`),
		Enum: []string{"any", "ok", "error", "unfinished"}, Doc: "Counts only calls that ended like this."}
	scopeParam = eval.Attribute{Name: "scope", Type: "string", Default: eval.JSON(`"all"`),
		Enum: []string{"all", "main"}, Doc: "all counts the calls of sub-agents, main does not."}
	whichParam = eval.Attribute{Name: "which", Type: "string", Default: eval.JSON(`"any"`),
		Enum: []string{"any", "all", "first", "last"}, Doc: "Which of the calls must match."}
	turnParam = eval.Attribute{Name: "turn", Type: "number",
		Doc: "Counts only calls of this turn; the first is 1."}
)

// needs are the parts that every scorer here asks for.
var needs = []eval.Part{eval.PartTranscript, eval.PartTools}

// register adds a scorer whose parameters are attrs.
func register(name string, role eval.Role, d eval.Dimension, doc string, f scorer.Func, attrs ...eval.Attribute) {
	scorer.Register(scorer.Spec{
		Name: name, Role: role, Dimension: d, Doc: doc, Needs: needs,
		Params: eval.Schema{Attributes: attrs},
	}, f)
}

// filter reads the parameters status, turn and scope.
func filter(p scorer.Params, pattern string) calls.Filter {
	f := calls.Filter{Pattern: pattern, Turn: p.Int("turn"), Main: p.String("scope") == "main"}
	if s := p.String("status"); s != "any" {
		f.Status = eval.CallStatus(s)
	}
	return f
}

// actionFilter reads the parameter action too.
func actionFilter(p scorer.Params, pattern string) calls.Filter {
	f := filter(p, pattern)
	f.Action = p.String("action")
	return f
}

// describe names what f counts, for a reason.
func describe(f calls.Filter) string {
	s := f.Pattern
	if f.Action != "" {
		s = "action " + f.Action + " of " + s
	}
	if f.Status != "" {
		s += " (" + string(f.Status) + ")"
	}
	if f.Turn != 0 {
		s += " in turn " + strconv.Itoa(f.Turn)
	}
	if f.Main {
		s += " by the main agent"
	}
	return s
}

// unseen adds to a reason that calls were left out which nobody but the host saw.
func unseen(l *calls.Log, f calls.Filter) string {
	all := f
	all.Unconfirmed = true
	n := len(l.Find(all)) - len(l.Find(f))
	if n == 0 {
		return ""
	}
	return "; " + text.Count(n, "more call") + " reported by the host, but never seen by the gateway"
}

// cut returns what others wrote, fit for a reason.
func cut(s string) string { return tree.Cut(s, 120) }
