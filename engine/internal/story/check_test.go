package story

import (
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func facts() eval.Facts {
	cost, ms := 0.1, 12.5
	return eval.Facts{
		Trial:  eval.Trial{Story: "x", Variant: "v", Host: "claude", Repeat: 1},
		Target: eval.JSON(`{"url":"http://t/"}`),
		State:  eval.JSON(`{"collections":[{"name":"Recipes","items":2},{"name":"News"}],"site":null}`),
		Before: eval.JSON(`{"collections":[]}`),
		Answer: "Done: 2 items.",
		Calls: []eval.Call{
			{Step: "s1", Turn: 1, Server: "cms", Tool: "collections_create", Arguments: eval.JSON(`{"name":"Recipes","fields":[1,2]}`), Result: eval.JSON(`{"content":[{"type":"text","text":"ok"}]}`), Status: eval.CallOK, Bytes: 40, DurationMS: &ms},
			{Step: "s3", Turn: 2, Server: "cms", Tool: "publish", Arguments: eval.JSON(`{"cut`), Status: eval.CallUnfinished},
		},
		Tools: []eval.Tool{{Server: "cms", Name: "publish", Destructive: true, Requires: []string{"x"}}},
		Usage: eval.Usage{Turns: 3, InputTokens: 12345678901, CostUSD: &cost},
		Pages: []eval.Page{{Name: "home", URL: "http://t/", Status: 200, HTML: []byte("<h1>Recipes</h1>")}},
	}
}

func check(t *testing.T, body string) eval.Check {
	t.Helper()
	s := mustLoad(t, map[string]string{"suite.hcl": header + "story \"x\" {\n  target = target.site\n  prompt = \"x\"\n  check \"c\" {\n" + body + "\n  }\n}\n"}, Options{})
	return s.Stories[0].Checks[0]
}

func TestCheckHolds(t *testing.T) {
	conditions := map[string]bool{
		`contains([for c in state.collections : c.name], "Recipes")`:              true,
		`contains([for c in state.collections : c.name], "Blog")`:                 false,
		`length(state.collections) - length(before.collections) == 2`:             true,
		`anytrue([for c in state.collections : try(c.items, 0) > 1])`:             true,
		`alltrue([for c in state.collections : can(c.items)])`:                    false,
		`one([for c in state.collections : c if c.name == "Recipes"]).items == 2`: true,
		`state.site == null`:          true,
		`try(state.pages, []) == []`:  true,
		`can(regex("^Done", answer))`: true,
		`trial.variant == "v" && trial.repeat == 1 && target.url == "http://t/"`:         true,
		`calls[0].arguments.name == "Recipes" && calls[0].arguments.fields == [1, 2]`:    true,
		`calls[0].result.content[0].text == "ok"`:                                        true,
		`calls[1].result == null && calls[1].status == "unfinished"`:                     true,
		`calls[1].arguments == "{\"cut"`:                                                 true,
		`calls[0].duration_ms == 12.5 && calls[1].duration_ms == null`:                   true,
		`length([for c in calls : c if c.tool == "publish" && c.turn == 2]) == 1`:        true,
		`sum([for c in calls : c.bytes]) == 40`:                                          true,
		`usage.cost_usd == 0.1 && usage.input_tokens == 12345678901 && usage.turns <= 3`: true,
		`tools[0].destructive && contains(tools[0].requires, "x")`:                       true,
		`pages[0].status == 200 && strcontains(pages[0].html, "<h1>")`:                   true,
		`toset(calls[*].tool) == toset(["publish", "collections_create"])`:               true,
		`"false"`: false,
	}
	for cond, want := range conditions {
		got, message, err := check(t, "condition = "+cond).Condition.Eval(facts())
		if got != want || err != nil {
			t.Errorf("%s = %v, %q, %v; want %v", cond, got, message, err, want)
		}
	}
}

func TestCheckOnNothing(t *testing.T) {
	for cond, want := range map[string]bool{
		`length(calls) == 0`:                                  true,
		`[for c in calls : c.tool] == []`:                     true,
		`contains([for c in calls : c.tool], "x")`:            false,
		`anytrue([for c in calls : c.tool == "x"])`:           false,
		`alltrue([for c in calls : c.tool == "x"])`:           true,
		`state == null && before == null`:                     true,
		`answer == ""`:                                        true,
		`usage.cost_usd == null && usage.models == []`:        false,
		`usage.cost_usd == null && length(usage.models) == 0`: true,
	} {
		got, _, err := check(t, "condition = "+cond).Condition.Eval(eval.Facts{})
		if got != want || err != nil {
			t.Errorf("%s = %v, %v; want %v", cond, got, err, want)
		}
	}
}

func TestCheckMessage(t *testing.T) {
	tests := []struct{ body, want string }{
		{`condition = answer == "x"`, `the condition does not hold: answer == "x"`},
		{"condition = answer == \"x\"\nerror_message = \"it said ${answer} in ${length(calls)} calls\"", "it said Done: 2 items. in 2 calls"},
		{"condition = answer == \"x\"\nerror_message = \"no ${state.pages[0]}\"", `the condition does not hold: answer == "x" (its error_message cannot be evaluated: unsupported attribute: state has no attribute "pages". It has: collections, site. Where it may be absent write try(state.pages[0], DEFAULT) or can(state.pages[0]).)`},
	}
	for _, tt := range tests {
		passed, got, err := check(t, tt.body).Condition.Eval(facts())
		if passed || got != tt.want || err != nil {
			t.Errorf("%s: Eval = %v, %q, %v; want false, %q", tt.body, passed, got, err, tt.want)
		}
	}
}

func TestCheckCannotBeEvaluated(t *testing.T) {
	tests := []struct {
		cond string
		f    eval.Facts
		want []string
	}{
		{`length(state.pages) == 1`, facts(), []string{`check "c" cannot be evaluated`, `suite.hcl:8`, `state has no attribute "pages". It has: collections, site.`, `try(state.pages, DEFAULT)`, `can(state.pages)`}},
		{`state.pages.home == 1`, eval.Facts{}, []string{`state is null.`, `try(state.pages.home, DEFAULT)`}},
		{`state.site.name == "x"`, facts(), []string{`state.site is null.`}},
		{`state.collections[1].items == 2`, facts(), []string{`state.collections[1] has no attribute "items". It has: name.`}},
		{`[for c in state.collections : c.items] == []`, facts(), []string{`c has no attribute "items"`, `try(c.items, DEFAULT)`}},
		{`length([for p in state.site : p]) == 0`, facts(), []string{"write try(..., [])"}},
		{`state.collections[0].name`, facts(), []string{"a condition is true or false"}},
		{`state.site`, facts(), []string{"The condition is null: a condition is true or false."}},
		{`state.collections`, facts(), []string{"The condition is tuple: a condition is true or false."}},
		{`length(pages) == 0`, eval.Facts{}, []string{"no pages were captured"}},
		{`pages[0].status == 200`, eval.Facts{Pages: []eval.Page{{Name: "home", Status: 200}, {Name: "about", Error: "the browser did not start"}}}, []string{`page "about" was not captured: the browser did not start`}},
		{`state.x == 1`, eval.Facts{State: eval.JSON(`{"x":`)}, []string{"the target's state: not JSON"}},
	}
	for _, tt := range tests {
		_, _, err := check(t, "condition = "+tt.cond).Condition.Eval(tt.f)
		if err == nil {
			t.Errorf("%s: no error", tt.cond)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: err = %v; want %q in it", tt.cond, err, want)
			}
		}
	}
}

func TestCheckConvertsOnlyWhatItAsksFor(t *testing.T) {
	f := facts()
	f.State = eval.JSON(`not JSON at all`)
	if ok, _, err := check(t, `condition = answer != ""`).Condition.Eval(f); !ok || err != nil {
		t.Errorf("Eval = %v, %v; want true without looking at the state", ok, err)
	}
}

func TestFactsOfUntrustedSize(t *testing.T) {
	f := facts()
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	f.State = eval.JSON(`{"huge":1e999999999,"long":` + strings.Repeat("9", 100_000) + `,"deep":` + deep + `,"small":1e-999999999}`)
	for cond, want := range map[string]bool{
		`state.huge == "1e999999999" && state.small == "1e-999999999"`: true,
		`strlen(state.long) == 100000`:                                 true,
		`jsondecode(answer).n == 1`:                                    true,
	} {
		f.Answer = `{"n":1}`
		got, _, err := check(t, "condition = "+cond).Condition.Eval(f)
		if got != want || err != nil {
			t.Errorf("%s = %v, %v; want %v", cond, got, err, want)
		}
	}
	f.Answer = "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
	if _, _, err := check(t, `condition = yamldecode(answer).a == 1`).Condition.Eval(f); err == nil || !strings.Contains(err.Error(), "more than 16 references") {
		t.Errorf("yamldecode of a bomb: err = %v", err)
	}
}

func TestCheckDimension(t *testing.T) {
	if got := check(t, `condition = answer == ""`).Dimension; got != eval.DimensionOutcome {
		t.Errorf("Dimension = %q; want outcome", got)
	}
	if got := check(t, "condition = answer == \"\"\ndimension = \"constraint\"").Dimension; got != eval.DimensionConstraint {
		t.Errorf("Dimension = %q; want constraint", got)
	}
}

func TestCheckMessageIsCut(t *testing.T) {
	f := facts()
	f.Answer = strings.Repeat("ä", 5000)
	_, got, err := check(t, "condition = answer == \"x\"\nerror_message = \"a${answer}\"").Condition.Eval(f)
	if want := "a" + strings.Repeat("ä", 3999) + "…"; got != want || err != nil {
		t.Errorf("the message has %d bytes, %v; want %d", len(got), err, len(want))
	}
}
