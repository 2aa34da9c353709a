package trial

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

// late makes parameters of a trial.
type late func(eval.Vars) (eval.JSON, error)

func (l late) Value(v eval.Vars) (eval.JSON, error) { return l(v) }

func TestParamDigests(t *testing.T) {
	of := func(values string, repeat int, params late) map[string]string {
		a := &attempt{trial: eval.Trial{Story: "s", Host: "h", Repeat: repeat}, values: eval.JSON(values)}
		return a.paramDigests(&eval.ScorerUse{Params: params})
	}
	fixed := func(text string) late { return func(eval.Vars) (eval.JSON, error) { return eval.JSON(text), nil } }
	url := late(func(v eval.Vars) (eval.JSON, error) {
		// What a suite makes of "${target.url}/x".
		url, _, _ := strings.Cut(strings.TrimPrefix(string(v.Target), `{"url":"`), `"`)
		return eval.JSON(`{"value":"` + url + `/x"}`), nil
	})

	one, other := of(`{"url":"http://a"}`, 1, url), of(`{"url":"http://b"}`, 2, url)
	if d := cmp.Diff(one, other); d != "" || len(one["param.value"]) != 16 {
		t.Errorf("two targets of one story: %v, %v", one, other)
	}
	if d := cmp.Diff(of("", 1, fixed(`{"a":{"x":1,"y":2},"b":"t"}`)), of("", 1, fixed(`{"b":"t","a":{"y":2,"x":1}}`))); d != "" {
		t.Errorf("the same parameters in another order: %s", d)
	}
	before, after := of("", 1, fixed(`{"a":1,"b":2}`)), of("", 1, fixed(`{"a":1,"b":3}`))
	if before["param.a"] != after["param.a"] || before["param.b"] == after["param.b"] {
		t.Errorf("one of two changed: %v, %v", before, after)
	}
	broken := late(func(v eval.Vars) (eval.JSON, error) { return nil, errBroken })
	if d := cmp.Diff(of(`{"port":"80"}`, 1, broken), map[string]string{"params": "untold"}); d != "" {
		t.Error(d)
	}
}

const errBroken = text("no number")

func (t text) Error() string { return string(t) }

func TestStandIn(t *testing.T) {
	got := standIn(eval.JSON(`{"url":"http://a","port":4000,"open":true,"none":null,"pages":["home",{"id":7}]}`))
	want := `{"none":null,"open":false,"pages":["${target.pages[]}",{"id":0}],"port":0,"url":"${target.url}"}`
	if string(got) != want {
		t.Errorf("standIn = %s; want %s", got, want)
	}
	for _, bad := range []string{"", "{", `"x`} {
		if got := standIn(eval.JSON(bad)); got != nil {
			t.Errorf("standIn(%s) = %s; want nothing", bad, got)
		}
	}
}

func TestDefinitionsOfChecks(t *testing.T) {
	a := &attempt{r: &Runner{}, story: &eval.Story{Checks: []eval.Check{
		{Name: "a", Written: `answer == var.word`, Values: `var.word = "x"`}, {Name: "b", Written: `answer == ""`},
	}}}
	if list := a.definitions(); list != nil {
		t.Errorf("an attempt that was not scored has definitions: %v", list)
	}
	a.scores = []eval.Score{{Name: "check/a"}, {Name: "check/b"}}
	rec := &eval.Record{Definitions: a.definitions()}
	made, other := rec.MadeFrom("check/a"), rec.MadeFrom("check/b")
	if len(made) != 2 || len(made["condition"]) != 16 || len(made["values"]) != 16 || len(other) != 1 || other["condition"] == made["condition"] {
		t.Errorf("made from %v and %v", made, other)
	}
	if rec.MadeFrom("check/c") != nil {
		t.Error("a score that is not there was made of something")
	}
}
