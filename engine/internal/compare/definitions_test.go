package compare

import (
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// defined makes a side of six stories, three repeats each, whose scores are made
// from what of says.
func defined(name string, of func(story string, repeat int) []eval.Definition) *Side {
	s := NewSide(name)
	for story := range all(6, 1, true) {
		for repeat := 1; repeat <= 3; repeat++ {
			r := trial(story, repeat, true, 0.5, 4)
			r.Definitions = of(story, repeat)
			s.Add(r)
		}
	}
	return s
}

func madeOf(judge, check map[string]string) []eval.Definition {
	return []eval.Definition{{Score: "judge/transcript", MadeFrom: judge}, {Score: "check/done", MadeFrom: check}, {Score: "path/steps", MadeFrom: map[string]string{"module": "t"}}}
}

func TestDefinitions(t *testing.T) {
	judge := func(module, rubric string) map[string]string {
		return map[string]string{"module": module, "param.rubric": rubric, "model.j": "p/one 1"}
	}
	check := func(condition string) map[string]string { return map[string]string{"condition": condition} }
	was := func(string, int) []eval.Definition { return madeOf(judge("m1", "r1"), check("c1")) }
	in := func(story string, d []eval.Definition) func(string, int) []eval.Definition {
		return func(s string, r int) []eval.Definition {
			if s == story {
				return d
			}
			return was(s, r)
		}
	}
	for name, tt := range map[string]struct {
		head func(story string, repeat int) []eval.Definition
		// quality and gate are what is left out of them, changes what changed.
		quality, gate, changes string
	}{
		"the same": {head: was},
		"rubric": {
			head:    in("s02", madeOf(judge("m1", "r2"), check("c1"))),
			quality: "story s02: the rubric of judge/transcript changed",
			changes: "s02 judge/transcript: param.rubric r1 -> param.rubric r2",
		},
		"condition": {
			head:    in("s03", madeOf(judge("m1", "r1"), check("c2"))),
			gate:    "story s03: the condition of check/done changed",
			changes: "s03 check/done: condition c1 -> condition c2",
		},
		"module": {
			head:    in("s04", madeOf(judge("m2", "r1"), check("c1"))),
			quality: "story s04: the scorer module of judge/transcript changed",
		},
		"parameter gone": {
			head:    in("s05", madeOf(map[string]string{"module": "m1", "model.j": "p/one 1"}, check("c1"))),
			quality: "story s05: the rubric of judge/transcript changed",
			changes: "s05 judge/transcript: param.rubric r1 -> param.rubric none",
		},
		"several within a side": {
			head: func(s string, r int) []eval.Definition {
				if s == "s01" && r == 2 {
					return madeOf(judge("m1", "r2"), check("c1"))
				}
				return was(s, r)
			},
			quality: "story s01: trials of one side made judge/transcript from different things",
		},
		"not told": {head: in("s00", madeOf(map[string]string{"params": "untold"}, check("c1")))},
		"older":    {head: func(string, int) []eval.Definition { return nil }},
	} {
		head := defined("b", tt.head)
		if want := name != "not told" && name != "older"; head.Defined() != want {
			t.Errorf("%s: Defined = %v", name, head.Defined())
		}
		c := mustCompare(t, defined("a", was), head, Options{})
		for kind, want := range map[eval.QuantityKind]string{eval.QuantityScore: tt.quality, eval.QuantityGate: tt.gate} {
			q := map[eval.QuantityKind]string{eval.QuantityScore: "judge/transcript", eval.QuantityGate: "outcome"}[kind]
			d := dimension(t, c, kind, q)
			stories := 6
			if want != "" {
				stories = 5
			}
			if got := strings.Join(d.LeftOut, "; "); got != want || d.Stories != stories || d.NotComparable != "" {
				t.Errorf("%s: %s of %d stories leaves out %q, want %q", name, q, d.Stories, got, want)
			}
		}
		var changes []string
		for _, ch := range c.Changes {
			changes = append(changes, ch.Name+": "+strings.Join(ch.Base, ",")+" -> "+strings.Join(ch.Head, ","))
		}
		if got := strings.Join(changes, "\n"); got != tt.changes {
			t.Errorf("%s: changes %q, want %q", name, got, tt.changes)
		}
	}
}

// Records that say what scores are made from count for more than a suite's files.
func TestDefinitionsOverParameters(t *testing.T) {
	was := func(string, int) []eval.Definition {
		return madeOf(map[string]string{"module": "m1"}, map[string]string{"condition": "c"})
	}
	base, head := defined("a", was), defined("b", was)
	base.SetParameters("s00", "judge/transcript", "one")
	head.SetParameters("s00", "judge/transcript", "two")
	c := mustCompare(t, Median("last", []*Side{base}), head, Options{})
	if d := dimension(t, c, eval.QuantityScore, "judge/transcript"); len(d.LeftOut) != 0 || len(c.Changes) != 0 {
		t.Errorf("%+v %+v", d, c.Changes)
	}
}
