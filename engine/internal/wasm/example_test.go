package wasm

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// TestCustomScorer builds the example as a third party would, with nothing but
// the go command, and without a go.sum.
func TestCustomScorer(t *testing.T) {
	const dir = "../../../examples/custom-scorer"
	if _, err := os.Stat(filepath.Join(dir, "go.sum")); err == nil {
		t.Error("the example has a go.sum; it must need none")
	}
	file := filepath.Join(t.TempDir(), "brand.wasm")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-buildmode=c-shared", "-o", file, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newRuntime(t, Options{}).Load(t.Context(), "brand", b, "", eval.Grants{})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Manifest(); got.Module != "brand" || len(got.Scorers) != 2 {
		t.Errorf("manifest %+v", got)
	}
	out, err := m.Score(t.Context(), &eval.ScoreInput{Answer: "A synergy of pages.", Uses: []eval.Use{
		{Name: "avoids", Scorer: "avoids", Params: eval.JSON(`{"words":["synergy"]}`)},
		{Name: "brevity", Scorer: "brevity", Params: eval.JSON(`{"most":2}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Passed == nil || *out[0].Passed || out[0].Reason != `the answer says "synergy"` {
		t.Errorf("avoids: got %+v; want failed", out[0])
	}
	if out[1].Value != 0.5 || out[1].Unit != "words" {
		t.Errorf("brevity: got %+v; want 0.5 words", out[1])
	}
}
