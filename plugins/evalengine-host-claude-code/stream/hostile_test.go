package stream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

const (
	initLine = `{"type":"system","subtype":"init","mcp_servers":[{"name":"cms","status":"connected"}],"claude_code_version":"2.1.197","uuid":"i"}`
	okLine   = `{"type":"result","subtype":"success","is_error":false,"result":"done","num_turns":1,"usage":{"input_tokens":10,"output_tokens":2},"uuid":"r"}`
)

// say is an assistant line with those content blocks.
func say(uuid, id, parent string, blocks ...string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"model":"m","content":[%s],"usage":{"input_tokens":1,"output_tokens":2}},"parent_tool_use_id":%s,"uuid":%q}`,
		id, strings.Join(blocks, ","), orNull(parent), uuid)
}

func heard(uuid, parent string, blocks ...string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[%s]},"parent_tool_use_id":%s,"uuid":%q}`,
		strings.Join(blocks, ","), orNull(parent), uuid)
}

func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return fmt.Sprintf("%q", s)
}

func text(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }

func use(id, name, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input)
}

func result(id, content string, isError bool) string {
	return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%s,"is_error":%v}`, id, content, isError)
}

func run(lines ...string) (*recorder, eval.TurnResult, error) {
	var rec recorder
	p := New(cms)
	p.Begin(rec.emit)
	feed(p, []byte(strings.Join(lines, "\n")+"\n"))
	r, err := p.Result(End{Exit: &agentproc.Exit{}})
	return &rec, r, err
}

func TestHostile(t *testing.T) {
	for _, c := range []struct {
		name    string
		lines   []string
		steps   string
		verdict string
		warning string // part of the only one, empty for none
	}{
		{
			name: "banners", lines: []string{
				"(node:9) [DEP0040] DeprecationWarning: x", "", initLine, "Listening…", say("1", "m1", "", text("hi")), okLine},
			steps: "say", verdict: "completed", warning: "DeprecationWarning",
		},
		{
			name: "a banner before the only line", lines: []string{
				"(node:9) [DEP0040] DeprecationWarning: x", `{"type":"result","subtype":"success","is_error":false,"result":"ok","usage":{"input_tokens":3}}`},
			verdict: "completed", warning: "DeprecationWarning",
		},
		{
			name: "events that share a line", lines: []string{
				"Listening…" + initLine + say("1", "m1", "", text("hi")) + "(node:9) Warning: x", okLine},
			steps: "say", verdict: "completed", warning: "not an event on the agent's stdout: Listening…(node:9) Warning: x",
		},
		{
			name: "an event behind half of one", lines: []string{initLine, `{"type":"assistant","message":{"content":[{"type":"te` + say("1", "m1", "", text("hi")), okLine},
			steps: "say", verdict: "completed", warning: "not an event on the agent's stdout",
		},
		{
			name: "an event within a broken one", lines: []string{initLine, say("1", "m1", "", text("hi")), `{"type":"user","message":{"x":` + okLine + `,"y":}`},
			steps: "say", verdict: "fault no_terminal, trial", warning: "not an event",
		},
		{
			name: "no init", lines: []string{say("1", "m1", "", text("hi")), okLine},
			steps: "say", verdict: "completed",
		},
		{
			name: "carriage returns and a byte order mark", lines: []string{
				"\xef\xbb\xbf" + initLine + "\r", say("1", "m1", "", text("hi")) + "\r", okLine + "\r"},
			steps: "say", verdict: "completed",
		},
		{
			name: "success that is an error", lines: []string{initLine,
				`{"type":"result","subtype":"success","is_error":true,"api_error_status":403,"terminal_reason":"api_error","num_turns":9,"result":"Access was turned off"}`},
			verdict: "fault auth, stop, 403",
		},
		{
			name: "refusal of the provider as the answer", lines: []string{initLine,
				say("1", "m1", "", text("API call failed after 3 retries: HTTP 429 Too Many Requests")),
				`{"type":"result","subtype":"success","is_error":false,"result":"API call failed after 3 retries: HTTP 429 Too Many Requests","usage":{"input_tokens":0,"output_tokens":0}}`},
			steps: "say", verdict: "fault rate_limit, trial, 429",
		},
		{
			name: "an answer that speaks of a failure", lines: []string{initLine, say("1", "m1", "", text("x")),
				`{"type":"result","subtype":"success","is_error":false,"result":"API error: HTTP 429 is what the site shows","usage":{"input_tokens":9,"output_tokens":5}}`},
			steps: "say", verdict: "completed",
		},
		{
			name: "a turn without a model", lines: []string{initLine,
				`{"type":"result","subtype":"success","is_error":false,"result":"Unknown command: /x","usage":{"input_tokens":0,"output_tokens":0}}`},
			verdict: "fault host, never",
		},
		{
			name: "parallel calls, results out of order", lines: []string{initLine,
				say("1", "m1", "", use("t1", "mcp__cms__create", `{"n":"A"}`)),
				say("2", "m1", "", use("t2", "mcp__cms__create", `{"n":"B"}`)),
				heard("3", "", result("t2", `"no"`, true), result("t1", `[{"type":"text","text":"ok"}]`, false)), okLine},
			steps: "call:cms/create call:cms/create failed ok", verdict: "completed",
		},
		{
			name: "an unfinished call", lines: []string{initLine, say("1", "m1", "", use("t1", "mcp__cms__create", `{}`)), okLine},
			steps: "call:cms/create", verdict: "completed",
		},
		{
			name: "the same lines again", lines: []string{initLine,
				say("1", "m1", "", text("hi")), say("1", "m1", "", text("hi")),
				say("2", "m1", "", text("hi")), // under another line ID
				say("3", "m1", "", use("t1", "mcp__cms__x", `{}`)), say("4", "m1", "", use("t1", "mcp__cms__x", `{}`)),
				heard("5", "", result("t1", `"a"`, false)), heard("6", "", result("t1", `"a"`, false)), okLine},
			steps: "say call:cms/x ok", verdict: "completed",
		},
		{
			name: "a sub-agent", lines: []string{initLine,
				say("1", "m1", "", use("k1", "Task", `{"prompt":"p"}`)),
				heard("2", "k1", text("p")),
				say("3", "m2", "k1", use("t2", "mcp__cms__publish", `{}`)),
				heard("4", "k1", result("t2", `"ok"`, false)),
				say("5", "m3", "k1", text("published")),
				heard("6", "", result("k1", `"published"`, false)),
				say("7", "m4", "", text("all done")), okLine},
			steps:   "call:/Task told<k1 call:cms/publish<k1 ok<k1 say<k1 ok say",
			verdict: "completed",
		},
		{
			name: "a failure inside a sub-agent is not the agent's", lines: []string{initLine,
				say("1", "m1", "", use("k1", "Task", `{}`)),
				`{"type":"assistant","message":{"id":"s","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529"}]},"error":"server_error","parent_tool_use_id":"k1","uuid":"2"}`,
				heard("3", "", result("k1", `"failed"`, true)), say("4", "m2", "", text("so be it")), okLine},
			steps: "call:/Task error<k1 failed say", verdict: "completed",
		},
		{
			name: "unknown kinds of lines and blocks", lines: []string{initLine, `{"type":"surprise","uuid":"s"}`,
				say("1", "m1", "", `{"type":"hologram"}`, `7`, text("hi")),
				`{"type":"assistant","message":"a text","uuid":"2"}`, `{"type":"user","message":{"content":[[]]},"uuid":"3"}`, okLine},
			steps: "say", verdict: "completed",
		},
		{
			name: "thinking and the provider's own tools", lines: []string{initLine,
				say("1", "m1", "", `{"type":"thinking","thinking":"hm","signature":"s"}`),
				say("2", "m1", "", `{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}}`),
				say("3", "m1", "", `{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"u"}]}`), okLine},
			steps: "think call:/web_search ok", verdict: "completed",
		},
		{
			name: "a result kept from the model", lines: []string{initLine,
				say("1", "m1", "", use("t1", "mcp__cms__list", `{}`)),
				heard("2", "", result("t1", `"Error: result (179,889 characters) exceeds maximum allowed tokens. Output has been saved to /tmp/x.txt"`, false)), okLine},
			steps: "call:cms/list ok", verdict: "completed", warning: "replaced a result of list (179,889 characters)",
		},
		{
			name: "a built-in tool withheld", lines: []string{initLine, say("1", "m1", "", use("t1", "Bash", `{}`)),
				strings.Replace(okLine, `"uuid"`, `"permission_denials":[{"tool_name":"Bash","tool_use_id":"t1"}],"uuid"`, 1)},
			steps: "call:/Bash", verdict: "completed", warning: "withheld its built-in tool Bash",
		},
		{
			name: "a server that the agent never had", lines: []string{
				`{"type":"system","subtype":"init","mcp_servers":[],"tools":["Bash"],"uuid":"i"}`, say("1", "m1", "", text("I have no CMS tool")), okLine},
			steps: "say", verdict: "fault mcp, trial",
		},
		{
			name: "odd counts", lines: []string{initLine, say("1", "m1", "", text("x")),
				`{"type":"result","subtype":"success","is_error":false,"result":{"a":[1]},"usage":{"input_tokens":-5,"output_tokens":"many","cache_read_input_tokens":1e99},"modelUsage":[],"num_turns":"x"}`},
			steps: "say", verdict: "completed", warning: "counts of tokens that cannot be true",
		},
		{
			name: "server and network failures by their words", lines: []string{initLine,
				`{"type":"assistant","message":{"id":"s","model":"<synthetic>","content":[{"type":"text","text":"API Error: 502 Bad gateway"}]},"error":"server_error","uuid":"2"}`,
				`{"type":"result","subtype":"success","is_error":true,"api_error_status":null,"result":"API Error: 502 Bad gateway"}`},
			steps: "error", verdict: "fault server, trial, 502",
		},
		{
			name: "a refused request in mid-conversation", lines: []string{initLine, say("1", "m1", "", text("x")),
				`{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"API Error: 400 bad tool result"}`},
			steps: "say", verdict: "fault bad_request, never, 400",
		},
		{
			name: "a model that says nothing", lines: []string{initLine, say("1", "m1", ""),
				`{"type":"result","subtype":"success","result":"","usage":{"input_tokens":10,"output_tokens":0}}`},
			verdict: "gave_up",
		},
		{
			name: "nothing at all", verdict: "fault host, trial",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec, r, err := run(c.lines...)
			if got := rec.short(); got != c.steps {
				t.Errorf("steps = %q; want %q", got, c.steps)
			}
			if got := verdict(r, err); got != c.verdict {
				t.Errorf("verdict = %q (%v); want %q", got, err, c.verdict)
			}
			got := strings.Join(rec.warnings, "\n")
			if (c.warning == "") != (got == "") || !strings.Contains(got, c.warning) {
				t.Errorf("warnings = %q; want %q", got, c.warning)
			}
		})
	}
}

func TestSubAgentsCountOnce(t *testing.T) {
	_, r, _ := run(initLine,
		say("1", "m1", "", use("k1", "Task", `{}`)), say("2", "m2", "k1", text("a")), say("3", "m2", "k1", text("b")),
		say("4", "m3", "", text("done")),
		`{"type":"result","subtype":"success","result":"done","usage":{"input_tokens":10,"output_tokens":2},`+
			`"modelUsage":{"big":{"inputTokens":10,"outputTokens":2},"small":{"inputTokens":5,"outputTokens":1,"cacheReadInputTokens":4,"cacheCreationInputTokens":3}}}`)
	want := eval.Usage{
		Turns: 3, InputTokens: 22, CacheReadTokens: 4, CacheWriteTokens: 3, OutputTokens: 3,
		Source: "host", Models: []string{"m", "big", "small"},
	}
	got, _ := json.Marshal(r.Usage)
	exp, _ := json.Marshal(want)
	if string(got) != string(exp) {
		t.Errorf("usage = %s; want %s", got, exp)
	}
}

func TestResults(t *testing.T) {
	for _, c := range []struct{ name, block, own, want string }{
		{"text", result("t", `"plain"`, false), ``, `{"content":[{"type":"text","text":"plain"}]}`},
		{"error", result("t", `"no"`, true), `"Error: no"`, `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		{"empty", `{"type":"tool_result","tool_use_id":"t"}`, ``, `{"content":[]}`},
		{"image", result("t", `[{"type":"image","source":{"type":"base64","data":"AAAA","media_type":"image/png"}}]`, false), ``,
			`{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}`},
		{"structured", result("t", `"{\"sum\":3}"`, false), `{"content":[{"type":"text","text":"three"}],"structuredContent":{"sum":3}}`,
			`{"content":[{"type":"text","text":"three"}],"structuredContent":{"sum":3}}`},
		{"reference", result("t", `[{"type":"tool_reference","tool_name":"x"}]`, false), ``,
			`{"content":[{"type":"tool_reference","tool_name":"x"}]}`},
		{"half a surrogate pair", result("t", `[{"type":"text","text":"cut \ud83d"}]`, false), ``,
			"{\"content\":[{\"type\":\"text\",\"text\":\"cut \uFFFD\"}]}"},
		{"null character", result("t", `"a\u0000b"`, false), ``, `{"content":[{"type":"text","text":"a\u0000b"}]}`},
	} {
		line := heard("1", "", c.block)
		if c.own != "" {
			line = strings.Replace(line, `"uuid"`, `"tool_use_result":`+c.own+`,"uuid"`, 1)
		}
		rec, _, _ := run(initLine, line, okLine)
		if len(rec.steps) != 1 || string(rec.steps[0].Result) != c.want || rec.steps[0].Bytes != int64(len(c.want)) {
			t.Errorf("%s: steps = %+v; want the result %s", c.name, rec.steps, c.want)
		}
	}
}

func TestOversizedLine(t *testing.T) {
	var rec recorder
	p := New(cms)
	p.Begin(rec.emit)
	line := heard("1", "", result("t1", `[{"type":"text","text":"`+strings.Repeat("A", 1_500_000)+`"}]`, false))
	feed(p, []byte(initLine+"\n"+say("0", "m1", "", use("t1", "mcp__cms__list", "{}"))+"\n"))
	p.Line(agentproc.Line{Text: []byte(line)[:1_000_000], Size: 200 << 20, Truncated: true})
	feed(p, []byte(okLine+"\n"))
	if got := rec.short(); got != "call:cms/list ok~" {
		t.Fatalf("steps = %q", got)
	}
	if s := rec.steps[1]; s.Bytes != 200<<20 || len(s.Result) < 900_000 || !json.Valid(s.Result) || s.CallID != "t1" {
		t.Errorf("result has %d bytes of %d, call %q", len(s.Result), s.Bytes, s.CallID)
	}
	if got := strings.Join(rec.warnings, ""); got != "a line of 209715200 bytes is cut; its beginning is kept" {
		t.Errorf("warnings = %q", got)
	}
	if r, err := p.Result(End{}); verdict(r, err) != "completed" {
		t.Errorf("verdict = %q", verdict(r, err))
	}
}

func TestWholeBigLine(t *testing.T) {
	big := strings.Repeat("A", 1_500_000)
	rec, r, err := run(initLine, say("0", "m1", "", use("t1", "mcp__cms__list", "{}")),
		heard("1", "", result("t1", `[{"type":"text","text":"`+big+`"}]`, false)), okLine)
	if got := rec.short() + ": " + verdict(r, err); got != "call:cms/list ok: completed" || rec.steps[1].Bytes < 1_500_000 {
		t.Errorf("%s, %d bytes", got, rec.steps[1].Bytes)
	}
}

func TestCutTail(t *testing.T) {
	var rec recorder
	p := New(cms)
	p.Begin(rec.emit)
	feed(p, []byte(`{"type":"system","subtype":"init","session_id":"s","mcp_servers":[{"name":"cms","status":"connected"}]}`+"\n"+
		`{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"mcp__cms__create`))
	r, err := p.Result(End{Exit: &agentproc.Exit{}})
	if got := verdict(r, err); got != "fault no_terminal, trial" {
		t.Errorf("verdict = %q", got)
	}
	if got := strings.Join(rec.warnings, ""); got != "the output ends within a line, at byte 209" {
		t.Errorf("warnings = %q", got)
	}
	if len(rec.steps) != 0 || !r.Usage.LowerBound {
		t.Errorf("steps %v, usage %+v", rec.steps, r.Usage)
	}
}

func TestFlood(t *testing.T) {
	var rec recorder
	p := New(cms)
	p.Begin(rec.emit)
	for i := range MaxSteps + 10 {
		p.Line(agentproc.Line{Text: []byte(say(fmt.Sprint("u", i), fmt.Sprint("m", i), "", text("x")))})
	}
	if len(rec.steps) != MaxSteps || len(rec.warnings) != 1 || p.Responses() != MaxSteps+10 {
		t.Errorf("%d steps, %d warnings, %d responses", len(rec.steps), len(rec.warnings), p.Responses())
	}
}

// The last line counts though no line end comes after it; half a line does not.
func TestLastLineWithoutEnd(t *testing.T) {
	for _, c := range []struct {
		last    string
		outcome eval.Outcome
		fault   string
	}{
		{okLine, eval.Completed, ""},
		{okLine + " ", eval.Completed, ""},
		{okLine[:len(okLine)-1], "", eval.CauseNoTerminal},
	} {
		var rec recorder
		p := New(cms)
		p.Begin(rec.emit)
		feed(p, []byte(initLine+"\n"+c.last))
		r, err := p.Result(End{Exit: &agentproc.Exit{}})
		cause := ""
		if f, ok := err.(*eval.Fault); ok {
			cause = f.Cause
		}
		if r.Outcome != c.outcome || cause != c.fault {
			t.Errorf("%q: outcome %q, %v; want %q, fault %q", c.last, r.Outcome, err, c.outcome, c.fault)
		}
	}
}

// A turn without counts is not one that took nothing.
func TestUncountedTurn(t *testing.T) {
	uncounted := `{"type":"result","subtype":"success","is_error":false,"result":"done","num_turns":1,"uuid":"r"}`
	absurd := strings.Replace(okLine, `"input_tokens":10`, `"input_tokens":1e30`, 1)
	absurdModel := strings.Replace(okLine, `"uuid"`, `"modelUsage":{"m":{"inputTokens":-7}},"uuid"`, 1)
	for last, want := range map[string]bool{okLine: false, uncounted: true, absurd: true, absurdModel: true} {
		_, r, err := run(initLine, say("a", "m1", "", text("hi")), last)
		if r.Usage.LowerBound != want || r.Usage.Turns != 1 || err != nil {
			t.Errorf("%s: usage %+v, %v; want lower bound %v", last, r.Usage, err, want)
		}
	}
}

// Session files add what the output lacks, and nothing twice, whatever the order of
// the files.
func TestRecorded(t *testing.T) {
	task := say("1", "m1", "", use("k1", "Task", `{}`))
	publish, published := say("2", "m2", "", use("t2", "mcp__cms__publish", `{}`)), heard("3", "", result("t2", `"ok"`, false))
	type kept struct{ line, parent string }
	own := []kept{{task, ""}, {heard("9", "", result("k1", `"published"`, false)), ""}, {say("8", "m4", "", text("all done")), ""}}
	sub := []kept{{heard("7", "", text("p")), "k1"}, {publish, "k1"}, {published, "k1"}, {say("4", "m3", "", text("published")), "k1"}}
	whole := []string{initLine, task, heard("5", "k1", text("p")), strings.Replace(publish, "null", `"k1"`, 1), strings.Replace(published, "null", `"k1"`, 1),
		strings.Replace(say("4", "m3", "", text("published")), "null", `"k1"`, 1), heard("6", "", result("k1", `"published"`, false)), say("7", "m4", "", text("all done"))}
	const all = "call:/Task told<k1 call:cms/publish<k1 ok<k1 say<k1 ok say"
	for _, c := range []struct {
		name    string
		lines   []string
		kept    []kept
		steps   string
		lacking bool
	}{
		{"the same calls again", whole, append(append([]kept{}, own...), sub...), all, false},
		{"the same in another order", whole, append(append([]kept{}, sub...), own...), all, false},
		{"output that stopped", whole[:2], append(append([]kept{}, sub...), own...), all, true},
		{"output that stopped, in another order", whole[:2], append(append([]kept{}, own...), sub...), "call:/Task ok say told<k1 call:cms/publish<k1 ok<k1 say<k1", true},
		{"no output but the beginning", whole[:1], own, "call:/Task ok say", true},
		{"what is no step", whole, []kept{
			{"half a li", ""}, {`{"type":"summary"}`, ""}, {`{"type":"assistant","message":{"model":"<synthetic>","id":"s","content":[{"type":"text","text":"API Error"}]}}`, ""},
			{`{"type":"assistant","isSidechain":true,"message":{"id":"x","content":[{"type":"tool_use","id":"z","name":"mcp__cms__publish","input":{}}]}}`, ""},
			{`{"type":"user","message":{"content":"the suite's prompt"}}`, ""}, {okLine, ""}, {`{"type":"assistant","message":{"content":[{"type":"text","text":"no ID"}]}}`, ""},
		}, all, false},
	} {
		var rec recorder
		p := New(cms)
		p.Begin(rec.emit)
		feed(p, []byte(strings.Join(c.lines, "\n")+"\n"))
		for range 2 {
			for _, k := range c.kept {
				p.Recorded([]byte(k.line), k.parent)
			}
		}
		if got := rec.short(); got != c.steps {
			t.Errorf("%s: steps = %q; want %q", c.name, got, c.steps)
		}
		if got := strings.Join(rec.warnings, ""); strings.Contains(got, "session file") != c.lacking {
			t.Errorf("%s: warnings %q", c.name, got)
		}
		// A session file never ends a turn.
		if r, err := p.Result(End{Exit: &agentproc.Exit{}}); verdict(r, err) != "fault no_terminal, trial" {
			t.Errorf("%s: verdict %s", c.name, verdict(r, err))
		}
	}
}

func TestWithheld(t *testing.T) {
	for text, want := range map[string]string{
		"Error: result (179,889 characters) exceeds maximum allowed tokens. Output has been saved to /tmp/x.txt": "179,889 characters",
		"<persisted-output>\nOutput too large (71.2KB). Full output saved to: /tmp/x.txt\n\nPreview":             "71.2KB",
		"The guide says: <persisted-output> is what a host writes":                                               "",
		"Error: result missing": "",
	} {
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := replaced(block{Content: b}); got != want {
			t.Errorf("replaced(%q) = %q; want %q", text, got, want)
		}
	}
}

// A session that is taken up again begins its file with copies of what came before:
// they are neither steps nor answers of the model a second time.
func TestCopiedSession(t *testing.T) {
	said := func(from, to int) (lines []string) {
		for n := from; n <= to; n++ {
			lines = append(lines, say(fmt.Sprintf("line-%d-%d", from, n), fmt.Sprintf("m%d", n), "", text(fmt.Sprintf("part %d", n))))
		}
		return lines
	}
	p := New(cms)
	var first, second recorder
	p.Begin(first.emit)
	feed(p, []byte(strings.Join(append([]string{initLine}, said(1, 4)...), "\n")+"\n"))
	r, _ := p.Result(End{Exit: &agentproc.Exit{}})
	if got := first.short(); got != "say say say say" || r.Usage.Turns != 4 {
		t.Errorf("first turn: %q, %d responses; want 4 of each", got, r.Usage.Turns)
	}
	p.Begin(second.emit)
	for _, line := range append(said(1, 4), say("copy", "m5", "", text("part 5"))) {
		p.Recorded([]byte(strings.Replace(line, "line-", "copy-", 1)), "")
	}
	r, _ = p.Result(End{Exit: &agentproc.Exit{}})
	if got := second.short(); got != "say" || r.Usage.Turns != 1 {
		t.Errorf("second turn: %q, %d responses; want the new one", got, r.Usage.Turns)
	}
}
