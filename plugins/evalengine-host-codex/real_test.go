package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
	"github.com/evalengine/evalengine/plugins/internal/agenttest"
)

// realSpec is a session of the real program against a scenario of the scripted
// model, with a home of its own and loopback alone. The model's ID must be one that
// the program does not know: it talks to others in dialects of their own.
func realSpec(t *testing.T, scenarioURL string, servers ...eval.Endpoint) eval.SessionSpec {
	t.Helper()
	s := spec(t, map[string]any{"command": []string{agenttest.Bin(t, "codex")}, "model": "scripted-model", "max_turns": 5})
	s.Servers = servers
	s.Model = &eval.ModelEndpoint{BaseURL: scenarioURL + "/v1", Key: "stand-in-key"}
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
		{scenario: "reasoning", verdict: "completed", steps: "reasoning message call:cms/get_item ok reasoning message",
			usage: eval.Usage{Turns: 2, InputTokens: 2500, OutputTokens: 80}, calls: []string{"get_item"}},
		{scenario: "slow-stream", verdict: "completed", steps: "message call:cms/get_item ok message",
			usage: eval.Usage{Turns: 2, InputTokens: 2500, OutputTokens: 80}, calls: []string{"get_item"}},
		{scenario: "unknown-tool", verdict: "completed", steps: "message message call:/no_such_tool failed",
			usage: eval.Usage{Turns: 2, InputTokens: 2500, OutputTokens: 80}},
		{scenario: "bad-tool-json", verdict: "completed", steps: "message message call:cms/get_item failed",
			usage: eval.Usage{Turns: 2, InputTokens: 2500, OutputTokens: 80}},
		{scenario: "refusal", verdict: "gave_up", usage: eval.Usage{Turns: 1, InputTokens: 1250, OutputTokens: 40}},
		{scenario: "context-too-long", verdict: "context_exceeded"},
		{scenario: "auth-401", verdict: "fault auth, stop, 401", retries: 2},
		{scenario: "model-not-found-404", verdict: "fault model, stop"},
		{scenario: "quota-429", verdict: "fault billing, stop"},
		{scenario: "ratelimit-429-bare", verdict: "fault rate_limit, trial, 429"},
		{scenario: "server-500", verdict: "fault server, trial", retries: 2},
		{scenario: "late-529", verdict: "fault overloaded, trial, 529", steps: "message call:cms/get_item ok", retries: 2,
			usage: eval.Usage{Turns: 1, InputTokens: 1250, OutputTokens: 40}, calls: []string{"get_item"}},
		{scenario: "truncated-stream", verdict: "fault stream, trial", retries: 2},
		{scenario: "late-hang", verdict: "timeout", timeout: 4 * time.Second, steps: "message call:cms/get_item ok",
			usage: eval.Usage{Turns: 1, InputTokens: 1250, OutputTokens: 40}, calls: []string{"get_item"}},
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
			if c.gone && !strings.Contains(err.Error(), "cms: ") {
				t.Errorf("the fault does not name the server: %v", err)
			}
			// Calls of one answer run side by side, in any order.
			if got := tr.short(); c.scenario == "parallel" && !slices.Equal(sorted(got), sorted(c.steps)) || c.scenario != "parallel" && got != c.steps {
				t.Errorf("steps = %q; want %q", got, c.steps)
			}
			u := r.Usage
			if u.Turns != c.usage.Turns || u.InputTokens != c.usage.InputTokens || u.OutputTokens != c.usage.OutputTokens {
				t.Errorf("usage = %+v; want %+v", u, c.usage)
			}
			if r.Retries != c.retries {
				t.Errorf("retries = %d; want %d", r.Retries, c.retries)
			}
			if calls := slices.Sorted(slices.Values(cms.Calls())); !slices.Equal(calls, c.calls) {
				t.Errorf("the server was called for %q; want %q", calls, c.calls)
			}
			if len(tr.warnings) > 0 {
				t.Errorf("warnings: %q", tr.warnings)
			}
		})
	}
}

func sorted(words string) []string { return slices.Sorted(slices.Values(strings.Fields(words))) }

// An endless loop ends with the model's turns.
func TestRealMaxTurns(t *testing.T) {
	srv, cms := agenttest.Model(t, ""), agenttest.Serve(t, "cms")
	sess := start(t, t.Context(), realSpec(t, srv.ScenarioURL("loop"), cms.Endpoint))
	r, err := sess.Turn(t.Context(), "do it", func(eval.Event) {})
	if got := verdict(r, err); got != "max_turns" || r.Usage.Turns < 5 || !r.Usage.LowerBound {
		t.Errorf("verdict = %q, %v, usage %+v", got, err, r.Usage)
	}
}

const realScript = `{"scenarios": [{"name": "two", "turns": [
	{"steps": [
		{"text": "First.", "calls": [{"tool": "zone.list.all", "server": "my_srv_x"}]},
		{"calls": [{"tool": "delete_item", "server": "cms", "arguments": {"id": "missing"}}]},
		{"text": "one"}]},
	{"steps": [
		{"calls": [{"tool": "get_item", "server": "cms", "arguments": {"id": "7"}}]},
		{"text": ["two: ", {"$result": {"call": -1}}]}]}
]}]}`

// Two turns of one thread, two servers, one with a name that no tool name can
// carry; nothing of the plugin's own environment reaches the agent.
func TestRealTurns(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "the plugin's own")
	model := agenttest.Model(t, realScript)
	cms, odd := agenttest.Serve(t, "cms"), agenttest.Serve(t, "my-srv x")
	s := realSpec(t, model.ScenarioURL("two"), cms.Endpoint, odd.Endpoint)
	sess := start(t, t.Context(), s)
	for i, want := range []struct {
		steps, answer string
		usage         eval.Usage
	}{
		{"message call:my-srv x/zone.list.all ok call:cms/delete_item failed message", "one", eval.Usage{Turns: 3, InputTokens: 3750, OutputTokens: 120}},
		{"call:cms/get_item ok message", "two: get_item of cms", eval.Usage{Turns: 2, InputTokens: 2500, OutputTokens: 80}},
	} {
		var tr transcript
		r, err := sess.Turn(t.Context(), []string{"- begin", "go on"}[i], tr.emit)
		if got := verdict(r, err); got != "completed" || r.Answer != want.answer || r.AgentVersion != "0.171.0" {
			t.Fatalf("turn %d: %s (%v), answer %q, version %s; want %q", i+1, got, err, r.Answer, r.AgentVersion, want.answer)
		}
		if got := tr.short(); got != want.steps {
			t.Errorf("turn %d: steps = %q; want %q", i+1, got, want.steps)
		}
		if u := r.Usage; u.Turns != want.usage.Turns || u.InputTokens != want.usage.InputTokens || u.OutputTokens != want.usage.OutputTokens ||
			u.LowerBound || u.CostUSD != nil || !slices.Equal(u.Models, []string{"scripted-model"}) {
			t.Errorf("turn %d: usage = %+v; want %+v", i+1, u, want.usage)
		}
		if len(tr.warnings) > 0 {
			t.Errorf("turn %d: warnings %q", i+1, tr.warnings)
		}
	}
	if got := strings.Join(cms.Calls(), " ") + "; " + strings.Join(odd.Calls(), " "); got != "delete_item get_item; zone.list.all" {
		t.Errorf("calls = %q", got)
	}
	if cms.Refused()+odd.Refused() > 0 {
		t.Errorf("%d requests came without the token", cms.Refused()+odd.Refused())
	}
	for _, r := range model.Requests() {
		if r.Key() != "stand-in-key" {
			t.Errorf("%s %s has the key %q", r.Method, r.Path, r.Key())
		}
	}
	if left, err := os.ReadDir(s.WorkDir); err != nil || len(left) > 0 {
		t.Errorf("the working folder holds %v, %v", left, err)
	}
}

const shellScript = `{"scenarios": [{"name": "shell", "turns": [{"steps": [
	{"calls": [{"tool": "exec_command", "as_is": true, "arguments": {"cmd": "env; false"}}]},
	{"text": "done"}]}]}]}`

// The agent's shell gets neither the model's key nor a server's token, but the mark
// by which its processes are found.
func TestRealShell(t *testing.T) {
	model, cms := agenttest.Model(t, shellScript), agenttest.Serve(t, "cms")
	s := realSpec(t, model.ScenarioURL("shell"), cms.Endpoint)
	s.Config = eval.JSON(mustJSON(map[string]any{
		"command": []string{agenttest.Bin(t, "codex")}, "model": "scripted-model",
		"tools": []string{"shell_tool", "unified_exec"}, "args": []string{"-s", "danger-full-access"},
	}))
	s.Env["ALLOWED"] = "yes"
	var tr transcript
	r, err := start(t, t.Context(), s).Turn(t.Context(), "go", tr.emit)
	if got := verdict(r, err) + ": " + tr.short(); got != "completed: call:/shell failed message" {
		t.Fatalf("%s, %v", got, err)
	}
	env := string(tr.steps[1].Result)
	for _, secret := range []string{"stand-in-key", cms.Endpoint.Token, envKey, envToken} {
		if strings.Contains(env, secret) {
			t.Errorf("the shell has %q", secret)
		}
	}
	for _, kept := range []string{"ALLOWED=yes", agentproc.EnvMark + "=", "HOME=" + s.Home} {
		if !strings.Contains(env, kept) {
			t.Errorf("the shell lacks %q: %s", kept, env)
		}
	}
}
