package findings

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// pair is a line of testdata/pairs.jsonl. Tool, kind and action of B are those of A
// where it has none of its own.
type pair struct {
	Label, Split, Kind, Tool, Action, A, B, Why string
	KindB                                       *string `json:"kind_b"`
	ToolB                                       *string `json:"tool_b"`
	ActionB                                     *string `json:"action_b"`
}

func readPairs(t testing.TB) []pair {
	t.Helper()
	f, err := os.Open("testdata/pairs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []pair
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var p pair
		if err := json.Unmarshal(sc.Bytes(), &p); err != nil {
			t.Fatalf("pair %d: %v", len(list)+1, err)
		}
		list = append(list, p)
	}
	return list
}

func own(v *string, or string) string {
	if v != nil {
		return *v
	}
	return or
}

// grouped reports whether the two findings of a pair come into one group.
func (p pair) grouped(t testing.TB) bool {
	t.Helper()
	a := eval.Finding{Kind: p.Kind, Tool: p.Tool, Action: p.Action, Text: p.A}
	b := eval.Finding{Kind: own(p.KindB, p.Kind), Tool: own(p.ToolB, p.Tool), Action: own(p.ActionB, p.Action), Text: p.B}
	h := night(t, nil, 1, trialOf("s", "h", 1, a), trialOf("s", "h", 2, b))
	return len(h.Of(Options{}).Groups) == 1
}

// docs/findings.md states these figures.
func TestPairs(t *testing.T) {
	type figures struct{ pairs, same, together, right int }
	got := map[string]*figures{"tune": {}, "held_out": {}}
	for _, p := range readPairs(t) {
		f := got[p.Split]
		if f == nil || p.Label != "same" && p.Label != "different" {
			t.Fatalf("%s: split %q, label %q", p.Why, p.Split, p.Label)
		}
		together := p.grouped(t)
		f.pairs++
		if p.Label == "same" {
			f.same++
		}
		if together {
			f.together++
		}
		if together && p.Label == "same" {
			f.right++
		}
		if together != (p.Label == "same") {
			t.Logf("%s, taken for the same %v: %s\n\t%s\n\t%s", p.Label, together, p.Why, p.A, p.B)
		}
	}
	// Precision is right/together, recall right/same.
	want := map[string]figures{"tune": {48, 25, 24, 24}, "held_out": {32, 15, 17, 14}}
	for split, w := range want {
		if *got[split] != w {
			t.Errorf("%s: %+v; want %+v", split, *got[split], w)
		}
	}
}

func TestSimilarityIsSymmetric(t *testing.T) {
	for _, p := range readPairs(t) {
		a, b := sketchOf(p.Tool, p.Action, p.A), sketchOf(p.Tool, p.Action, p.B)
		if similarity(a, b) != similarity(b, a) {
			t.Errorf("%s: %v one way, %v the other", p.Why, similarity(a, b), similarity(b, a))
		}
		if similarity(a, a) != 1 {
			t.Errorf("%s: %v with itself", p.Why, similarity(a, a))
		}
	}
}
