package model

import (
	"fmt"
	"strings"
	"testing"
)

// one wraps a step's fields into a whole script, which then begins at column 57 of line 1.
func one(step string) string {
	return `{"scenarios": [{"name": "s", "turns": [{"steps": [{` + step + `}]}]}]}`
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"not JSON", "{\n  \"scenarios\": [}", "2:17: invalid character '}' looking for beginning of value"},
		{"nothing", "", "1:1: unexpected end of JSON input"},
		{"two documents", `{} {}`, "1:4: invalid character '{' after top-level value"},
		{"not an object", `[]`, "1:1: want an object, found a list"},
		{"written twice", `{"default": "a", "default": "b"}`, `1:18: "default" is written twice`},
		{"no scenarios", `{}`, `1:1: "scenarios" is missing or empty`},
		{"unknown field", `{"scenario": []}`, `1:2: unknown field "scenario"; did you mean "scenarios"?`},
		{"wrong type", `{"scenarios": {}}`, `1:15: scenarios: want a list, found an object`},
		{"no name", `{"scenarios": [{"turns": [{"steps": [{"text": "x"}]}]}]}`, `1:16: scenarios[0]: "name" is missing`},
		{"bad name", `{"scenarios": [{"name": "A b", "turns": [{"steps": [{"text": "x"}]}]}]}`, `1:25: scenarios[0].name: want lower case letters`},
		{"reserved name", `{"scenarios": [{"name": "v1", "turns": [{"steps": [{"text": "x"}]}]}]}`, `1:25: scenarios[0].name: want lower case letters`},
		{"same name", `{"scenarios": [{"name": "a", "fault": {"kind": "hang"}},` + "\n" + `{"name": "a", "fault": {"kind": "hang"}}]}`, `2:1: scenarios[1]: a second scenario is named "a"`},
		{"bad default", `{"default": "one-cal", "scenarios": [{"name": "a", "fault": {"kind": "hang"}}]}`, `1:13: default: no scenario "one-cal"; did you mean "one-call"?`},
		{"no turns", `{"scenarios": [{"name": "a"}]}`, `1:16: scenarios[0]: "turns" is missing or empty, and no "fault" answers every request`},
		{"no turns behind a flaky fault", `{"scenarios": [{"name": "a", "fault": {"kind": "overloaded", "first": 1}}]}`, `1:16: scenarios[0]: "turns" is missing`},
		{"no steps", `{"scenarios": [{"name": "a", "turns": [{}]}]}`, `1:40: scenarios[0].turns[0]: "steps" is missing or empty`},
		{"empty rule", `{"scenarios": [{"name": "a", "match": {}, "fault": {"kind": "hang"}}]}`, `1:39: scenarios[0].match: want at least one of prompt_contains, prompt_matches, model`},
		{"bad regex", `{"scenarios": [{"name": "a", "match": {"prompt_matches": "("}, "fault": {"kind": "hang"}}]}`, "1:58: scenarios[0].match.prompt_matches: error parsing regexp: missing closing ): `(`"},
		{"a list of numbers", `{"scenarios": [{"name": "a", "match": {"prompt_contains": ["x", 7]}, "fault": {"kind": "hang"}}]}`, `1:65: scenarios[0].match.prompt_contains[1]: want a string, found a number`},
		{"turns after one that repeats", `{"scenarios": [{"name": "a", "turns": [{"repeat": true, "steps": [{"text": "x"}]}, {"steps": [{"text": "x"}]}]}]}`, `1:51: scenarios[0].turns[0].repeat: only the last turn can repeat`},
		{"steps after text", `{"scenarios": [{"name": "a", "turns": [{"steps": [{"text": "x"}, {"text": "y"}]}]}]}`, `1:51: scenarios[0].turns[0].steps[0]: a step without calls ends the turn`},
		{"steps after one that repeats", `{"scenarios": [{"name": "a", "turns": [{"steps": [{"calls": [{"tool": "x"}], "repeat": true}, {"text": "y"}]}]}]}`, `1:51: scenarios[0].turns[0].steps[0]: only the last step can repeat`},
		{"empty step", one(``), `1:51: scenarios[0].turns[0].steps[0]: want "text", "calls" or a "fault"`},
		{"text of a number", one(`"text": 7`), `steps[0].text: want a string, or a list of strings and references, found a number`},
		{"unknown stop", one(`"text": "x", "stop": "refused"`), `steps[0].stop: unknown value "refused"; did you mean "refusal"?`},
		{"stop with calls", one(`"stop": "refusal", "calls": [{"tool": "x"}]`), `steps[0].stop: goes with text only`},
		{"bad delay", one(`"text": "x", "delay_ms": -1`), `steps[0].delay_ms: want a whole number from 0 to 600000, found -1`},
		{"fraction", one(`"text": "x", "delay_ms": 1.5`), `steps[0].delay_ms: want a whole number from 0 to 600000, found 1.5`},
		{"usage", one(`"text": "x", "usage": {"output": 1, "reasoning": 2}`), `steps[0].usage: reasoning (2) is part of output (1)`},
		{"tool and pick", one(`"calls": [{"tool": "x", "pick": "any"}]`), `calls[0]: want either "tool" or "pick"`},
		{"neither tool nor pick", one(`"calls": [{}]`), `calls[0]: want either "tool" or "pick"`},
		{"misspelt tool", one(`"calls": [{"too": "x"}]`), `calls[0]: unknown field "too"; did you mean "tool"?`},
		{"unknown pick", one(`"calls": [{"pick": "readonly"}]`), `calls[0].pick: unknown value "readonly"; did you mean "read-only"?`},
		{"pick of a server", one(`"calls": [{"pick": "any", "server": "s"}]`), `calls[0]: "server" and "as_is" go with "tool"`},
		{"nth tool", one(`"calls": [{"tool": "x", "nth": 2}]`), `calls[0]: "nth" goes with "pick"`},
		{"two arguments", one(`"calls": [{"tool": "x", "arguments": {}, "raw_arguments": ""}]`), `calls[0]: want either "arguments" or "raw_arguments"`},
		{"fill of a tool that is not offered", one(`"calls": [{"tool": "x", "as_is": true, "fill": true}]`), `calls[0]: "fill" needs an offered tool`},
		{"arguments that are a list", one(`"calls": [{"tool": "x", "arguments": []}]`), `calls[0].arguments: want an object, found a list`},
		{"unknown reference", one(`"calls": [{"tool": "x", "arguments": {"a": {"$results": {}}}}]`), `calls[0].arguments.a: unknown reference "$results"; did you mean "$result"?; write {"$literal": ...}`},
		{"reference among others", one(`"calls": [{"tool": "x", "arguments": {"a": {"$result": {"call": 1}, "b": 1}}}]`), `calls[0].arguments.a: $result must be the only member of its object`},
		{"result of no call", one(`"text": {"$result": {}}`), `text.$result: "call" is missing: a tool's name, or -1 for the last call`},
		{"result of call 0", one(`"text": {"$result": {"call": 0}}`), `text.$result: calls count from 1, or from -1 for the last`},
		{"nth of a number", one(`"text": {"$result": {"call": 1, "nth": 2}}`), `text.$result: "nth" goes with a tool's name in "call"`},
		{"bad pointer", one(`"text": {"$result": {"call": 1, "path": "id"}}`), `text.$result.path: a JSON pointer begins with "/"`},
		{"concat of a string", one(`"text": {"$concat": "x"}`), `text.$concat: want a list, found a string`},
		{"bad turn of a prompt", one(`"text": {"$prompt": {"turn": 0}}`), `text.$prompt.turn: want a whole number from 1 to 1000, found 0`},
		{"no kind", one(`"text": "x", "fault": {}`), `fault: "kind" is missing; want bad_gateway, bad_request, billing,`},
		{"unknown kind", one(`"text": "x", "fault": {"kind": "overload"}`), `fault.kind: unknown value "overload"; did you mean "overloaded"?`},
		{"http without a status", one(`"text": "x", "fault": {"kind": "http"}`), `fault: the kind "http" needs a "status"`},
		{"status of a reset", one(`"text": "x", "fault": {"kind": "reset", "status": 500}`), `fault: "status" and "retry_after" go with kinds that answer with an HTTP error`},
		{"message of a reset", one(`"text": "x", "fault": {"kind": "reset", "message": "x"}`), `fault: "message", "type" and "code" go with kinds that say an error`},
		{"per without first", one(`"text": "x", "fault": {"kind": "reset", "per": "session"}`), `fault: "per" goes with "first"`},
		{"status of success", one(`"text": "x", "fault": {"kind": "http", "status": 200}`), `fault.status: want a whole number from 400 to 599, found 200`},
		{"header", one(`"text": "x", "fault": {"kind": "overloaded", "headers": {"a b": "c"}}`), `fault.headers: want a header's name and its value as a string, found "a b"`},
		{"header with a line break", one(`"text": "x", "fault": {"kind": "overloaded", "headers": {"a": "b\nc"}}`), `fault.headers: want a header's name`},
		{"too deep", one(`"text": ` + strings.Repeat("[", 70) + strings.Repeat("]", 70)), `nested deeper than 64`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.src))
			if err == nil {
				t.Fatalf("no error; want %s", tt.want)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v; want in it %s", err, tt.want)
			}
		})
	}
}

// All that is wrong is said at once, each with its place.
func TestParseReportsAll(t *testing.T) {
	_, err := Parse([]byte("{\n \"scenarios\": [\n  {\"name\": \"a\", \"turn\": []},\n  {\"nam\": \"b\", \"turns\": [{\"steps\": [{\"txt\": \"x\"}]}]}\n ]\n}"))
	want := strings.Join([]string{
		`3:17: scenarios[0]: unknown field "turn"; did you mean "turns"?`,
		`3:3: scenarios[0]: "turns" is missing or empty, and no "fault" answers every request`,
		`4:4: scenarios[1]: unknown field "nam"; did you mean "name"?`,
		`4:3: scenarios[1]: "name" is missing`,
		`4:38: scenarios[1].turns[0].steps[0]: unknown field "txt"; did you mean "text"?`,
		`4:37: scenarios[1].turns[0].steps[0]: want "text", "calls" or a "fault" that answers every request`,
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

func TestParseBounds(t *testing.T) {
	if _, err := Parse(make([]byte, maxScript+1)); err == nil || err.Error() != "script is longer than 4194304 bytes" {
		t.Errorf("too long: %v", err)
	}
	many := strings.Repeat(`{"text": 1},`, 50)
	_, err := Parse([]byte(`{"scenarios": [{"name": "s", "turns": [{"steps": [` + strings.TrimSuffix(many, ",") + `]}]}]}`))
	if err == nil || strings.Count(err.Error(), "\n")+1 != maxProblems {
		t.Errorf("%v; want %d problems", err, maxProblems)
	}
}

func TestParseAddsTheLibrary(t *testing.T) {
	s, err := Parse([]byte(`{"scenarios": [{"name": "mine", "fault": {"kind": "hang"}}, {"name": "text", "about": "my own", "fault": {"kind": "hang"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	list := s.Scenarios()
	if got, want := list[0].Name+" "+list[1].About, "mine my own"; got != want {
		t.Errorf("first two %q; want %q", got, want)
	}
	if got, want := len(list), len(Library().Scenarios())+1; got != want {
		t.Errorf("%d scenarios; want %d", got, want)
	}
	if s.scenario("auth-401") == nil {
		t.Error("no scenario auth-401 of the library")
	}
}

func TestUsageIsInherited(t *testing.T) {
	s, err := Parse([]byte(`{"usage": {"input": 1}, "scenarios": [{"name": "a", "usage": {"output": 9}, "turns": [{"steps": [
		{"calls": [{"tool": "x"}]}, {"text": "x", "usage": {"reasoning": 2, "cache_read": 0}}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	steps := s.scenario("a").turns[0].steps
	if got, want := steps[0].usage, (Usage{Input: 1, CacheRead: 1000, CacheWrite: 50, Output: 9, Reasoning: 8}); got != want {
		t.Errorf("first step %+v; want %+v", got, want)
	}
	if got, want := steps[1].usage, (Usage{Input: 1, CacheRead: 0, CacheWrite: 50, Output: 9, Reasoning: 2}); got != want {
		t.Errorf("second step %+v; want %+v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(`{"default":"a","api_key":"k","scenarios":[{"name":"a","match":{"prompt_contains":["x"],"prompt_matches":"y+","model":"m"},
		"fault":{"kind":"http","status":418,"headers":{"a":"b"},"first":2,"per":"session"},"turns":[{"steps":[{"text":["a",{"$result":{"call":"x","nth":-1,"path":"/a/0","regex":"(b)","default":{"$literal":{"$x":1}}}}],
		"calls":[{"tool":"x","server":"s","arguments":{"a":{"$concat":["1",{"$prompt":{"regex":"a","turn":1}}]}},"fill":true},{"pick":"any","nth":2},{"tool":"y","as_is":true,"raw_arguments":"{"}]},{"text":"e"}]}]}]}`))
	body := []byte(apis()[1].body(true, "go x y"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := Parse(src)
		if s == nil && err == nil {
			t.Fatal("neither a script nor an error")
		}
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an empty error")
			}
			return
		}
		req, err := responses{}.decode(body)
		if err != nil {
			t.Fatal(err)
		}
		for _, sc := range s.scenarios {
			a := sc.answer(req, "", &hits{})
			if a.fault == nil && a.reply.text == "" && len(a.reply.calls) == 0 && a.reply.reasoning == "" && len(sc.turns[0].steps) == 0 {
				t.Errorf("scenario %q says nothing", sc.name)
			}
			_ = fmt.Sprint(responses{}.events(&a.reply))
		}
	})
}
