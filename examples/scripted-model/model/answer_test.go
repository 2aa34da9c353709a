package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// told is a request in which two tools have answered.
func told(t *testing.T) *request {
	t.Helper()
	req, err := responses{}.decode([]byte(`{"model": "m", "input": [
		{"type":"message","role":"user","content":"Build http://127.0.0.1:9/site and say hello"},
		{"type":"function_call","call_id":"c1","name":"site_create","namespace":"mcp__web","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":"Wall time: 0.0041 seconds\nOutput:\n{\"id\":12345678901234567890,\"pages\":[{\"a/b\":\"home\"}],\"ok\":true}"},
		{"type":"function_call","call_id":"c2","name":"echo","namespace":"mcp__web","arguments":"{}"},
		{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"Wall time: 0.1 seconds\nOutput:"},{"type":"input_text","text":"Echo: first"}]},
		{"type":"function_call","call_id":"c3","name":"echo","namespace":"mcp__web","arguments":"{}"},
		{"type":"function_call_output","call_id":"c3","output":"Echo: second"}],
		"tools":[{"type":"namespace","name":"mcp__web","tools":[{"type":"function","name":"site_create"},{"type":"function","name":"echo"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestValues(t *testing.T) {
	req := told(t)
	for _, tt := range []struct{ value, want string }{
		{`"plain"`, `"plain"`},
		{`{"a": [1, {"b": null}], "n": 1e400}`, `{"a":[1,{"b":null}],"n":1e400}`},
		{`{"$literal": {"$result": 1}}`, `{"$result":1}`},
		{`{"$result": {"call": "site_create", "path": "/structuredContent/id"}}`, `12345678901234567890`},
		{`{"$result": {"call": "site-create", "path": "/structuredContent/pages/0/a~1b"}}`, `"home"`},
		{`{"$result": {"call": 1, "path": "/structuredContent/ok"}}`, `true`},
		{`{"$result": {"call": 1, "path": "/isError"}}`, `false`},
		{`{"$result": {"call": -1}}`, `"Echo: second"`},
		{`{"$result": {"call": "echo"}}`, `"Echo: second"`},
		{`{"$result": {"call": "echo", "nth": 1}}`, `"Echo: first"`},
		{`{"$result": {"call": "echo", "nth": -2, "path": "/content/0/text"}}`, `"Echo: first"`},
		{`{"$result": {"call": -1, "regex": "Echo: (\\w+)"}}`, `"second"`},
		{`{"$result": {"call": -1, "regex": "E\\w+"}}`, `"Echo"`},
		{`{"$result": {"call": 1, "path": "/structuredContent/id", "regex": "90$"}}`, `"90"`},
		{`{"$result": {"call": "nothing", "default": {"$prompt": {"regex": "http://\\S+"}}}}`, `"http://127.0.0.1:9/site"`},
		{`{"$prompt": {}}`, `"Build http://127.0.0.1:9/site and say hello"`},
		{`{"$prompt": {"turn": 1, "regex": "say (\\w+)"}}`, `"hello"`},
		{`{"$concat": ["site ", {"$result": {"call": 1, "path": "/structuredContent/id"}}, " <", {"$result": {"call": 1, "path": "/structuredContent/pages"}}, ">"]}`, `"site 12345678901234567890 <[{\"a/b\":\"home\"}]>"`},
		{`{"$result": {"call": 7}}`, `error: no result 7 of any tool: there are 3`},
		{`{"$result": {"call": "echo", "nth": -3}}`, `error: no result -3 of the tool echo: there are 2`},
		{`{"$result": {"call": 1, "path": "/structuredContent/pages/1"}}`, `error: result of mcp__web__site_create: nothing at /structuredContent/pages/1`},
		{`{"$result": {"call": -1, "path": "/structuredContent"}}`, `error: result of mcp__web__echo: nothing at /structuredContent`},
		{`{"$result": {"call": -1, "regex": "x+"}}`, `error: "x+" does not match the result of mcp__web__echo`},
		{`{"$prompt": {"turn": 2}}`, `error: turn 2 has no prompt yet`},
	} {
		c := &checker{src: []byte(tt.value)}
		n, err := parseNode(c.src)
		if err != nil {
			t.Fatal(err)
		}
		v := c.value(n, "")
		if err := c.err(); err != nil {
			t.Errorf("%s: %v", tt.value, err)
			continue
		}
		got, err := v.eval(&req.talk)
		out := ""
		if err != nil {
			out = "error: " + err.Error()
		} else {
			out = string(compact(got))
		}
		if out != tt.want {
			t.Errorf("%s = %s; want %s", tt.value, out, tt.want)
		}
	}
}

func TestOffered(t *testing.T) {
	claude := []tool{{toolName: toolName{name: "Bash"}}, {toolName: toolName{name: "mcp__a__page-create"}}, {toolName: toolName{name: "mcp__b__page-create"}}, {toolName: toolName{name: "mcp__a__pages_list"}}, {toolName: toolName{name: "mcp__b__x_y"}}}
	codex := []tool{{toolName: toolName{name: "list_mcp_resources"}}, {toolName: toolName{"mcp__my_a", "page_create"}}, {toolName: toolName{"mcp__my_a", "get_it"}}}
	plain := []tool{{toolName: toolName{name: "a_echo"}}, {toolName: toolName{name: "echo"}}, {toolName: toolName{name: "a_delete_list"}}}
	for _, tt := range []struct {
		name  string
		tools []tool
		call  call
		want  string
	}{
		{"bare", claude, call{tool: "pages_list"}, "mcp__a__pages_list"},
		{"another spelling", claude, call{tool: "pages.list"}, "mcp__a__pages_list"},
		{"a host's own", claude, call{tool: "Bash"}, "Bash"},
		{"whole name", claude, call{tool: "mcp__b__page-create"}, "mcp__b__page-create"},
		{"of a server", claude, call{tool: "page-create", server: "b"}, "mcp__b__page-create"},
		{"not a part of a name", claude, call{tool: "y"}, "error: the tool y is not offered; offered: Bash, mcp__a__page-create, mcp__b__page-create, mcp__a__pages_list, mcp__b__x_y"},
		{"of two servers", claude, call{tool: "page-create"}, "error: the tool page-create is offered by several servers (mcp__a__page-create, mcp__b__page-create); name the server"},
		{"of another server", claude, call{tool: "pages_list", server: "b"}, "error: the tool pages_list of the server b is not offered; offered: Bash, mcp__a__page-create, mcp__b__page-create, mcp__a__pages_list, mcp__b__x_y"},
		{"namespace", codex, call{tool: "page-create"}, "mcp__my_a__page_create"},
		{"namespace of a server", codex, call{tool: "page.create", server: "my-a"}, "mcp__my_a__page_create"},
		{"exact before prefixed", plain, call{tool: "echo"}, "echo"},
		{"prefixed by the server", plain, call{tool: "echo", server: "a"}, "a_echo"},
		{"picked among MCP tools first", codex, call{pick: pickReadOnly, nth: 1}, "mcp__my_a__get_it"},
		{"picked, beginning anew", claude, call{pick: pickReadOnly, nth: 3}, "mcp__a__pages_list"},
		{"picked, any", claude, call{pick: pickAny, nth: 2}, "mcp__b__page-create"},
		{"picked among a host's own", plain, call{pick: pickReadOnly, nth: 2}, "echo"},
		{"picked of none", nil, call{pick: pickReadOnly, nth: 1}, "error: no tool that looks read-only is offered; the request offers no tools"},
		{"any of none", nil, call{pick: pickAny, nth: 1}, "error: no tool is offered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := offered(tt.tools, tt.call)
			out := got.String()
			if err != nil {
				out = "error: " + err.Error()
			}
			if out != tt.want {
				t.Errorf("%s; want %s", out, tt.want)
			}
		})
	}
}

func TestLooksReadOnly(t *testing.T) {
	for name, want := range map[string]bool{
		"echo": true, "get-sum": true, "pages_list": true, "read_file": true, "searchPages": false,
		"list_and_delete": false, "collections_create": false, "designer_open": false, "update_status": false, "": false,
	} {
		if got := looksReadOnly(name); got != want {
			t.Errorf("looksReadOnly(%q) = %v; want %v", name, got, want)
		}
	}
}

func TestFill(t *testing.T) {
	schema := `{"type":"object","required":["s","e","n","i","b","o","l","u","f","m","d","c","missing"],"properties":{
		"s":{"type":"string"},"e":{"enum":["x","y"]},"n":{"type":"number","minimum":2.5},"i":{"type":["integer","null"]},"b":{"type":"boolean"},
		"o":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}},"l":{"type":"array","minItems":2,"items":{"type":"integer"}},
		"u":{"type":"string","format":"uri"},"f":{"anyOf":[{"type":"null"},{"type":"string"}]},"m":{"type":"string"},"d":{"default":[1]},"c":{"const":"k"},
		"optional":{"type":"string"}}}`
	args := map[string]any{"m": "mine"}
	fill(json.RawMessage(schema), args)
	want := `{"b":false,"c":"k","d":[1],"e":"x","f":null,"i":1,"l":[1,1],"m":"mine","missing":"example","n":2.5,"o":{"k":"example"},"s":"example","u":"https://example.com/"}`
	if got := string(compact(args)); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	args = map[string]any{}
	fill(json.RawMessage(`"nonsense"`), args)
	if len(args) != 0 {
		t.Errorf("filled from nonsense: %v", args)
	}
}

// What a script cannot answer is said in the answer and in the log.
func TestProblems(t *testing.T) {
	const script = `{"scenarios": [{"name": "s", "turns": [{"steps": [
		{"calls": [{"tool": %q, "arguments": {"a": %s}}]}, {"text": "x"}]}]}]}`
	second := `{"input": [{"role": "user", "content": "one"}, {"role": "assistant", "content": "x"}, {"role": "user", "content": "two"}]}`
	third := `{"input": [{"role": "user", "content": "one"}, {"type": "function_call", "call_id": "a"}, {"type": "function_call_output", "call_id": "a"},
		{"type": "function_call", "call_id": "b"}, {"type": "function_call_output", "call_id": "b"}]}`
	first := `{"input": "one", "tools": [{"type": "function", "name": "echo"}]}`
	for _, tt := range []struct{ name, tool, arg, body, want string }{
		{"not offered", "site_create", `1`, first, "turn 1, step 1: call 1: the tool site_create is not offered; offered: echo"},
		{"no result", "echo", `{"$result": {"call": -1}}`, first, "turn 1, step 1: call 1: arguments: no result -1 of any tool: there are 0"},
		{"no such turn", "echo", `1`, second, "the script has no turn 2: it ends after turn 1"},
		{"no such step", "echo", `1`, third, "turn 1 has no step 3: it ends after step 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, fmt.Sprintf(script, tt.tool, tt.arg))
			body := read(t, post(t, srv.URL()+"/v1/responses", tt.body))
			if want := `"text":"scripted-model: scenario \"s\": ` + tt.want + `"`; !strings.Contains(body, want) {
				t.Errorf("%s; want in it %s", body, want)
			}
			if strings.Contains(body, "function_call") {
				t.Errorf("there is a call in %s", body)
			}
			if got := srv.Requests()[0].Problem; got != tt.want {
				t.Errorf("logged %q; want %q", got, tt.want)
			}
		})
	}
}

func TestAsIsAndRaw(t *testing.T) {
	srv := serve(t, `{"scenarios": [{"name": "s", "turns": [{"steps": [{"calls": [
		{"tool": "no_such_tool", "as_is": true, "arguments": {"x": 1}}, {"tool": "echo", "raw_arguments": "{\"message\": \"unterm"}]}]}]}]}`)
	for _, p := range apis() {
		body := read(t, post(t, srv.URL()+p.path, p.body(true, "go")))
		if !strings.Contains(body, `"name":"no_such_tool"`) || !strings.Contains(body, `{\"message\": \"unterm`) {
			t.Errorf("%s: %s", p.name, body)
		}
		whole := read(t, post(t, srv.URL()+p.path, p.body(false, "go")))
		if !json.Valid([]byte(whole)) || !strings.Contains(whole, `"no_such_tool"`) {
			t.Errorf("%s, not streamed: %s", p.name, whole)
		}
	}
}
