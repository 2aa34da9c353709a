// Package delta says what scoring stored trials again changed, score by score, and
// why: it holds what the scores were made from before against what they are made
// from now.
//
// Start at [Fold.Add].
package delta

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Fold takes in trials that were scored again, one by one. The zero Fold is empty.
// It is not safe for concurrent use.
type Fold struct {
	// Sources is the suite file of a story's score, as it is now; it may be nil.
	Sources func(story, score string) string
	// Reads reports whether a score is made of other scores; it may be nil.
	Reads func(story, score string) bool

	at    map[key]*entry
	order []*entry
}

type key struct {
	arm   eval.Trial
	score string
}

type entry struct {
	eval.ScoreDelta
	before, after   float64
	nBefore, nAfter int
}

// Side is a trial's scores by one scoring.
type Side struct {
	Record *eval.Record
	// Files are those of the suite.
	Files []eval.File
}

// Add takes in one trial as it was scored before and as it is scored now.
func (f *Fold) Add(before, after Side) {
	var names []string
	for _, s := range slices.Concat(after.Record.Scores, before.Record.Scores) {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	others := f.changedNames(names, before, after)
	for _, name := range names {
		e := f.entry(after.Record.Trial, name)
		was, is := find(before.Record, name), find(after.Record, name)
		e.Trials++
		if was != nil && was.Value != nil {
			e.before, e.nBefore = e.before+*was.Value, e.nBefore+1
		}
		if is != nil && is.Value != nil {
			e.after, e.nAfter = e.after+*is.Value, e.nAfter+1
		}
		moved := slices.Contains(others, name)
		if moved {
			e.Changed++
		}
		for _, c := range f.causes(name, was, is, before, after, moved, len(others) > 1) {
			if !slices.Contains(e.Causes, c) {
				e.Causes = append(e.Causes, c)
			}
		}
	}
}

// changedNames are the scores that are not as they were.
func (f *Fold) changedNames(names []string, before, after Side) []string {
	var out []string
	for _, name := range names {
		if !same(find(before.Record, name), find(after.Record, name)) {
			out = append(out, name)
		}
	}
	return out
}

// Deltas are those so far, in the order of the trials and their scores.
func (f *Fold) Deltas() []eval.ScoreDelta {
	out := []eval.ScoreDelta{}
	for _, e := range f.order {
		d := e.ScoreDelta
		if e.nBefore > 0 {
			d.Before = new(e.before / float64(e.nBefore))
		}
		if e.nAfter > 0 {
			d.After = new(e.after / float64(e.nAfter))
		}
		out = append(out, d)
	}
	return out
}

func (f *Fold) entry(t eval.Trial, score string) *entry {
	k := key{t.Arm(), score}
	if e := f.at[k]; e != nil {
		return e
	}
	if f.at == nil {
		f.at = map[key]*entry{}
	}
	e := &entry{ScoreDelta: eval.ScoreDelta{Story: t.Story, Variant: t.Variant, Host: t.Host, Score: score}}
	f.at[k] = e
	f.order = append(f.order, e)
	return e
}

func find(rec *eval.Record, name string) *eval.Score {
	i := slices.IndexFunc(rec.Scores, func(s eval.Score) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &rec.Scores[i]
}

func same(a, b *eval.Score) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.State == b.State && equal(a.Value, b.Value) && equal(a.Raw, b.Raw) && equal(a.Passed, b.Passed)
}

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// causes say why a score may be another one. moved says that it is.
func (f *Fold) causes(name string, was, is *eval.Score, before, after Side, moved, others bool) []string {
	switch {
	case was == nil:
		return []string{"new score"}
	case is == nil:
		return []string{"removed: the suite no longer has it"}
	}
	old, now := before.Record.MadeFrom(name), after.Record.MadeFrom(name)
	files := changedFiles(before.Files, after.Files)
	if old == nil {
		if !moved {
			return nil
		}
		return []string{"not known: the earlier scoring does not say what it was made from" + in(files)}
	}
	if list := parts(old, now, f.place(after.Record.Story, name, files), files); len(list) > 0 {
		return list
	}
	if !moved {
		return nil
	}
	a, b := before.Record.Versions["engine"], after.Record.Versions["engine"]
	switch {
	case is.Judge != nil && len(is.Judge.Requests) > 0:
		return []string{"judge answered differently"}
	case f.Reads != nil && others && f.Reads(after.Record.Story, name):
		return []string{"scores that it is made of changed"}
	case a != b:
		return []string{fmt.Sprintf("evalengine changed %s → %s", orNone(a), orNone(b))}
	}
	return []string{"nothing that it is made from changed: it is not deterministic"}
}

// place is the suite file that a score is written in.
func (f *Fold) place(story, name string, files []string) string {
	if f.Sources != nil {
		if at := f.Sources(story, name); at != "" {
			return " in " + path.Base(at)
		}
	}
	return in(files)
}

// parts are the differences between what a score was and is made from, sorted.
func parts(old, now map[string]string, at string, files []string) []string {
	names := slices.Sorted(maps.Keys(old))
	for name := range now {
		if _, ok := old[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []string
	for _, name := range names {
		a, b := old[name], now[name]
		if a != b {
			out = append(out, part(name, a, b, at, files))
		}
	}
	return out
}

func part(name, a, b, at string, files []string) string {
	kind, rest, _ := strings.Cut(name, ".")
	switch kind {
	case "module":
		return "scorer module changed " + short(a) + " → " + short(b)
	case "model":
		return modelChange(rest, a, b)
	case "gold":
		return "gold " + verb(a, b)
	case "against":
		return opponent(a, b)
	case "condition":
		return "check condition " + verb(a, b) + at
	case "values":
		return "what the check condition refers to " + verb(a, b) + in(files)
	case "params":
		return "parameters " + verb(a, b) + at
	}
	if rest == "rubric" || rest == "brief" {
		if texts := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return path.Ext(f) == ".hcl" }); len(texts) > 0 {
			return rest + " " + verb(a, b) + in(texts)
		}
		return rest + " " + verb(a, b) + at
	}
	return "parameter " + rest + " " + verb(a, b) + at
}

// opponent says what a judge compares trials with, before and now.
func opponent(a, b string) string {
	was, is := opponents(a), opponents(b)
	switch {
	case was == "":
		return "compared with " + is
	case is == "":
		return "no longer compared with " + was
	case was == is:
		return "the other trials, " + is + ", changed"
	}
	return "compared with " + is + ", before with " + was
}

// opponents is what a trial that was compared with belongs to: its digest and its
// repeat are left out, because one cause is to stand for all repeats.
func opponents(s string) string {
	s = s[:max(0, strings.LastIndexByte(s, ' '))]
	id, run, other := strings.Cut(s, " of ")
	if at := strings.LastIndex(id, ".r"); at >= 0 {
		id = id[:at]
	}
	if other {
		id += " of " + run
	}
	return id
}

func modelChange(block, a, b string) string {
	was, _, _ := strings.Cut(a, " ")
	is, _, _ := strings.Cut(b, " ")
	switch {
	case a == "" || b == "":
		return "model " + block + " " + verb(a, b)
	case was == is:
		return "settings of model " + block + " changed"
	}
	return "model " + block + " changed " + was + " → " + is
}

func verb(a, b string) string {
	switch {
	case a == "":
		return "added"
	case b == "":
		return "removed"
	}
	return "changed"
}

func short(digest string) string {
	const shown = 8
	if digest == "" {
		return "none"
	}
	return digest[:min(shown, len(digest))]
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// in names the files that changed, the first few of them.
func in(files []string) string {
	const shown = 3
	switch {
	case len(files) == 0:
		return ""
	case len(files) > shown:
		return fmt.Sprintf(" in %s and %d more files", strings.Join(files[:shown], ", "), len(files)-shown)
	}
	return " in " + strings.Join(files, ", ")
}

// changedFiles are the files that the suite has now and did not have so.
func changedFiles(before, after []eval.File) []string {
	sums := map[string]string{}
	for _, f := range before {
		sums[f.Path] = f.SHA256
	}
	var out []string
	for _, f := range after {
		if sums[f.Path] != f.SHA256 {
			out = append(out, f.Path)
		}
	}
	slices.Sort(out)
	return out
}
