package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/evalengine-host-codex/rollout"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

const (
	begun   = `{"type":"thread.started","thread_id":"th"}` + "\n" + `{"type":"turn.started"}`
	okay    = `{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":2}}`
	message = `{"type":"item.completed","item":{"id":"item_9","type":"agent_message","text":"done"}}`
)

func started(id, tool string) string {
	return fmt.Sprintf(`{"type":"item.started","item":{"id":%q,"type":"mcp_tool_call","server":"cms","tool":%q,"arguments":{"a":1},"result":null,"error":null,"status":"in_progress"}}`, id, tool)
}

func completed(id, tool, status, result string) string {
	return fmt.Sprintf(`{"type":"item.completed","item":{"id":%q,"type":"mcp_tool_call","server":"cms","tool":%q,"arguments":{"a":1},"result":%s,"error":null,"status":%q}}`, id, tool, result, status)
}

const text = `{"content":[{"type":"text","text":"ok"}],"structured_content":null}`

func TestHostile(t *testing.T) {
	for _, c := range []struct {
		name    string
		lines   []string
		stderr  string
		exit    int
		steps   string
		verdict string
		warning string // part of the only one, empty for none
		retries int
	}{
		{
			name: "reconnecting, then well", retries: 1, lines: []string{begun,
				`{"type":"error","message":"Reconnecting... 1/5"}`, message, okay},
			steps: "say", verdict: "completed",
		},
		{
			name: "a failed turn without a kind", lines: []string{begun, `{"type":"turn.failed","error":{"message":"quota"}}`},
			verdict: "fault billing, stop",
		},
		{
			name: "a failed turn of no known kind", lines: []string{begun, `{"type":"turn.failed","error":{"message":"quotas are fine, the moon is not"}}`},
			verdict: "fault unknown, trial",
		},
		{
			name: "events that share a line", lines: []string{"Listening…" + `{"type":"thread.started","thread_id":"th"}` + message + "(node:9) Warning: x", okay},
			steps: "say", verdict: "completed", warning: "not an event on the agent's stdout: Listening…(node:9) Warning: x",
		},
		{
			name: "an event within a broken one", lines: []string{begun, message, `{"type":"item.completed","item":{"arguments":` + okay + `,"x":}`},
			steps: "say", verdict: "fault no_terminal, trial", warning: "not an event",
		},
		{
			name: "counts that cannot be", lines: []string{begun, message, `{"type":"turn.completed","usage":{"input_tokens":1e300,"output_tokens":-2}}`},
			steps: "say", verdict: "completed", warning: "counts of tokens that cannot be true",
		},
		{
			name: "items that are closed and under way", lines: []string{begun,
				`{"type":"item.completed","item":{"id":"1","type":"file_change","changes":[],"status":"in_progress"}}`,
				`{"type":"item.completed","item":{"id":"2","type":"collab_tool_call","tool":"spawn_agent","status":"in_progress"}}`,
				`{"type":"item.completed","item":{"id":"3","type":"command_execution","exit_code":0,"status":"in_progress"}}`,
				`{"type":"item.completed","item":{"id":"4","type":"command_execution","exit_code":"none","status":"completed"}}`, message, okay},
			steps: "call:/apply_patch call:/spawn_agent call:/shell call:/shell say", verdict: "completed",
		},
		{
			name: "no terminal event although exit code 0", lines: []string{begun, message},
			steps: "say", verdict: "fault no_terminal, trial",
		},
		{
			name: "an error that is an object", lines: []string{begun,
				`{"type":"turn.failed","error":{"message":{"code":"rate limit"}}}`},
			verdict: "fault rate_limit, trial",
		},
		{
			name: "a failure that only the error event words", lines: []string{begun,
				`{"type":"error","message":"unexpected status 502 Bad Gateway: x, url: http://h/v1"}`, `{"type":"turn.failed"}`},
			verdict: "fault server, trial, 502",
		},
		{
			name: "calls left open", lines: []string{begun, started("i1", "create"),
				`{"type":"item.completed","item":{"id":"i2","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"completed"}}`,
				message, okay},
			steps: "call:cms/create call:/shell say", verdict: "completed",
		},
		{
			name: "a result without a start", lines: []string{begun, completed("i1", "create", "completed", text), message, okay},
			steps: "call:cms/create ok say", verdict: "completed",
		},
		{
			name: "the same lines again", lines: []string{begun, started("i1", "x"), started("i1", "x"),
				completed("i1", "x", "completed", text), completed("i1", "x", "completed", text), message, message, okay, okay},
			steps: "call:cms/x ok say", verdict: "completed",
		},
		{
			name: "parallel calls, results out of order", lines: []string{begun, started("i1", "create"), started("i2", "create"),
				completed("i2", "create", "failed", text), completed("i1", "create", "completed", text), message, okay},
			steps: "call:cms/create call:cms/create failed ok say", verdict: "completed",
		},
		{
			name: "the program's own tools", lines: []string{begun,
				`{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"hm"}}`,
				`{"type":"item.completed","item":{"id":"2","type":"file_change","changes":[{"path":"a","kind":"add"}],"status":"completed"}}`,
				`{"type":"item.completed","item":{"id":"3","type":"web_search","query":"q"}}`,
				`{"type":"item.completed","item":{"id":"4","type":"collab_tool_call","tool":"spawn_agent","prompt":"p","status":"failed"}}`,
				`{"type":"item.started","item":{"id":"5","type":"command_execution","command":"ls","status":"in_progress"}}`,
				`{"type":"item.completed","item":{"id":"5","type":"command_execution","command":"ls","aggregated_output":"x","exit_code":0,"status":"completed"}}`,
				`{"type":"item.completed","item":{"id":"6","type":"command_execution","command":"rm","status":"declined"}}`,
				`{"type":"item.completed","item":{"id":"7","type":"todo_list","items":[]}}`,
				message, okay},
			steps:   "think call:/apply_patch ok call:/web_search ok call:/spawn_agent failed call:/shell ok call:/shell failed say",
			verdict: "completed",
		},
		{
			name: "warnings", lines: []string{"WARNING: proceeding", begun,
				`{"type":"item.completed","item":{"id":"0","type":"error","message":"Model metadata for x not found."}}`, message, okay},
			steps: "say", verdict: "completed", warning: "not an event on the agent's stdout: WARNING: proceeding",
		},
		{
			name: "a warning of the program's", lines: []string{begun,
				`{"type":"item.completed","item":{"id":"0","type":"error","message":"features.x is deprecated"}}`, message, okay},
			steps: "say", verdict: "completed", warning: "the agent program warns: features.x is deprecated",
		},
		{
			name: "unknown lines", lines: []string{begun, `{"type":"surprise"}`, `{"type":"item.completed"}`,
				`{"type":"item.completed","item":7}`, `{"type":"item.updated","item":{"id":"1","type":"todo_list"}}`, message, okay},
			steps: "say", verdict: "completed",
		},
		{
			name: "a server that nobody configured", lines: []string{begun,
				`{"type":"item.completed","item":{"id":"1","type":"mcp_tool_call","server":"other","tool":"x","arguments":null,"result":null,"error":{"message":"unknown server"},"status":"failed"}}`, message, okay},
			steps: "call:other/x failed say", verdict: "completed",
		},
		{
			name: "a model that says nothing", lines: []string{begun, okay}, verdict: "gave_up",
		},
		{
			name: "refusal of the provider as the answer", lines: []string{begun,
				`{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"API call failed after 3 retries: HTTP 429"}}`,
				`{"type":"turn.completed","usage":{"input_tokens":0,"output_tokens":0}}`},
			steps: "say", verdict: "fault rate_limit, trial, 429",
		},
		{
			name: "content filter", lines: []string{begun, `{"type":"turn.failed","error":{"message":"Incomplete response returned, reason: content_filter"}}`},
			verdict: "refused",
		},
		{
			name: "a missing key", lines: []string{begun, `{"type":"turn.failed","error":{"message":"Missing environment variable: ` + "`EVALENGINE_MODEL_KEY`" + `."}}`},
			verdict: "fault auth, stop",
		},
		{
			name: "a refused request in mid-conversation", lines: []string{begun, completed("i1", "x", "completed", text),
				`{"type":"turn.failed","error":{"message":"{\"error\":{\"message\":\"no\",\"type\":\"invalid_request_error\"}}"}}`},
			steps: "call:cms/x ok", verdict: "fault bad_request, never",
		},
		{
			name: "refused connection", lines: []string{begun, `{"type":"turn.failed","error":{"message":"Connection failed: error sending request"}}`},
			verdict: "fault network, trial",
		},
		{name: "bad config", exit: 1, stderr: "Error loading config.toml: missing field `name`", verdict: "fault host_config, stop"},
		{name: "bad flag", exit: 2, stderr: "error: unexpected argument '--nope' found", verdict: "fault host_config, stop"},
		{name: "bad provider", exit: 1, stderr: "Error: Model provider `zzz` not found", verdict: "fault host_config, stop"},
		{name: "unknown thread", exit: 1, stderr: "Error: thread/resume failed: no rollout found for thread id 01", verdict: "fault host, trial"},
		{name: "a crash", exit: 134, stderr: "thread 'main' panicked: invalid value", verdict: "fault host, trial"},
		{name: "nothing at all", verdict: "fault host, trial"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rec recorder
			p := New(cms)
			p.Begin(rec.emit)
			if len(c.lines) > 0 {
				feed(p, []byte(strings.Join(c.lines, "\r\n")+"\r\n"))
			}
			r, err := p.Result(End{Exit: agentproc.Exit{Code: c.exit}, Stderr: c.stderr})
			if got := rec.short(); got != c.steps {
				t.Errorf("steps = %q; want %q", got, c.steps)
			}
			if got := verdict(r, err); got != c.verdict {
				t.Errorf("verdict = %q (%v); want %q", got, err, c.verdict)
			}
			if r.Retries != c.retries {
				t.Errorf("retries = %d; want %d", r.Retries, c.retries)
			}
			got := strings.Join(rec.warnings, "\n")
			if (c.warning == "") != (got == "") || !strings.Contains(got, c.warning) {
				t.Errorf("warnings = %q; want %q", got, c.warning)
			}
		})
	}
}

func TestResults(t *testing.T) {
	for _, c := range []struct{ name, item, want string }{
		{"structured", `"result":{"content":[],"structured_content":{"n":1}},"status":"completed"`, `{"content":[],"structuredContent":{"n":1}}`},
		{"no content", `"result":{"content":null},"status":"completed"`, `{"content":[]}`},
		{"neither", `"result":null,"status":"failed"`, `{"content":[{"type":"text","text":""}],"isError":true}`},
		{"an error", `"result":null,"error":{"message":"Transport closed"},"status":"failed"`, `{"error":{"message":"Transport closed"}}`},
		{"half a surrogate pair", `"result":{"content":[{"type":"text","text":"cut \ud83d"}]},"status":"completed"`, `{"content":[{"type":"text","text":"cut \ud83d"}]}`},
	} {
		var rec recorder
		p := New(cms)
		p.Begin(rec.emit)
		feed(p, []byte(`{"type":"item.completed","item":{"id":"1","type":"mcp_tool_call","server":"cms","tool":"x","arguments":{},`+c.item+"}}\n"))
		if len(rec.steps) != 2 || string(rec.steps[1].Result) != c.want || !json.Valid(rec.steps[1].Result) {
			t.Errorf("%s: steps = %+v; want the result %s", c.name, rec.steps, c.want)
		}
	}
}

func TestFill(t *testing.T) {
	open := rollout.Call{ID: "c1", Namespace: "mcp__cms", Name: "get_item", Arguments: "{}"}
	for _, c := range []struct {
		name  string
		calls []rollout.Call
		steps string
	}{
		{"a call that was cut off is told", []rollout.Call{open}, "call:cms/get-item"},
		{"two of which one is", []rollout.Call{open, {ID: "c2", Namespace: "mcp__cms", Name: "get_item", Arguments: "{}"}}, "call:cms/get-item call:cms/get_item"},
		{"a reported one", []rollout.Call{{ID: "c1", Name: "x", Reported: true}}, "call:cms/get-item"},
		{"a script that failed", []rollout.Call{{ID: "c1", Name: "exec", Custom: true, Arguments: "throw 1", Output: "Script failed", Finished: true}}, "call:cms/get-item call:/exec failed"},
		{"a script that ended", []rollout.Call{{ID: "c1", Name: "exec", Custom: true, Output: "Script completed\n", Finished: true}}, "call:cms/get-item"},
		{"a plan", []rollout.Call{{ID: "c1", Name: "update_plan", Arguments: `{"plan":[]}`, Output: "Plan updated", Finished: true}}, "call:cms/get-item call:/update_plan ok"},
		{"arguments that are two values", []rollout.Call{{ID: "c1", Namespace: "mcp__cms", Name: "x", Arguments: `{"a":1}{"b":2}`, Output: "err: trailing", Finished: true}}, "call:cms/get-item call:cms/x(bad) failed"},
	} {
		var rec recorder
		p := New(cms)
		p.Begin(rec.emit)
		feed(p, []byte(begun+"\n"+started("i1", "get-item")+"\n"))
		p.Fill(&rollout.Turn{Calls: c.calls})
		if got := rec.short(); got != c.steps {
			t.Errorf("%s: steps = %q; want %q", c.name, got, c.steps)
		}
	}
}

func TestOversizedLine(t *testing.T) {
	var rec recorder
	p := New(cms)
	p.Begin(rec.emit)
	line := completed("i1", "list", "completed", `{"content":[{"type":"text","text":"`+strings.Repeat("A", 1_500_000)+`"}]}`)
	feed(p, []byte(begun+"\n"+started("i1", "list")+"\n"))
	p.Line(agentproc.Line{Text: []byte(line)[:1_000_000], Size: 200 << 20, Truncated: true})
	feed(p, []byte(message+"\n"+okay+"\n"))
	if got := rec.short(); got != "call:cms/list ok~ say" {
		t.Fatalf("steps = %q", got)
	}
	if s := rec.steps[1]; s.Bytes != 200<<20 || len(s.Result) < 900_000 || !json.Valid(s.Result) {
		t.Errorf("result has %d bytes of %d", len(s.Result), s.Bytes)
	}
}

// Whatever an agent writes, a turn ends in an outcome or a fault, its steps can be
// written, and its counts are no less than nothing.
func FuzzParser(f *testing.F) {
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, []byte(nil))
	}
	file, err := os.ReadFile("../rollout/testdata/unknown-tool.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(begun+"\n"+completed("i", "x", "failed", text)+"\n"+okay+"\n"), file)
	f.Fuzz(func(t *testing.T, out, file []byte) {
		p := New(agentout.NewNames([]string{"everything", "cms"}, ""))
		for range 2 {
			open := map[string]bool{}
			p.Begin(func(e eval.Event) {
				s := e.Step
				if s == nil {
					return
				}
				if s.Kind == eval.StepToolCall && (s.CallID == "" || open[s.CallID]) {
					t.Errorf("call %q twice or without an ID", s.CallID)
				}
				open[s.CallID] = open[s.CallID] || s.Kind == eval.StepToolCall
				if _, err := json.Marshal(s); err != nil {
					t.Errorf("step cannot be written: %v", err)
				}
			})
			feed(p, out)
			turn := rollout.Parse(strings.NewReader(string(file)))
			p.Fill(&turn)
			r, err := p.Result(End{Stderr: string(out)})
			var fault *eval.Fault
			if errors.As(err, &fault) == (r.Outcome != "") || (err != nil && fault == nil) {
				t.Errorf("outcome %q, error %v", r.Outcome, err)
			}
			if fault != nil && (fault.Cause == "" || fault.Retry == "" || len(fault.Detail) > 2000) {
				t.Errorf("fault %+v", fault)
			}
			if u := r.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.Turns < 0 {
				t.Errorf("usage %+v", u)
			}
		}
	})
}

// The last line counts though no line end comes after it; half a line does not.
func TestLastLineWithoutEnd(t *testing.T) {
	for last, want := range map[string]eval.Outcome{okay: eval.Completed, okay[:len(okay)-1]: ""} {
		p := New(agentout.NewNames([]string{"cms"}, "_"))
		p.Begin(func(eval.Event) {})
		feed(p, []byte(begun+"\n"+message+"\n"+last))
		if r, err := p.Result(End{}); r.Outcome != want || (err == nil) != (want != "") {
			t.Errorf("%q: outcome %q, %v; want %q", last, r.Outcome, err, want)
		}
	}
}

// What a sub-agent did is in a session file of its own: it counts once, belongs to
// the call that started it, and so do its tokens.
func TestFillSub(t *testing.T) {
	const spawn = `{"type":"item.completed","item":{"id":"i1","type":"collab_tool_call","tool":"spawn_agent","receiver_thread_ids":["t1"],"status":"completed"}}`
	publish := rollout.Call{ID: "c1", Namespace: "mcp__cms", Name: "publish", Arguments: "{}", Output: "ok", Finished: true, Reported: true}
	deeper := rollout.Call{ID: "c2", Name: "spawn_agent", Arguments: "{}", Finished: true, Threads: []string{"t2"}}
	failed := rollout.Call{ID: "c3", Namespace: "mcp__cms", Name: "publish", Arguments: `{"a":`, Output: "no", Finished: true, Failed: true}
	open := rollout.Call{ID: "c4", Namespace: "mcp__cms", Name: "publish", Arguments: "{}"}
	for _, order := range [][]string{{"t1", "t2", "t3"}, {"t3", "t1", "t2"}} {
		files := map[string]*rollout.Turn{
			"t1": {Calls: []rollout.Call{publish, deeper}, Responses: 2, Usage: eval.Usage{InputTokens: 100, OutputTokens: 7}, Models: []string{"small"}},
			// A thread that was forked begins with a copy of the other's calls.
			"t2": {Calls: []rollout.Call{publish, failed}, Responses: 1, Usage: eval.Usage{InputTokens: 50}},
			"t3": {Calls: []rollout.Call{open}, Uncounted: true},
		}
		var rec recorder
		p := New(cms)
		p.Begin(rec.emit)
		feed(p, []byte(begun+"\n"+spawn+"\n"+message+"\n"+okay+"\n"))
		for _, id := range order {
			p.FillSub(id, files[id])
		}
		r, err := p.Result(End{})
		if got := verdict(r, err); got != "completed" {
			t.Errorf("%v: verdict %s", order, got)
		}
		parents := map[string]string{}
		for i := range rec.steps {
			rec.steps[i].ID = rec.steps[i].CallID
		}
		for _, c := range eval.Calls(rec.steps) {
			parents[c.Step] = fmt.Sprintf("%s/%s %s<%s", c.Server, c.Tool, c.Status, c.Parent)
		}
		want := map[string]string{
			"turn1-i1": "/spawn_agent ok<", "turn1-c1": "cms/publish ok<turn1-i1", "turn1-c2": "/spawn_agent ok<turn1-i1",
			"turn1-c3": "cms/publish error<turn1-c2", "turn1-c4": "cms/publish unfinished<thread-t3",
		}
		if diff := cmp.Diff(want, parents); diff != "" {
			t.Errorf("%v: calls (-want +got):\n%s", order, diff)
		}
		if u := r.Usage; u.InputTokens != 160 || u.OutputTokens != 9 || u.Turns != 5 || !u.LowerBound || p.Below() != 3 {
			t.Errorf("%v: usage %+v, %d below", order, u, p.Below())
		}
	}
}

// A turn without counts is not one that took nothing.
func TestUncountedTurn(t *testing.T) {
	for last, want := range map[string]bool{okay: false, `{"type":"turn.completed"}`: true} {
		p := New(cms)
		p.Begin(func(eval.Event) {})
		feed(p, []byte(begun+"\n"+message+"\n"+last+"\n"))
		if r, err := p.Result(End{}); r.Usage.LowerBound != want || r.Usage.Turns != 1 || err != nil {
			t.Errorf("%s: usage %+v, %v; want lower bound %v", last, r.Usage, err, want)
		}
	}
}
