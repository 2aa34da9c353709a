package model

import (
	"fmt"
	"strings"
	"testing"
)

// Shapes as the real hosts send them; the words are shortened.
const (
	claudeReminders = `{"type":"text","text":"<system-reminder>\n# MCP Server Instructions\n</system-reminder>\n"},{"type":"text","text":"<system-reminder>\n# currentDate\n</system-reminder>\n\n"}`
	codexContext    = `{"type":"message","role":"developer","content":[{"type":"input_text","text":"You are"}]},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nbe kind\n</INSTRUCTIONS>"},{"type":"input_text","text":"<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"}]}`
)

func codexUser(text string) string {
	return fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text)
}

func TestPlace(t *testing.T) {
	for _, tt := range []struct {
		name       string
		p          protocol
		body       string
		turn, step int
		prompts    []string
	}{
		{"claude, first request", anthropic{},
			`{"messages":[{"role":"user","content":[` + claudeReminders + `,{"type":"text","text":"Say hello"}]}]}`,
			0, 0, []string{"Say hello"}},
		{"claude, after a call", anthropic{},
			`{"messages":[{"role":"user","content":[` + claudeReminders + `,{"type":"text","text":"Say hello"}]},
			{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"mcp__s__echo","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r"}]}]}]}`,
			0, 1, []string{"Say hello"}},
		{"claude, a reminder beside the result", anthropic{},
			`{"messages":[{"role":"user","content":"Say hello"},
			{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"x","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"},{"type":"text","text":"<system-reminder>\nThe user sent a new message while you were working:\nmore\n</system-reminder>"}]}]}`,
			0, 1, []string{"Say hello"}},
		{"claude, parallel calls answered in one message", anthropic{},
			`{"messages":[{"role":"user","content":"Say hello"},
			{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"x","input":{}},{"type":"tool_use","id":"t2","name":"x","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"r"},{"type":"tool_result","tool_use_id":"t1","content":"r"}]}]}`,
			0, 1, []string{"Say hello"}},
		{"claude, resumed, second turn", anthropic{},
			`{"messages":[{"role":"user","content":[` + claudeReminders + `,{"type":"text","text":"Say hello"}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"x","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]},
			{"role":"assistant","content":[{"type":"text","text":"done"}]},
			{"role":"user","content":"Again"},
			{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"x","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"r"}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"t3","name":"x","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":"r"}]}]}`,
			1, 2, []string{"Say hello", "Again"}},
		{"claude, asked to go on after the output limit", anthropic{},
			`{"messages":[{"role":"user","content":"Say hello"},{"role":"assistant","content":[{"type":"text","text":"cut"}]},
			{"role":"user","content":"Output token limit hit. Resume directly — no apology"}]}`,
			0, 0, []string{"Say hello"}},
		{"claude, two texts at once are one prompt", anthropic{},
			`{"messages":[{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},{"role":"user","content":"three"}]}`,
			0, 0, []string{"one\ntwo\nthree"}},
		{"codex, first request", responses{}, `{"input":[` + codexContext + `,` + codexUser("Say hello") + `]}`, 0, 0, []string{"Say hello"}},
		{"codex, parallel calls, results after both", responses{}, `{"input":[` + codexContext + `,` + codexUser("Say hello") + `,
			{"type":"function_call","call_id":"c1","name":"echo","namespace":"mcp__s","arguments":"{}"},
			{"type":"function_call","call_id":"c2","name":"echo","namespace":"mcp__s","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":"r"},
			{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"r"}]}]}`,
			0, 1, []string{"Say hello"}},
		{"codex, parallel calls of ours, each result after its call", responses{}, `{"input":[` + codexUser("Say hello") + `,
			{"type":"function_call","call_id":"call_aaaaaaaaaaaaaaaaaaaa00","name":"echo","arguments":"{}"},
			{"type":"function_call_output","call_id":"call_aaaaaaaaaaaaaaaaaaaa00","output":"r"},
			{"type":"function_call","call_id":"call_aaaaaaaaaaaaaaaaaaaa01","name":"echo","arguments":"{}"},
			{"type":"function_call_output","call_id":"call_aaaaaaaaaaaaaaaaaaaa01","output":"r"}]}`,
			0, 1, []string{"Say hello"}},
		{"codex, two rounds with reasoning, then a new turn", responses{}, `{"input":[` + codexContext + `,` + codexUser("Say hello") + `,
			{"type":"reasoning","summary":[]},
			{"type":"function_call","call_id":"c1","name":"echo","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":"r"},
			{"type":"reasoning","summary":[]},
			{"type":"custom_tool_call","call_id":"c2","name":"exec","input":"x"},
			{"type":"custom_tool_call_output","call_id":"c2","output":"r"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]},` + codexUser("Again") + `]}`,
			1, 0, []string{"Say hello", "Again"}},
		{"responses, input is a string", responses{}, `{"input":"Say hello"}`, 0, 0, []string{"Say hello"}},
		{"chat, after parallel calls, second turn", chat{},
			`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"Say hello"},{"role":"assistant","content":"ok"},
			{"role":"user","content":[{"type":"text","text":"Again"}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"x","arguments":"{}"}},{"id":"c2","function":{"name":"x","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"tool","tool_call_id":"c2","content":"r"}]}`,
			1, 1, []string{"Say hello", "Again"}},
		{"a result whose call was left out", chat{},
			`{"messages":[{"role":"tool","tool_call_id":"gone","content":"r"}]}`, 0, 1, []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := tt.p.decode([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if turn, step := req.talk.place(); turn != tt.turn || step != tt.step {
				t.Errorf("place() = %d, %d; want %d, %d", turn, step, tt.turn, tt.step)
			}
			var prompts []string
			for _, u := range req.talk.turns {
				prompts = append(prompts, u.prompt)
			}
			if got, want := strings.Join(prompts, "|"), strings.Join(tt.prompts, "|"); got != want {
				t.Errorf("prompts %q; want %q", got, want)
			}
		})
	}
}

func TestOwnWords(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"hello", "hello"},
		{"<system-reminder>\nx\n</system-reminder>\nhello<system-reminder>y</system-reminder>", "hello"},
		{"<environment_context>\n<cwd>/x</cwd>\n</environment_context>", ""},
		{"<turn_aborted>\nx\n</turn_aborted>", ""},
		{"[Request interrupted by user]", ""},
		{"<task>make a site</task>", "<task>make a site</task>"},
		{"<environment_context> is a tag, is it not?", "<environment_context> is a tag, is it not?"},
	} {
		if got := ownWords(tt.text); got != tt.want {
			t.Errorf("ownWords(%q) = %q; want %q", tt.text, got, tt.want)
		}
	}
}

// Hosts write the results of parallel calls as they come in; the script counts calls.
func TestResultsAreInTheOrderOfTheCalls(t *testing.T) {
	var c conversation
	c.user("go")
	c.call("a", toolName{name: "x"})
	c.call("b", toolName{name: "y"})
	c.result("b", []string{"of b"}, false)
	c.result("a", []string{"of a"}, false)
	for nth, want := range map[int]string{1: "of a", 2: "of b", -1: "of b", -2: "of a"} {
		r, err := c.find("", nth)
		if err != nil || r.text() != want {
			t.Errorf("find(%d) = %q, %v; want %q", nth, r.text(), err, want)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, tt := range []struct {
		p          protocol
		body, want string
	}{
		{anthropic{}, `{"messages":[]}`, "messages: at least one message is required"},
		{anthropic{}, `{"messages":[{"role":"user","content":7}]}`, "messages.0.content: json: cannot unmarshal number"},
		{anthropic{}, `{`, "unexpected end of JSON input"},
		{responses{}, `{"input":[]}`, "input: at least one item is required"},
		{responses{}, `{"input":{}}`, "input: json: cannot unmarshal object"},
		{responses{}, `{"input":[{"type":"message","role":"user","content":7}]}`, "input[0]: json: cannot unmarshal number"},
		{chat{}, `{"messages":[]}`, "messages: at least one message is required"},
		{chat{}, `{"messages":[{"role":"user","content":{}}]}`, "messages[0].content: json: cannot unmarshal object"},
	} {
		_, err := tt.p.decode([]byte(tt.body))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s decode(%s): %v; want %s", tt.p.name(), tt.body, err, tt.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, p := range apis() {
		f.Add([]byte(p.body(true, "go")))
	}
	f.Add([]byte(`{"messages":[{"role":"tool","tool_call_id":"gone","content":[{"text":"{\"a\":1}"}]}],"input":[{"type":"function_call_output","output":"x"}]}`))
	one := Library().scenario("one-call")
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, p := range []protocol{anthropic{}, responses{}, chat{}} {
			req, err := p.decode(body)
			if err != nil {
				continue
			}
			if turn, step := req.talk.place(); turn < 0 || step < 0 || step > len(req.talk.results) {
				t.Errorf("place() = %d, %d with %d results", turn, step, len(req.talk.results))
			}
			a := one.answer(req, "", &hits{})
			if len(p.events(&a.reply)) < 3 {
				t.Errorf("%s: a stream of %v", p.name(), p.events(&a.reply))
			}
			compact(p.whole(&a.reply))
		}
	})
}
