package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// saved is what the tests' references point into.
const result = `{
  "structuredContent": {"id": 12345678901234567890, "a/b": {"~": "odd"}, "ok": true, "none": null},
  "content": [{"type": "text", "text": "{\"items\":[{\"name\":\"Notes\",\"id\":\"n1\"},{\"name\":\"Recipes\",\"id\":\"r1\",\"n\":7}]}"}]
}`

func savedResult(t testing.TB) map[string]any {
	t.Helper()
	s := &session{saved: map[string]any{}}
	if err := s.save("made", []byte(result)); err != nil {
		t.Fatal(err)
	}
	return s.saved
}

func TestReferences(t *testing.T) {
	p := parser{saved: map[string]bool{"made": true}}
	for _, tt := range []struct{ in, want, err string }{
		{`{"a": 1.0, "b": [1,2]}`, `{"a": 1.0, "b": [1,2]}`, ""},
		{`{"id": {"$from": "made", "pointer": "/structuredContent/id"}}`, `{"id":12345678901234567890}`, ""},
		{`{"s": "id {{made/structuredContent/id}}!"}`, `{"s":"id 12345678901234567890!"}`, ""},
		{`{"s": "{{made/structuredContent/a~1b}}"}`, `{"s":"{\"~\":\"odd\"}"}`, ""},
		{`{"s": "{{made/structuredContent/a~1b/~0}}"}`, `{"s":"odd"}`, ""},
		{`{"s": ["{{made/content/0/text/items/1/id}}"]}`, `{"s":["r1"]}`, ""},
		{`{"s": "{{made/content/0/text/items/name=Recipes/n}}"}`, `{"s":"7"}`, ""},
		{`{"s": {"$from": "made", "pointer": "/content/0/text/items/n=7/id"}}`, `{"s":"r1"}`, ""},
		{`{"s": {"$from": "made", "pointer": "/structuredContent/none"}}`, `{"s":null}`, ""},
		{`{"s": "{{{{ {{made/structuredContent/ok}} }}"}`, `{"s":"{{ true }}"}`, ""},
		{`{"s": "{{made/structuredContent/nope}}"}`, "", "made/structuredContent/nope: not in the result"},
		{`{"s": "{{made/content/9}}"}`, "", "made/content/9: not in the result"},
		{`{"s": "{{made/content/-1}}"}`, "", "made/content/-1: not in the result"},
		{`{"s": "{{made/content/0/type/x}}"}`, "", "made/content/0/type/x: not in the result: the text is not JSON"},
		{`{"s": "{{made/structuredContent/ok/x}}"}`, "", "made/structuredContent/ok/x: not in the result"},
		{`{"s": "{{made/content/0/text/items/name=None}}"}`, "", "made/content/0/text/items/name=None: not in the result"},
	} {
		v, err := p.value(json.RawMessage(tt.in), "arguments")
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		got, err := v.render(savedResult(t))
		if words(err) != tt.err || (err == nil && string(got) != tt.want) {
			t.Errorf("%s = %s, %v; want %s, %s", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestWholeResult(t *testing.T) {
	p := parser{saved: map[string]bool{"made": true}}
	for _, in := range []string{`"{{made}}"`, `{"$from": "made"}`} {
		v, err := p.value(json.RawMessage(in), "x")
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.render(savedResult(t))
		if err != nil || !strings.Contains(string(got), "structuredContent") {
			t.Errorf("%s = %s, %v; want the whole result", in, got, err)
		}
	}
}

func TestBadScripts(t *testing.T) {
	for in, want := range map[string]string{
		``:                               `the JSON ends too early`,
		`{`:                              `the JSON ends too early`,
		"{\n\"turns\": [}":               `line 2: invalid character '}' looking for beginning of value`,
		`{} {}`:                          `something follows the JSON value`,
		`{"turns":[]}`:                   `turns: there must be at least one`,
		`{"turns":{}}`:                   `turns: want a list, not object`,
		`[]`:                             `want an object, not array`,
		`{"turns":[{"answer":1}]}`:       `turns[0]: answer: want a string, not number`,
		`{"turn":[]}`:                    `unknown field "turn"`,
		`{"turns":[{"stesp":[]}]}`:       `turns[0]: unknown field "stesp"`,
		`{"turns":[{"steps":[{}]}]}`:     `turns[0].steps[0]: has 0 of call, parallel, say, reason, fail, fault and hang; want one`,
		`{"turns":[{"answer":"{{x}}"}]}`: `turns[0].answer: "x" is not the save of an earlier step`,
		`{"turns":[{"answer":"a"}],"answer":"b"}`:                                                                                      `answer: the last turn has one already`,
		`{"turns":[{"steps":[{"say":"a","reason":"b"}]}]}`:                                                                             `turns[0].steps[0]: has 2 of call`,
		`{"turns":[{"steps":[{"call":{}}]}]}`:                                                                                          `turns[0].steps[0].call: tool is missing`,
		`{"turns":[{"steps":[{"call":{"tool":"t","args":{}}}]}]}`:                                                                      `turns[0].steps[0].call: unknown field "args"`,
		`{"turns":[{"steps":[{"call":{"tool":"t","arguments":[1]}}]}]}`:                                                                `turns[0].steps[0].call.arguments: want an object`,
		`{"turns":[{"steps":[{"call":{"tool":"t","save":"a b"}}]}]}`:                                                                   `turns[0].steps[0].call.save: "a b" is not a name`,
		`{"turns":[{"steps":[{"parallel":[]}]}]}`:                                                                                      `turns[0].steps[0].parallel: there must be at least one call`,
		`{"turns":[{"steps":[{"parallel":[{"tool":"t","save":"a"},{"tool":"u","arguments":{"x":"{{a}}"}}]}]}]}`:                        `turns[0].steps[0].parallel[1].arguments.x: "a" is not the save of an earlier step`,
		`{"turns":[{"steps":[{"call":{"tool":"t","save":"a"}},{"say":"{{a.b}}"}]}]}`:                                                   `turns[0].steps[1].say: "a.b" is not the save`,
		`{"turns":[{"steps":[{"call":{"tool":"t","save":"a"}},{"call":{"tool":"t","arguments":{"x":[{"$from":"a","at":"/b"}]}}}]}]}`:   `turns[0].steps[1].call.arguments.x[0]: want {"$from": NAME, "pointer": POINTER} and nothing else`,
		`{"turns":[{"steps":[{"call":{"tool":"t","save":"a"}},{"call":{"tool":"t","arguments":{"x":{"$from":"a","pointer":"b"}}}}]}]}`: `pointer "b" does not begin with a slash`,
		`{"turns":[{"steps":[{"fail":{"outcome":"completed"}}]}]}`:                                                                     `turns[0].steps[0].fail.outcome: "completed" is not the outcome of a failure`,
		`{"turns":[{"steps":[{"fail":{"outcome":"refused"}},{"say":"x"}]}]}`:                                                           `turns[0].steps[0]: ends the turn, but steps follow`,
		`{"turns":[{"steps":[{"fault":{"cause":"auth"}}]}]}`:                                                                           `turns[0].steps[0].fault.retry: "" is none of trial, never and stop`,
		`{"turns":[{"steps":[{"fault":{"retry":"stop"}}]}]}`:                                                                           `turns[0].steps[0].fault: cause is missing`,
	} {
		_, err := parseScript([]byte(in))
		if !strings.Contains(words(err), want) {
			t.Errorf("parseScript(%s) error = %q; want %q", in, words(err), want)
		}
	}
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzParseScript(f *testing.F) {
	f.Add([]byte(`{"turns":[{"steps":[{"call":{"tool":"t","arguments":{"a":"{{"},"save":"made"}},{"say":"{{made/content/0/text/x}}"}]}]}`))
	f.Add([]byte(`{"turns":[{"steps":[{"parallel":[{"tool":"t","arguments":{"x":{"$from":"made","pointer":"/a~1"}}}]}]}],"answer":"{{{{"}`))
	saved := savedResult(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := parseScript(in)
		if err != nil {
			return
		}
		for _, turn := range s.turns {
			for _, st := range turn.steps {
				for _, c := range st.calls {
					if j, err := c.arguments.render(saved); err == nil && len(j) > 0 && !json.Valid(j) {
						t.Errorf("arguments %q are not JSON", j)
					}
				}
				if st.say != nil {
					_, _ = st.say.render(saved)
				}
			}
		}
	})
}
