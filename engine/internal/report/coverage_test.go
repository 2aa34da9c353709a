package report

import (
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func hostileCoverage() *eval.Coverage {
	const evil = "a|b\n# x\x1b[31m<img src=x>`@all`[l](https://e.com)"
	half := 0.5
	c := &eval.Coverage{
		Suite: evil, Runs: []string{"r1"}, Against: "r0",
		Trials:  eval.CoverageTrials{Read: 2, Errored: 1},
		Targets: []eval.CoverageTarget{{Name: evil, Source: "file", From: evil, Tools: 1}, {Name: "u"}},
		List: []eval.ToolCoverage{{
			Server: evil, Tool: evil, Status: eval.Exercised, Called: eval.ToolUse{Calls: 2, Failed: 2, Trials: 1, AlwaysFails: true}, Share: &half,
			Argument: evil, Left: 3, Cut: true, Others: 1, Unread: 2,
			Actions: []eval.ActionCoverage{{Action: evil, Status: eval.Covered, Stories: []string{evil, "y"}, Called: eval.ToolUse{Calls: 1, Trials: 1}}, {Action: "del", Status: eval.Unreached}},
		}},
		Lost:     []eval.LostTool{{Story: evil, Use: evil, Tool: evil, Action: evil, Why: eval.LostNoAction}},
		Unlisted: []eval.UnlistedTool{{Target: evil, Server: evil, Tool: evil}},
		Drift: []eval.ToolDrift{{
			Target: evil, Added: []eval.ToolName{{Server: evil, Tool: evil}}, Failing: []eval.ToolName{{Tool: evil}},
			Changed: []eval.ToolChanged{{ToolName: eval.ToolName{Tool: evil}, What: []string{"input_schema"}, ActionsAdded: []string{evil}}},
		}},
		Problems: []string{evil},
		Use:      &eval.CoverageUse{Unlisted: 0.25, Events: 8, Broken: 1},
	}
	c.Tools.Add(eval.Exercised)
	c.Parts.Add(eval.Covered)
	c.Parts.Add(eval.Unreached)
	return c
}

func TestCoverageEscapesWhatOthersWrote(t *testing.T) {
	c := hostileCoverage()
	var text, md strings.Builder
	Coverage(&text, c, Style{})
	if err := CoverageMarkdown(&md, c); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "\x1b") || strings.Contains(text.String(), "\n# x") {
		t.Errorf("control characters reach the terminal:\n%q", text.String())
	}
	for _, bad := range []string{"\x1b", "<img", "\n# x", "l](https", "@all", "a|b"} {
		if strings.Contains(md.String(), bad) {
			t.Errorf("%q reaches the Markdown:\n%s", bad, md.String())
		}
	}
	for _, row := range strings.Split(md.String(), "\n") {
		if strings.HasPrefix(row, `| a\|`) && strings.Count(strings.ReplaceAll(row, `\|`, ""), "|") != 7 {
			t.Errorf("a row of other than 6 cells: %s", row)
		}
	}
	for _, want := range []string{
		"run r1; 2 trials; 1 errored left out", "its tools are not known",
		"in all   1 of 2 covered (50 %): 1 asked for and called, 1 asked for and not called", "actions  none",
		"undefined: no call in production is of a tool that is offered; 8 calls, 25 % of them of tools or actions that are not offered, 1 line could not be read",
		"2 calls in 1 trial, always fails  50 % of use", "3 actions more are not listed", "too large to be looked at whole",
		"1 call of actions that its schema does not have", "2 calls whose arguments could not be read",
		"the tool has no such action", "changed since run r0", "listed, and fails on every call:", "input schema; new actions",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the terminal does not say %q:\n%s", want, text.String())
		}
	}
}

func TestCoverageBoundsWhatATerminalShows(t *testing.T) {
	c := &eval.Coverage{Suite: "s"}
	for range maxCoverageTools + 2 {
		c.List = append(c.List, eval.ToolCoverage{Server: "s", Tool: "t", Status: eval.Uncovered})
	}
	c.List[0].Argument = "mode"
	for range maxCoverageActions + 5 {
		c.List[0].Actions = append(c.List[0].Actions, eval.ActionCoverage{Action: "a", Status: eval.Uncovered})
	}
	var b strings.Builder
	Coverage(&b, c, Style{})
	for _, want := range []string{"no run: nothing is known of calls", "and 5 actions more", "and 2 tools more", "and 452 more", "s/t, with each of 65 actions"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not said", want)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 1: "100 %", 0.5: "50 %", 0.6666: "66.7 %", 0.0001: "< 0.1 %", 0.9999: "> 99.9 %", 0.999: "99.9 %"} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v) = %q, want %q", share, got, want)
		}
	}
}
