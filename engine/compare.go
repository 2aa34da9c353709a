package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/compare"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// ErrDamaged is returned when a file of a run cannot be read. What is left of the run
// is not compared: a verdict without the trials that are gone would say too much.
var ErrDamaged = errors.New("the run is not whole")

// ErrTooFew is returned when a run has too few repeats for [Noise].
var ErrTooFew = compare.ErrFewRepeats

// CompareOptions say which trials are compared, and how.
type CompareOptions struct {
	Store *Store
	// By is empty for two runs, or "host" or "variant" for two of one run; Base and
	// Head name these, and may be empty where the run has just two.
	By         string
	Base, Head string
	// Selection keeps those stories, hosts and variants alone.
	Selection Selection
	// Level is that of the intervals; 0 is 0.95. Seed is of tests that draw at random.
	Level float64
	Seed  uint64
	// Gates are globs over the names of quantities that gate beside the asserts.
	Gates []string
	// Force compares also what another scorer, or another use of it, made.
	Force bool
}

func (o *CompareOptions) options() compare.Options {
	return compare.Options{By: o.By, Level: o.Level, Seed: o.Seed, Gates: o.Gates, Force: o.Force}
}

// keeps reports whether a trial is among those that are compared.
func (o *CompareOptions) keeps(t eval.Trial) bool {
	any := func(globs []string, name string) bool {
		return len(globs) == 0 || slices.ContainsFunc(globs, func(g string) bool { return eval.Glob(g, name) })
	}
	return any(o.Selection.Stories, t.Story) && any(o.Selection.Hosts, t.Host) && any(o.Selection.Variants, t.Variant)
}

// Compare holds the trials of head against those of base, or with By the hosts or
// variants of the run base against each other, where head is empty. Nothing is run
// and nothing is changed.
func (e *Engine) Compare(ctx context.Context, base, head string, o CompareOptions) (*eval.Comparison, error) {
	if _, err := o.options().Filled(); err != nil {
		return nil, err
	}
	b, err := openWhole(o.Store, base)
	if err != nil {
		return nil, err
	}
	if o.By != "" {
		return compareWithin(b, o)
	}
	h, err := openWhole(o.Store, head)
	if err != nil {
		return nil, err
	}
	x, err := RunSide(b, o.keeps)
	if err != nil {
		return nil, err
	}
	y, err := RunSide(h, o.keeps)
	if err != nil {
		return nil, err
	}
	unknown := e.tellParameters(ctx, b, h, x, y)
	c, err := compare.Compare(x, y, o.options())
	if err == nil && unknown != "" {
		c.Notes = append(c.Notes, unknown)
	}
	return c, err
}

// openWhole opens a run that this program can read.
func openWhole(s *Store, name string) (*ledger.Run, error) {
	r, err := s.Run(name)
	switch {
	case errors.Is(err, ledger.ErrNoRun), errors.Is(err, ledger.ErrSchema):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return r, nil
}

// RunSide makes one side of a comparison of the trials of a run that keep wants; nil
// wants all.
func RunSide(kept *ledger.Run, keep func(eval.Trial) bool) (*compare.Side, error) {
	if keep == nil {
		keep = func(eval.Trial) bool { return true }
	}
	s := compare.NewSide(kept.Info.ID)
	s.AddRun(&kept.Info, planned(kept, keep))
	for rec, err := range wholeRecords(kept) {
		if err != nil {
			return nil, err
		}
		if keep(rec.Trial) {
			s.Add(rec)
		}
	}
	return s, nil
}

func planned(kept *ledger.Run, keep func(eval.Trial) bool) int {
	n := 0
	for _, t := range kept.Info.Trials {
		if keep(t) {
			n++
		}
	}
	return n
}

// wholeRecords are a run's records with their newest verdicts, and the versions that
// these were made by. The first file that cannot be read ends them.
func wholeRecords(kept *ledger.Run) iter.Seq2[*eval.Record, error] {
	return func(yield func(*eval.Record, error) bool) {
		ids, err := kept.TrialIDs()
		if err != nil {
			yield(nil, fmt.Errorf("%w: %w", ErrDamaged, err))
			return
		}
		for _, id := range ids {
			if !kept.Recorded(id) {
				yield(nil, fmt.Errorf("%w: %s is missing", ErrDamaged, filepath.Join(kept.TrialDir(id), "trial.json")))
				return
			}
		}
		for rec, err := range kept.Records() {
			if err == nil {
				err = withVersions(kept, rec)
			}
			if err != nil {
				yield(nil, fmt.Errorf("%w: %w", ErrDamaged, err))
				return
			}
			if rec.Schema != ledger.SchemaVersion {
				yield(nil, fmt.Errorf("%s: schema %d; this evalengine reads %d", filepath.Join(kept.TrialDir(rec.ID), "trial.json"), rec.Schema, ledger.SchemaVersion))
				return
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// withVersions puts the versions that a later verdict was made by over those of the
// record: its scores are theirs.
func withVersions(kept *ledger.Run, rec *eval.Record) error {
	if rec.Rescored == nil {
		return nil
	}
	list, err := ledger.ReadRescores(kept.TrialDir(rec.ID))
	for _, s := range list {
		if s.ID == rec.Rescored.ID {
			all := maps.Clone(rec.Versions)
			if all == nil {
				all = map[string]string{}
			}
			for name, v := range s.Versions {
				if strings.HasPrefix(name, "scorer/") {
					all[name] = v
				}
			}
			rec.Versions = all
		}
	}
	return err
}

// compareWithin holds two hosts or two variants of one run against each other.
func compareWithin(kept *ledger.Run, o CompareOptions) (*eval.Comparison, error) {
	of := func(t eval.Trial) string { return t.Host }
	if o.By == compare.ByVariant {
		of = func(t eval.Trial) string { return t.Variant }
	}
	var values []string
	for _, t := range kept.Info.Trials {
		if v := of(t); v != "" && o.keeps(t) && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	names, err := choose(o, values)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", kept.Info.ID, err)
	}
	sides := [2]*compare.Side{}
	for i, name := range names {
		sides[i] = compare.NewSide(name)
		if o.By == compare.ByHost {
			sides[i].Of(name, "")
		} else {
			sides[i].Of("", name)
		}
		sides[i].AddRun(&kept.Info, planned(kept, func(t eval.Trial) bool { return o.keeps(t) && of(t) == name }))
	}
	outside := map[eval.Trial]int{}
	for rec, err := range wholeRecords(kept) {
		if err != nil {
			return nil, err
		}
		switch {
		case !o.keeps(rec.Trial):
		case of(rec.Trial) == names[0]:
			sides[0].Add(rec)
		case of(rec.Trial) == names[1]:
			sides[1].Add(rec)
		case of(rec.Trial) == "":
			outside[rec.Trial.Arm()]++
		}
	}
	c, err := compare.Compare(sides[0], sides[1], o.options())
	if err != nil {
		return nil, err
	}
	for _, t := range kept.Info.Trials {
		if n := outside[t.Arm()]; n > 0 {
			c.Unpaired = append(c.Unpaired, eval.Unpaired{Story: t.Story, Host: t.Host, Side: "neither", Whole: true, Trials: n})
			delete(outside, t.Arm())
		}
	}
	return c, nil
}

// choose names the two sides of a run: those asked for, or the only two there are.
func choose(o CompareOptions, values []string) ([2]string, error) {
	list := strings.Join(values, ", ")
	switch {
	case len(values) < 2:
		return [2]string{}, fmt.Errorf("it has %d of what --by %s compares (%s): two are needed", len(values), o.By, cmp.Or(list, "none"))
	case o.Base == "" && o.Head == "" && len(values) > 2:
		return [2]string{}, fmt.Errorf("it has the %ss %s: say with --base and --head which two to compare", o.By, list)
	}
	names := [2]string{o.Base, o.Head}
	for i, name := range names {
		if name != "" && !slices.Contains(values, name) {
			return names, fmt.Errorf("it has no %s %q; it has %s", o.By, name, list)
		}
		if name == "" {
			j := slices.IndexFunc(values, func(v string) bool { return v != names[1-i] })
			if names[1-i] != "" && len(values) > 2 {
				return names, fmt.Errorf("it has the %ss %s: give both --base and --head", o.By, list)
			}
			names[i] = values[j]
		}
	}
	if names[0] == names[1] {
		return names, fmt.Errorf("base and head are both the %s %s", o.By, names[0])
	}
	return names, nil
}

// tellParameters tells both sides what their suites gave to scorers, where the suites
// are not the same; it returns what it could not find out.
func (e *Engine) tellParameters(ctx context.Context, b, h *ledger.Run, x, y *compare.Side) string {
	sums := func(r *ledger.Run) []eval.File {
		files := make([]eval.File, len(r.Info.Files))
		for i, f := range r.Info.Files {
			files[i] = eval.File{Path: f.Path, SHA256: f.SHA256}
		}
		return files
	}
	same := slices.EqualFunc(sums(b), sums(h), func(a, b eval.File) bool { return a.Path == b.Path && a.SHA256 == b.SHA256 })
	if same && maps.Equal(b.Info.Vars, h.Info.Vars) && !x.Rescored() && !y.Rescored() {
		return ""
	}
	if x.Defined() && y.Defined() {
		return ""
	}
	const unknown = "whether the parameters of scorers changed is not known: "
	if x.Rescored() || y.Rescored() {
		return unknown + "trials were scored again, perhaps by another suite than the run's"
	}
	for _, s := range []struct {
		run  *ledger.Run
		side *compare.Side
	}{{b, x}, {h, y}} {
		suite, err := e.reload(ctx, s.run)
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			return unknown + "the suite of run " + s.run.Info.ID + " cannot be read again: " + first
		}
		setParameters(suite, s.side)
	}
	return ""
}

// anyTarget stands in for the values of a target: what a scorer is given is compared,
// not where each trial ran.
var anyTarget = eval.JSON(`{"url":"http://target.invalid/","id":"target"}`)

func setParameters(s *eval.Suite, side *compare.Side) {
	for _, st := range s.Stories {
		vars := eval.Vars{Target: anyTarget, Trial: eval.Trial{Story: st.Name, Host: "host", Repeat: 1}}
		for _, u := range st.Uses {
			params, err := u.Params.Value(vars)
			if err != nil {
				params = eval.JSON("error: " + err.Error())
			}
			var models [][]any
			for _, m := range s.Models {
				if slices.Contains(u.Models, m.Name) {
					models = append(models, []any{m.Name, m.Provider, m.Model, string(m.Config), m.SHA256})
				}
			}
			side.SetParameters(st.Name, u.Name, digest(u.Scorer, string(params), models))
		}
	}
}
