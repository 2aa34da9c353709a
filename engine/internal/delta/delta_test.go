package delta

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

func side(value float64, made map[string]string, files ...eval.File) Side {
	rec := &eval.Record{Trial: eval.Trial{Story: "s", Host: "h", Repeat: 1}, Scores: []eval.Score{{Name: "x", State: eval.Scored, Value: &value}}}
	if made != nil {
		rec.Definitions = []eval.Definition{{Score: "x", MadeFrom: made}}
	}
	return Side{Record: rec, Files: files}
}

func judged(s Side) Side {
	s.Record.Scores[0].Judge = &eval.JudgeUse{Requests: []string{"1"}}
	return s
}

func none(s Side) Side {
	s.Record.Scores = nil
	return s
}

func TestCauses(t *testing.T) {
	m := func(kv ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			out[kv[i]] = kv[i+1]
		}
		return out
	}
	rubric := func(sum string) eval.File { return eval.File{Path: "rubrics/cms.md", SHA256: sum} }
	for name, tt := range map[string]struct {
		before, after Side
		want          []string
	}{
		"same":             {side(1, m("module", "a")), side(1, m("module", "a")), nil},
		"parameter":        {side(1, m("param.value", "a")), side(0, m("param.value", "b")), []string{"parameter value changed in suite.hcl"}},
		"parameter added":  {side(1, m()), side(0, m("param.min", "b")), []string{"parameter min added in suite.hcl"}},
		"module":           {side(1, m("module", "a1b2000000000000")), side(0, m("module", "c3d4000000000000")), []string{"scorer module changed a1b20000 → c3d40000"}},
		"rubric":           {side(1, m("param.rubric", "a"), rubric("1")), side(0, m("param.rubric", "b"), rubric("2")), []string{"rubric changed in rubrics/cms.md"}},
		"model":            {side(1, m("model.j", "p/one x")), side(0, m("model.j", "p/two x")), []string{"model j changed p/one → p/two"}},
		"model's settings": {side(1, m("model.j", "p/one x")), side(0, m("model.j", "p/one y")), []string{"settings of model j changed"}},
		"another trial":    {side(1, m("gold", "a")), side(0, m("against", "s.base.h.r2 of R 12")), []string{"compared with s.base.h of R", "gold removed"}},
		"one more":         {side(1, m("against", "x 11")), side(0, m("against", "y 12")), []string{"compared with y, before with x"}},
		"the other's":      {side(1, m("against", "x 11")), side(0, m("against", "x 12")), []string{"the other trials, x, changed"}},
		"gold again":       {side(1, m("against", "x 11")), side(0, m()), []string{"no longer compared with x"}},
		"condition":        {side(1, m("condition", "a")), side(0, m("condition", "b")), []string{"check condition changed in suite.hcl"}},
		"judge":            {side(1, m("module", "a")), judged(side(0, m("module", "a"))), []string{"judge answered differently"}},
		"nothing":          {side(1, m("module", "a")), side(0, m("module", "a")), []string{"nothing that it is made from changed: it is not deterministic"}},
		"new":              {none(side(1, nil)), side(0, m("module", "a")), []string{"new score"}},
		"removed":          {side(1, m("module", "a")), none(side(0, nil)), []string{"removed: the suite no longer has it"}},
		"older record":     {side(1, nil), side(0, m("module", "a")), []string{"not known: the earlier scoring does not say what it was made from"}},
	} {
		f := Fold{Sources: func(string, string) string { return "suite.hcl" }}
		f.Add(tt.before, tt.after)
		if d := cmp.Diff(f.Deltas()[0].Causes, tt.want); d != "" {
			t.Errorf("%s: got -, want +:\n%s", name, d)
		}
	}
}

func TestDeltas(t *testing.T) {
	var f Fold
	f.Add(side(1, map[string]string{"module": "a"}), side(0, map[string]string{"module": "b"}))
	f.Add(side(1, map[string]string{"module": "a"}), side(1, map[string]string{"module": "b"}))
	before, after := 1.0, 0.5
	want := []eval.ScoreDelta{{Story: "s", Host: "h", Score: "x", Trials: 2, Changed: 1, Before: &before, After: &after,
		Causes: []string{"scorer module changed a → b"}}}
	if d := cmp.Diff(f.Deltas(), want); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
}
