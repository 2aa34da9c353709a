package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// row is one use of a scorer and what comes of it: pass, fail or error, with the
// reason and the evidence.
type row struct{ scorer, params, verdict, reason, evidence string }

func check(t *testing.T, before, after string, rows []row) {
	t.Helper()
	in := eval.ScoreInput{StateBefore: eval.JSON(before), State: eval.JSON(after)}
	for _, r := range rows {
		verdict, reason, evidence := steptest.Sum(scorertest.One(t, in, r.scorer, r.params))
		if got := (row{r.scorer, r.params, verdict, reason, evidence}); got != r {
			t.Errorf("got %q\nwant %q", got, r)
		}
	}
}

const (
	siteBefore = `{
		"collections": [{"name": "Blog", "fields": [], "items": 2}],
		"pages": [{"slug": "home", "title": "Home", "live": true}],
		"settings": {"lang": "en", "updated": 1}
	}`
	siteAfter = `{
		"collections": [{"name": "Blog", "fields": [], "items": 2},
			{"name": "Recipes", "fields": [{"slug": "title", "type": "text"}, {"slug": "time", "type": "number"}], "items": 1.0}],
		"pages": [{"title": "Home", "slug": "home", "live": true}],
		"settings": {"lang": "en", "updated": 2}
	}`
)

func TestValues(t *testing.T) {
	check(t, siteBefore, siteAfter, []row{
		{"exists", `{"query":"$.collections[?@.name=='Recipes']"}`, "pass", "$.collections[?@.name=='Recipes'] finds 1 value", "/collections/1"},
		{"exists", `{"query":"$.collections[?@.name=='Recipes']","of":"before"}`, "fail", "$.collections[?@.name=='Recipes'] finds nothing", ""},
		{"exists", `{"query":"/collections"}`, "error", `query "/collections", character 1: a query begins with $`, ""},
		{"exists", `{}`, "error", `parameter "query" is required`, ""},

		{"count", `{"query":"$.collections[*]","equals":2}`, "pass", "$.collections[*] finds 2 values", "/collections/0 /collections/1"},
		{"count", `{"query":"$.collections[*]","max":1}`, "fail", "$.collections[*] finds 2 values, want at most 1", "/collections/0 /collections/1"},
		{"count", `{"query":"$.nothing[*]","equals":0}`, "pass", "$.nothing[*] finds 0 values", ""},
		{"count", `{"query":"$","min":1,"equals":1}`, "error", "give equals, or min and max", ""},
		{"count", `{"query":"$"}`, "error", "give min or max or equals", ""},

		{"equals", `{"query":"$.settings.lang","value":"en"}`, "pass", "$.settings.lang fits", "/settings/lang"},
		{"equals", `{"query":"$.settings.lang","value":"de"}`, "fail", `$.settings.lang: got "en", want "de"`, "/settings/lang"},
		{"equals", `{"query":"$.settings","value":{"updated":2,"lang":"en"}}`, "pass", "$.settings fits", "/settings"},
		{"equals", `{"query":"$.settings","value":{"lang":"en"}}`, "fail", "$.settings: got 2 at /updated, want nothing", "/settings"},
		{"equals", `{"query":"$.collections[1].items","value":1}`, "pass", "$.collections[1].items fits", "/collections/1/items"},
		{"equals", `{"query":"$.collections[*].name","value":"Blog"}`, "fail", "$.collections[*].name finds 2 values, want one", "/collections/0/name /collections/1/name"},
		{"equals", `{"query":"$.collections[*].name","value":"Recipes","which":"any"}`, "pass", "$.collections[*].name fits", "/collections/1/name"},
		{"equals", `{"query":"$.collections[*].name","value":"News","which":"any"}`, "fail", `none of 2 values fits; $.collections[*].name: got "Blog", want "News"`, "/collections/0/name"},
		{"equals", `{"query":"$.collections[*].name","value":"Blog","which":"all"}`, "fail", `$.collections[*].name: got "Recipes", want "Blog"`, "/collections/1/name"},
		{"equals", `{"query":"$.pages[*].live","value":true,"which":"all"}`, "pass", "$.pages[*].live fits", "/pages/0/live"},
		{"equals", `{"query":"$.nothing","value":1}`, "fail", "$.nothing finds nothing", ""},
		{"equals", `{"query":"$.nothing","value":1,"which":"all"}`, "fail", "$.nothing finds nothing", ""},
		{"equals", `{"query":"$.collections[*].name","value":["Blog","Recipes"],"which":"list"}`, "pass", "$.collections[*].name finds the 2 values wanted", "/collections/0/name /collections/1/name"},
		{"equals", `{"query":"$.collections[*].name","value":["Recipes","Blog"],"which":"list"}`, "fail", `$.collections[*].name finds 2 values, want 2; missing: "Recipes"`, "/collections/0/name /collections/1/name"},
		{"equals", `{"query":"$.collections[*].name","value":["Recipes","Blog"],"which":"set"}`, "pass", "$.collections[*].name finds the 2 values wanted", "/collections/0/name /collections/1/name"},
		{"equals", `{"query":"$.collections[*].name","value":["Blog","Blog"],"which":"set"}`, "fail", `$.collections[*].name finds 2 values, want 2; missing: "Blog"`, "/collections/0/name /collections/1/name"},
		{"equals", `{"query":"$.collections[*].name","value":["Blog"],"which":"set"}`, "fail", `$.collections[*].name finds 2 values, want 1`, "/collections/0/name /collections/1/name"},
		{"equals", `{"query":"$.nothing","value":[],"which":"list"}`, "pass", "$.nothing finds the 0 values wanted", ""},
		{"equals", `{"query":"$","value":1,"which":"list"}`, "error", `value must be a list for which = "list"`, ""},
		{"equals", `{"query":"$.settings.lang"}`, "fail", `$.settings.lang: got "en", want null`, "/settings/lang"},

		{"contains", `{"query":"$.collections[1]","value":{"fields":[{"type":"number"}]}}`, "pass", "$.collections[1] fits", "/collections/1"},
		{"contains", `{"query":"$.collections","value":[{"name":"Recipes"}]}`, "pass", "$.collections fits", "/collections"},
		{"contains", `{"query":"$.collections","value":[{"name":"News"}]}`, "fail", `$.collections: got nothing at /0, want {"name":"News"}`, "/collections"},

		{"matches", `{"query":"$.pages[0].title","pattern":"^H"}`, "pass", "$.pages[0].title fits", "/pages/0/title"},
		{"matches", `{"query":"$.pages[0].title","pattern":"^x"}`, "fail", `$.pages[0].title: got "Home", which does not match ^x`, "/pages/0/title"},
		{"matches", `{"query":"$.settings.updated","pattern":"^2$"}`, "pass", "$.settings.updated fits", "/settings/updated"},
		{"matches", `{"query":"$.pages[0].title","pattern":"("}`, "error", "pattern: error parsing regexp: missing closing ): `(`", ""},
	})
}

func TestChanges(t *testing.T) {
	recipes := `/collections/1 was added; /settings/updated changed from 1 to 2`
	check(t, siteBefore, siteAfter, []row{
		{"changed", `{"query":"$.settings.updated"}`, "pass", "/settings/updated changed from 1 to 2", "/settings/updated"},
		{"changed", `{"query":"$.settings.lang"}`, "fail", "$.settings.lang did not change", "/settings/lang"},
		{"changed", `{"query":"$.pages"}`, "fail", "$.pages did not change", "/pages"},
		{"changed", `{"query":"$.collections[?@.name=='Recipes']"}`, "pass", "/collections/1 was added", "/collections/1"},
		{"changed", `{"query":"$.nothing"}`, "fail", "$.nothing finds nothing, before or after the run", ""},

		{"unchanged", `{"query":"$.pages"}`, "pass", "$.pages did not change", ""},
		{"unchanged", `{}`, "fail", recipes, "/collections/1 /settings/updated"},
		{"unchanged", `{"except":["$..updated","$.collections[?@.name=='Recipes']"]}`, "pass", "$ did not change outside $..updated, $.collections[?@.name=='Recipes']", ""},
		{"unchanged", `{"query":"$.settings","except":["$.settings.lang"]}`, "fail", "/settings/updated changed from 1 to 2", "/settings/updated"},
		{"unchanged", `{"except":["nope"]}`, "error", `query "nope", character 1: a query begins with $`, ""},

		{"diff_only", `{"paths":["$.collections[*]","$.settings.updated"]}`, "pass", "nothing changed outside $.collections[*], $.settings.updated", ""},
		{"diff_only", `{"paths":["$.collections"]}`, "fail", "outside $.collections: /settings/updated changed from 1 to 2", "/settings/updated"},
		{"diff_only", `{"paths":["$"]}`, "pass", "nothing changed outside $", ""},
		{"diff_only", `{"paths":[]}`, "error", "paths must name at least one path", ""},
	})
	check(t, siteAfter, `{"collections":[],"pages":[],"settings":null,"x":1,"y":2}`, []row{
		{"unchanged", `{}`, "fail", `/collections/0 was removed; /collections/1 was removed; /pages/0 was removed; 3 more changes`,
			"/collections/0 /collections/1 /pages/0 /settings /x /y"},
	})
	check(t, `1`, `"1"`, []row{{"unchanged", `{}`, "fail", `the state changed from 1 to "1"`, ""}})
}

func TestNoState(t *testing.T) {
	check(t, "", "", []row{
		{"exists", `{"query":"$"}`, "error", "the trial has no state after the run", ""},
		{"unchanged", `{}`, "error", "the trial has no state before the run", ""},
	})
	check(t, "", "{}", []row{
		{"exists", `{"query":"$"}`, "pass", "$ finds 1 value", ""},
		{"changed", `{"query":"$"}`, "error", "the trial has no state before the run", ""},
	})
	check(t, "", `{"a":`, []row{
		{"exists", `{"query":"$"}`, "error", "the trial has no state after the run", ""},
	})
}

// A state that an agent or target made hostile costs no more than its size.
func TestHostile(t *testing.T) {
	deep := strings.Repeat(`{"a":[0,`, 4000) + `1` + strings.Repeat(`]}`, 4000)
	other := strings.Repeat(`{"a":[0,`, 4000) + `2` + strings.Repeat(`]}`, 4000)
	check(t, deep, other, []row{
		{"changed", `{"query":"$"}`, "pass", strings.Repeat("/a/1", 30) + "… changed from 1 to 2", strings.Repeat("/a/1", 4000)},
		{"equals", `{"query":"$.a[0]","value":0}`, "pass", "$.a[0] fits", "/a/0"},
		{"count", `{"query":"$..*..*..*..*..*","min":0}`, "error", "the query looks at more than 20 million values", ""},
	})
	wide := `{"l":[` + strings.Repeat(`{"n":"x"},`, 100_000) + `0]}`
	check(t, `{"l":[]}`, wide, []row{
		{"count", `{"query":"$.l[?@.n=='x']","equals":1}`, "fail", "$.l[?@.n=='x'] finds 100,000 values, want exactly 1", firstElements(20)},
		{"unchanged", `{}`, "fail", `/l/0 was added; /l/1 was added; /l/2 was added; 997 more changes`, firstElements(20)},
		{"equals", `{"query":"$.l[*]","value":[],"which":"set"}`, "error", "more than 2,000 values cannot be compared as a set", ""},
	})
	check(t, `{}`, "{\"a\\u0000\xff\":\"\\ud83d\"}", []row{
		{"equals", `{"query":"$.*","value":"\udcb2"}`, "pass", "$.* fits", "/a\x00\uFFFD"},
		{"matches", `{"query":"$.*","pattern":"^\\x{fffd}$"}`, "pass", "$.* fits", "/a\x00\uFFFD"},
	})
}

func firstElements(n int) string {
	var list []string
	for i := range n {
		list = append(list, "/l/"+strconv.Itoa(i))
	}
	return strings.Join(list, " ")
}

func TestUsesShareOneIndex(t *testing.T) {
	in := eval.ScoreInput{State: eval.JSON(siteAfter)}
	out := scorertest.Run(t, in, scorertest.Use("exists", `{"query":"$.pages"}`), scorertest.Use("exists", `{"query":"$.nope"}`))
	if out[0].Reason != "$.pages finds 1 value" || out[1].Reason != "$.nope finds nothing" {
		t.Errorf("got %q and %q", out[0].Reason, out[1].Reason)
	}
	in.State = eval.JSON(siteBefore)
	if out := scorertest.One(t, in, "count", `{"query":"$.collections[*]","equals":1}`); !*out.Passed {
		t.Errorf("the next trial sees an older state: %s", out.Reason)
	}
}
