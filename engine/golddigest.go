package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/trial"
)

// The parts that a gold and its grades are made from. changed says each in words.
const (
	partStory      = "story"
	partTarget     = "target"
	partCaptures   = "captures"
	partGold       = "gold"
	partFloor      = "floor"
	partJudge      = "judge"
	partParameters = "parameters"
	partModels     = "models"
)

var changed = map[string]string{
	partStory: "the story's text", partTarget: "the target's block", partCaptures: "what is captured",
	partGold: "what the gold is built from", partFloor: "what the floor is built from",
	partJudge: "the judge's module", partParameters: "the judge's parameters", partModels: "the judge's model",
}

// differ returns the parts in which two lists of digests differ, sorted.
func differ(a, b map[string]string) []string {
	var parts []string
	for part := range changed {
		if a[part] != b[part] {
			parts = append(parts, part)
		}
	}
	slices.Sort(parts)
	return parts
}

// served stands in for the address of files that are served in a target's place:
// it differs from time to time, and what a story is made of does not.
const served = "http://gold.invalid/"

// goldValues are those of the target that a gold's digests are computed with.
func goldValues(g *eval.Gold, rec *eval.Record) eval.JSON {
	switch {
	case rec.Target != nil:
		return rec.Target.Values
	case g.URL != "":
		return urlValues(g.URL)
	}
	return urlValues(served)
}

func urlValues(url string) eval.JSON {
	b, err := json.Marshal(map[string]string{"url": url})
	if err != nil {
		panic(err) // a string can be written
	}
	return b
}

// madeFrom are the digests of what a story's gold is made from.
func madeFrom(s *eval.Suite, st *eval.Story, values eval.JSON) (map[string]string, error) {
	vars := eval.Vars{Target: values, Trial: trial.GoldTrial(st.Name)}
	made := map[string]string{partStory: digest(turnTexts(st, vars)), partCaptures: digest(captureTexts(st, vars))}
	if t := s.Target(st.Target); t != nil {
		made[partTarget] = digest(t.Provisioner, string(t.Config))
	}
	var err error
	if made[partGold], err = resultDigest(&st.Gold.Result); err != nil {
		return nil, fmt.Errorf("gold: %w", err)
	}
	if st.Gold.Floor == nil {
		return made, nil
	}
	if made[partFloor], err = resultDigest(st.Gold.Floor); err != nil {
		return nil, fmt.Errorf("floor: %w", err)
	}
	return made, nil
}

// late is a late value as text; one that cannot be evaluated is its error, which is
// the same every time.
func late(v eval.Late[string], vars eval.Vars) string {
	if v == nil {
		return ""
	}
	text, err := v.Value(vars)
	if err != nil {
		return "error: " + err.Error()
	}
	return text
}

func turnTexts(st *eval.Story, vars eval.Vars) []string {
	var list []string
	for _, t := range st.Turns {
		list = append(list, late(t.Prompt, vars))
	}
	return list
}

func captureTexts(st *eval.Story, vars eval.Vars) [][]any {
	var list [][]any
	for _, c := range st.Captures {
		list = append(list, []any{
			c.Name, late(c.URL, vars), c.Viewports, c.Scale, c.FirstScreen, c.MaxHeight, c.ExpectURL,
			late(c.ExpectText, vars), c.WaitFor, c.Hide, c.Origins,
		})
	}
	return list
}

// resultDigest is of what a result is built from.
func resultDigest(r *eval.Result) (string, error) {
	switch {
	case r.Script != "":
		b, err := os.ReadFile(r.Script)
		return digest("script", b), err
	case r.Files != "":
		sums, err := folderSums(r.Files)
		return digest("files", sums), err
	}
	return digest("url", r.URL), nil
}

func folderSums(dir string) ([][2]string, error) {
	var sums [][2]string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		sums = append(sums, [2]string{filepath.ToSlash(rel), digest(b)})
		return err
	})
	return sums, err
}

// judgeMadeFrom are the digests of what decides a judge's grades.
func (r *run) judgeMadeFrom(u *eval.ScorerUse, vars eval.Vars) map[string]string {
	params, err := u.Params.Value(vars)
	if err != nil {
		params = eval.JSON("error: " + err.Error())
	}
	var models [][]any
	for _, m := range r.s.Models {
		if slices.Contains(u.Models, m.Name) {
			models = append(models, []any{m.Name, m.Provider, m.Model, string(m.Config), m.SHA256})
		}
	}
	return map[string]string{
		partJudge:      digest(u.Scorer, r.modules[moduleName(u.Scorer)].SHA256()),
		partParameters: digest(string(params)),
		partModels:     digest(u.Models, models),
	}
}

// digest is of values that JSON can hold.
func digest(v ...any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // callers give what can be written
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
