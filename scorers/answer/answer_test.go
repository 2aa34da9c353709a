package main

import (
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

func TestAnswer(t *testing.T) {
	published := "I have published  the\nsite “Caffè”."
	tests := []struct{ answer, scorer, params, verdict, reason string }{
		{published, "contains", `{"value":"published"}`, "pass", `the answer contains "published"`},
		{published, "contains", `{"value":"Published"}`, "fail", `the answer does not contain "Published"`},
		{published, "contains", `{"value":"PUBLISHED","ignore_case":true}`, "pass", `the answer contains "PUBLISHED"`},
		{published, "contains", `{"value":"CAFFÈ","ignore_case":true}`, "pass", `the answer contains "CAFFÈ"`},
		{published, "contains", `{"value":"published the site"}`, "fail", `the answer does not contain "published the site"`},
		{published, "contains", `{"value":"published the site","collapse_space":true}`, "pass", `the answer contains "published the site"`},
		{published, "contains", `{"values":["site","page"]}`, "fail", `the answer does not contain "page"`},
		{published, "contains", `{"values":["site","page"],"mode":"any"}`, "pass", `the answer contains "site"`},
		{published, "contains", `{"value":"a","values":["b","c","d","zz","q","r","x"]}`, "fail", `the answer does not contain "c", "zz", "q", "r", "x"`},
		{published, "contains", `{}`, "error", "give value or values"},
		{published, "contains", `{"value":""}`, "error", "an empty text is in every answer"},
		{"", "contains", `{"value":"x"}`, "fail", "the agent gave no answer"},
		{"Kelvin \u212a ſ", "contains", `{"value":"k S","ignore_case":true}`, "pass", `the answer contains "k S"`},
		{"nul \x00 and half \xed\xa0\xbd", "contains", `{"value":"\u0000 and"}`, "pass", `the answer contains "  and"`},

		{published, "not_contains", `{"value":"error"}`, "pass", `the answer does not contain "error"`},
		{published, "not_contains", `{"values":["error","site"]}`, "fail", `the answer contains "site"`},
		{"", "not_contains", `{"value":"x"}`, "pass", `the answer does not contain "x"`},

		{" 42\n", "equals", `{"value":"42"}`, "pass", `the answer is "42"`},
		{"42.", "equals", `{"value":"42"}`, "fail", `the answer is "42.", want "42"`},
		{"Yes  please", "equals", `{"value":"yes please","ignore_case":true,"collapse_space":true}`, "pass", `the answer is "yes please"`},
		{"", "equals", `{"value":"42"}`, "fail", "the agent gave no answer"},
		{"", "equals", `{"value":""}`, "pass", `the answer is ""`},

		{published, "matches", `{"pattern":"publ\\w+"}`, "pass", `the answer has "published"`},
		{published, "matches", `{"pattern":"^site"}`, "fail", "nothing in the answer matches ^site"},
		{published, "matches", `{"pattern":"^SITE","flags":"im"}`, "pass", `the answer has "site"`},
		{published, "matches", `{"pattern":"the.site","flags":"s"}`, "pass", `the answer has "the site"`},
		{published, "matches", `{"pattern":"x","flags":"g"}`, "error", "flags are any of i, m and s"},
		{published, "matches", `{"pattern":"("}`, "error", "pattern: error parsing regexp: missing closing ): `(`"},
		{"", "matches", `{"pattern":"x"}`, "fail", "the agent gave no answer"},
		{strings.Repeat("a", 100_000), "matches", `{"pattern":"(a*)*b"}`, "fail", "nothing in the answer matches (a*)*b"},
	}
	for _, tt := range tests {
		out := scorertest.One(t, eval.ScoreInput{Answer: tt.answer}, tt.scorer, tt.params)
		verdict, reason, _ := steptest.Sum(out)
		if verdict != tt.verdict || reason != tt.reason {
			t.Errorf("%s %s of %.40q\n got %s %q\nwant %s %q", tt.scorer, tt.params, tt.answer, verdict, reason, tt.verdict, tt.reason)
		}
	}
}

func TestJSON(t *testing.T) {
	judged := "I looked at {hero, footer}. Here: ```json\n{\"score\":4,\"findings\":[{\"text\":\"uses { braces }\"}]}\n``` Note {\"score\":1} is the minimum."
	tests := []struct{ name, answer, params, verdict, reason string }{
		{"whole answer", ` {"a":[1,2,3]} `, `{"value":{"a":[1,3]}}`, "pass", "the answer's JSON matches"},
		{"byte order mark", "\ufeff{\"a\":1}", `{"value":{"a":1},"match":"exact"}`, "pass", "the answer's JSON matches"},
		{"scalar", `42`, `{"value":42,"match":"exact"}`, "pass", "the answer's JSON matches"},
		{"mismatch", `{"a":[1,2]}`, `{"pointer":"/a/1","value":3}`, "fail", "the answer's JSON: got 2, want 3"},
		{"nothing there", `{"a":1}`, `{"pointer":"/b","match":"exists"}`, "fail", "the answer's JSON: nothing at /b"},
		{"exists", `{"a":null}`, `{"pointer":"/a","match":"exists"}`, "pass", "the answer's JSON matches"},
		{"schema", `{"n":0}`, `{"match":"schema","value":{"properties":{"n":{"minimum":1}}}}`, "fail", "the answer's JSON: at /n got 0, want minimum 1"},
		{"fenced among braces", judged, `{"pointer":"/score","value":4,"match":"exact"}`, "pass", "the answer's JSON matches"},
		{"fence without label", "So:\n```\n{\"a\":1}\n```\nDone.", `{"value":{"a":1}}`, "pass", "the answer's JSON matches"},
		{"other fences", "```bash\nls {}\n```\n```JSON\n[1]\n```", `{"value":[1]}`, "pass", "the answer's JSON matches"},
		{"no label, no JSON", "```\nls\n```\n```json\n[1]\n```", `{"value":[1]}`, "pass", "the answer's JSON matches"},
		{"on one line", "```json {\"a\":1}``` ok", `{"value":{"a":1}}`, "pass", "the answer's JSON matches"},
		{"fence inside the text", "```json\n{\"code\":\"```js\\nx\\n```\"}\n```", `{"pointer":"/code","match":"contains","value":"js"}`, "pass", "the answer's JSON matches"},
		{"four marks", "````json\n{\"code\":\"```\"}\n````", `{"pointer":"/code","value":"` + "```" + `"}`, "pass", "the answer's JSON matches"},
		{"without an end", "```json\n{\"a\":1}", `{"value":{"a":1}}`, "pass", "the answer's JSON matches"},
		{"two blocks", "```json\n{\"a\":1}\n```\n```json\n{\"a\":2}\n```", `{"value":{"a":1}}`, "error", "the answer has 2 fenced blocks of JSON: which one is meant?"},
		{"labelled and not", "```\n{\"a\":1}\n```\n```json\n{\"a\":\n```", `{"value":{"a":1}}`, "error", "the answer has 2 fenced blocks of JSON: which one is meant?"},
		{"broken block", "```json\n{\"a\":\n```", `{"value":{"a":1}}`, "fail", `the fenced block of the answer is not JSON:  {"a": `},
		{"in a sentence", `The result is {"a":1}.`, `{"value":{"a":1}}`, "fail", "the answer is not JSON and has no fenced block of it"},
		{"none", "", `{"value":{"a":1}}`, "fail", "the agent gave no answer"},
		{"deep", strings.Repeat("[", 9000) + strings.Repeat("]", 9000), `{"value":[]}`, "pass", "the answer's JSON matches"},
		{"too deep", strings.Repeat("[", 20_000), `{"value":[]}`, "fail", "the answer is not JSON and has no fenced block of it"},
		{"bad pointer", `{}`, `{"pointer":"a"}`, "error", "a JSON pointer is empty or begins with /, and holds ~ as ~0 and / as ~1"},
	}
	for _, tt := range tests {
		out := scorertest.One(t, eval.ScoreInput{Answer: tt.answer}, "json", tt.params)
		verdict, reason, _ := steptest.Sum(out)
		if verdict != tt.verdict || reason != tt.reason {
			t.Errorf("%s\n got %s %q\nwant %s %q", tt.name, verdict, reason, tt.verdict, tt.reason)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("```json\n{\"a\":1}\n``` and ```\n[]\n```")
	f.Add("`````\n{\"a\":\"```\"}````")
	f.Fuzz(func(t *testing.T, answer string) {
		v, problem, err := extract(answer)
		if v.Exists() && (problem != "" || err != nil) || !v.Exists() && problem == "" && err == nil {
			t.Errorf("extract(%q) = %v, %q, %v", answer, v.Exists(), problem, err)
		}
		n := normaliser{ignoreCase: true, collapse: true}
		if once := n.apply(answer); n.apply(once) != once {
			t.Errorf("normalising %q twice is not normalising it once", answer)
		}
	})
}
