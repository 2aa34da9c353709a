package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/internal/agenttest"
)

// realSpec is a session of the real program against a scenario of the scripted
// model, with a home of its own and loopback alone.
func realSpec(t *testing.T, scenarioURL string, servers ...eval.Endpoint) eval.SessionSpec {
	t.Helper()
	s := spec(t, map[string]any{"command": []string{agenttest.Bin(t, "claude")}, "model": "claude-sonnet-4-5", "max_turns": 5})
	s.Servers = servers
	s.Model = &eval.ModelEndpoint{BaseURL: scenarioURL, Key: "stand-in-key"}
	return s
}

// Each row is one run of the real program.
func TestReal(t *testing.T) {
	srv := agenttest.Model(t, "")
	for _, c := range []struct {
		scenario, verdict, steps string
		usage                    eval.Usage // responses and tokens
		retries                  int
		calls                    []string
		gone                     bool
		timeout                  time.Duration
	}{
		{scenario: "parallel", verdict: "completed", steps: "message call:cms/get_item call:cms/list_items ok ok message",
			usage: eval.Usage{Turns: 2, InputTokens: 2500, OutputTokens: 80}, calls: []string{"get_item", "list_items"}},
		{scenario: "slow-stream", verdict: "completed", steps: "message call:cms/get_item ok message",
			usage: eval.Usage{Turns: 2, InputTokens: 2500, OutputTokens: 80}, calls: []string{"get_item"}},
		{scenario: "unknown-tool", verdict: "completed", steps: "message call:/no_such_tool failed message",
			usage: eval.Usage{Turns: 2, InputTokens: 2500, OutputTokens: 80}},
		{scenario: "loop", verdict: "max_turns", steps: strings.TrimSuffix(strings.Repeat("message call:cms/get_item ok ", 5), " "),
			usage: eval.Usage{Turns: 5, InputTokens: 6250, OutputTokens: 200}, calls: slices.Repeat([]string{"get_item"}, 5)},
		{scenario: "refusal", verdict: "refused", steps: "message error", usage: eval.Usage{Turns: 1, InputTokens: 1250, OutputTokens: 40}},
		{scenario: "auth-401", verdict: "fault auth, stop, 401", steps: "error", retries: 2},
		{scenario: "ratelimit-429", verdict: "fault rate_limit, trial, 429", steps: "error", retries: 2},
		{scenario: "server-500", verdict: "fault server, trial, 500", steps: "error", retries: 2},
		{scenario: "late-529", verdict: "fault overloaded, trial, 529", steps: "message call:cms/get_item ok error", retries: 2,
			usage: eval.Usage{Turns: 1, InputTokens: 1250, OutputTokens: 40}, calls: []string{"get_item"}},
		{scenario: "truncated-stream", verdict: "fault stream, trial", steps: "error"},
		{scenario: "html-200", verdict: "fault stream, trial", steps: "error"},
		{scenario: "hang", verdict: "timeout", timeout: 5 * time.Second},
		{scenario: "one-call", verdict: "fault mcp, trial", gone: true},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			t.Parallel()
			cms := agenttest.Serve(t, "cms")
			end := cms.Endpoint
			if c.gone {
				end = agenttest.Gone(t, "cms")
			}
			sess := start(t, t.Context(), realSpec(t, srv.ScenarioURL(c.scenario), end))
			ctx := t.Context()
			if c.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.timeout)
				defer cancel()
			}
			var tr transcript
			r, err := sess.Turn(ctx, "do it", tr.emit)
			if got := verdict(r, err); got != c.verdict {
				t.Errorf("verdict = %q (%v, %q); want %q", got, err, r.Detail, c.verdict)
			}
			// Calls of one answer run side by side, in any order.
			if got := tr.short(); !c.gone && (c.scenario == "parallel" && !slices.Equal(sorted(got), sorted(c.steps)) || c.scenario != "parallel" && got != c.steps) {
				t.Errorf("steps = %q; want %q", got, c.steps)
			}
			got := eval.Usage{Turns: r.Usage.Turns, InputTokens: r.Usage.InputTokens, OutputTokens: r.Usage.OutputTokens}
			if !c.gone && (got.Turns != c.usage.Turns || got.InputTokens != c.usage.InputTokens || got.OutputTokens != c.usage.OutputTokens) {
				t.Errorf("usage = %+v; want %+v", got, c.usage)
			}
			if r.Retries != c.retries {
				t.Errorf("retries = %d; want %d", r.Retries, c.retries)
			}
			if calls := slices.Sorted(slices.Values(cms.Calls())); !slices.Equal(calls, c.calls) {
				t.Errorf("the server was called for %q; want %q", calls, c.calls)
			}
			if len(tr.warnings) > 0 && c.verdict == "completed" {
				t.Errorf("warnings: %q", tr.warnings)
			}
		})
	}
}

func sorted(words string) []string { return slices.Sorted(slices.Values(strings.Fields(words))) }

const realScript = `{"scenarios": [{"name": "two", "turns": [
	{"steps": [
		{"text": "First.", "calls": [{"tool": "zone.list.all", "server": "my srv.x"}]},
		{"calls": [{"tool": "delete_item", "server": "cms", "arguments": {"id": "missing"}}]},
		{"text": "one"}]},
	{"steps": [
		{"calls": [{"tool": "get_item", "server": "cms", "arguments": {"id": "7"}}]},
		{"text": ["two: ", {"$result": {"call": -1}}]}]}
]}]}`

// Two turns in one process, two servers, one with a name that no tool name can
// carry; nothing of the plugin's own environment reaches the agent.
func TestRealTurns(t *testing.T) {
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Canary: leaked")
	t.Setenv("ANTHROPIC_API_KEY", "the plugin's own")
	model := agenttest.Model(t, realScript)
	cms, odd := agenttest.Serve(t, "cms"), agenttest.Serve(t, "my srv.x")
	s := realSpec(t, model.ScenarioURL("two"), cms.Endpoint, odd.Endpoint)
	sess := start(t, t.Context(), s)
	for i, want := range []struct {
		steps, answer string
		usage         eval.Usage
	}{
		{"message call:my srv.x/zone_list_all ok call:cms/delete_item failed message", "one", eval.Usage{Turns: 3, InputTokens: 3750, OutputTokens: 120}},
		{"call:cms/get_item ok message", "two: get_item of cms", eval.Usage{Turns: 2, InputTokens: 2500, OutputTokens: 80}},
	} {
		var tr transcript
		r, err := sess.Turn(t.Context(), []string{"begin", "go on"}[i], tr.emit)
		if got := verdict(r, err); got != "completed" || r.Answer != want.answer {
			t.Fatalf("turn %d: %s (%v), answer %q; want %q", i+1, got, err, r.Answer, want.answer)
		}
		if got := tr.short(); got != want.steps {
			t.Errorf("turn %d: steps = %q; want %q", i+1, got, want.steps)
		}
		if u := r.Usage; u.Turns != want.usage.Turns || u.InputTokens != want.usage.InputTokens || u.OutputTokens != want.usage.OutputTokens ||
			u.LowerBound || u.CostUSD != nil || !slices.Equal(u.Models, []string{"claude-sonnet-4-5"}) {
			t.Errorf("turn %d: usage = %+v; want %+v", i+1, u, want.usage)
		}
	}
	if err := sess.Close(); err != nil {
		t.Error(err)
	}
	if got := strings.Join(cms.Calls(), " ") + "; " + strings.Join(odd.Calls(), " "); got != "delete_item get_item; zone.list.all" {
		t.Errorf("calls = %q", got)
	}
	if cms.Refused()+odd.Refused() > 0 {
		t.Errorf("%d requests came without the token", cms.Refused()+odd.Refused())
	}
	for _, r := range model.Requests() {
		if r.Header.Get("X-Canary") != "" || (r.Key() != "" && r.Key() != "stand-in-key") {
			t.Errorf("%s %s has the key %q and the header %q", r.Method, r.Path, r.Key(), r.Header.Get("X-Canary"))
		}
		for _, tool := range r.Tools {
			if !strings.HasPrefix(tool, "mcp__") {
				t.Errorf("a built-in tool is offered: %s", tool)
			}
		}
	}
	if left, err := os.ReadDir(s.WorkDir); err != nil || len(left) > 0 {
		t.Errorf("the working folder holds %v, %v", left, err)
	}
}
