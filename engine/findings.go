package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/findings"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// FindingsOptions say which findings are wanted.
type FindingsOptions struct {
	Store *Store
	// Suite is the name of a suite; empty takes that of the newest run.
	Suite string
	// Experiment takes only the runs of that one; empty takes all.
	Experiment string
	// Triage is the file of what people decided; empty takes the usual one, beside the
	// suite where its folder is there.
	Triage string
	// Hosts, Kinds, States, Since and Newest narrow what is shown, as in
	// [findings.Options].
	Hosts  []string
	Kinds  []string
	States []eval.FindingState
	Since  time.Time
	Newest int
}

// Findings returns the findings of a suite over its stored runs. What cannot be read is
// told in the history and stops nothing.
func Findings(o FindingsOptions) (*eval.FindingHistory, error) {
	b, err := readBook(o)
	if err != nil {
		return nil, err
	}
	return b.history(o), nil
}

// Decide writes what a person decided about findings into the file of decisions, for
// all of the IDs or for none. It returns what was decided on, and the file.
func Decide(ids []string, d eval.Triage, o FindingsOptions) ([]eval.FindingGroup, string, error) {
	b, err := readBook(o)
	if err != nil {
		return nil, "", err
	}
	list := b.all()
	var decided []string
	for _, id := range ids {
		g, err := findings.Find(list, id)
		if err != nil {
			return nil, b.path, err
		}
		if err := b.triage.Decide(g, d); err != nil {
			return nil, b.path, err
		}
		decided = append(decided, g.ID)
	}
	if err := b.triage.Write(b.path); err != nil {
		return nil, b.path, fmt.Errorf("triage file %s: %w", b.path, err)
	}
	list = slices.DeleteFunc(b.all(), func(g eval.FindingGroup) bool { return !slices.Contains(decided, g.ID) })
	return list, b.path, nil
}

// all are the findings of the suite, without regard to what is to be shown.
func (b *book) all() []eval.FindingGroup {
	h := b.history(FindingsOptions{})
	return slices.Concat(h.Groups, h.Unverified)
}

// book is what is known of a suite's findings.
type book struct {
	suite, path string
	others      []string
	findings    findings.History
	triage      *findings.Triage
}

func readBook(o FindingsOptions) (*book, error) {
	runs, broken, err := openRuns(o.Store)
	if err != nil {
		return nil, err
	}
	b := &book{suite: o.Suite}
	if b.suite == "" {
		b.suite = runs[len(runs)-1].Info.Suite
	}
	mine := slices.DeleteFunc(slices.Clone(runs), func(r *ledger.Run) bool {
		return r.Info.Suite != b.suite || o.Experiment != "" && r.Info.Experiment != o.Experiment
	})
	b.others = names(runs, func(r *ledger.Run) string { return r.Info.Suite })
	if len(mine) == 0 {
		return nil, noSuch(o, b, runs)
	}
	b.others = slices.DeleteFunc(b.others, func(s string) bool { return s == b.suite })
	if b.path = o.Triage; b.path == "" {
		b.path = triagePath(mine[len(mine)-1].Info.Dir)
	}
	if b.triage, err = findings.ReadTriage(b.path); err != nil {
		return nil, err
	}
	for _, u := range broken {
		b.findings.Unread(u.id, u.err)
	}
	for _, r := range mine {
		if err := b.findings.Add(r.Info.ID, r.Info.StartedAt, recorded(r)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *book) history(o FindingsOptions) *eval.FindingHistory {
	h := b.findings.Of(findings.Options{Triage: b.triage, Hosts: o.Hosts, Kinds: o.Kinds, States: o.States, Since: o.Since, Newest: o.Newest})
	h.Suite, h.Experiment, h.Triage, h.OtherSuites = b.suite, o.Experiment, b.path, b.others
	return h
}

// noSuch says that there are no runs of what was asked for, and what there is.
func noSuch(o FindingsOptions, b *book, runs []*ledger.Run) error {
	if !slices.Contains(b.others, b.suite) {
		return fmt.Errorf("no run of suite %q; there are runs of %s", b.suite, strings.Join(b.others, ", "))
	}
	of := slices.DeleteFunc(slices.Clone(runs), func(r *ledger.Run) bool { return r.Info.Suite != b.suite })
	list := slices.DeleteFunc(names(of, func(r *ledger.Run) string { return r.Info.Experiment }), func(s string) bool { return s == "" })
	if len(list) == 0 {
		return fmt.Errorf("no run of suite %s has experiment %q; none has any", b.suite, o.Experiment)
	}
	return fmt.Errorf("no run of suite %s has experiment %q; there are %s", b.suite, o.Experiment, strings.Join(list, ", "))
}

func names(runs []*ledger.Run, of func(*ledger.Run) string) []string {
	var list []string
	for _, r := range runs {
		list = append(list, of(r))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// unopened is a run that cannot be opened.
type unopened struct {
	id  string
	err error
}

// openRuns opens all runs of a store, oldest first, and says which cannot be opened.
// A folder without run.json and trials is what a killed engine left before the run
// began.
func openRuns(store *Store) (runs []*ledger.Run, broken []unopened, err error) {
	ids, err := store.Runs()
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		r, err := store.Run(id)
		if err == nil {
			runs = append(runs, r)
			continue
		}
		left, _ := os.ReadDir(filepath.Join(store.Root(), "runs", id, "trials"))
		if !errors.Is(err, fs.ErrNotExist) || len(left) > 0 {
			broken = append(broken, unopened{id, err})
		}
	}
	if len(runs) == 0 {
		for _, b := range broken {
			return nil, nil, fmt.Errorf("%w in %s that can be read: %w", ledger.ErrNoRun, store.Root(), b.err)
		}
		return nil, nil, fmt.Errorf("%w: there is none in %s; evalengine run makes one", ledger.ErrNoRun, store.Root())
	}
	slices.SortStableFunc(runs, func(a, b *ledger.Run) int { return a.Info.StartedAt.Compare(b.Info.StartedAt) })
	return runs, broken, nil
}

// recorded reads the records of all trials that have a folder: one that is missing its
// record is an error, as is one that cannot be read, and reading goes on.
func recorded(r *ledger.Run) iter.Seq2[*eval.Record, error] {
	return func(yield func(*eval.Record, error) bool) {
		ids, err := r.TrialIDs()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, id := range ids {
			if rec, err := r.Record(id); !yield(rec, err) {
				return
			}
		}
	}
}

// triagePath is the file of decisions: beside the suite where its folder is there, or
// in the working folder.
func triagePath(suite string) string {
	if info, err := os.Stat(suite); suite != "" && err == nil && info.IsDir() {
		return filepath.Join(suite, findings.TriageFile)
	}
	return findings.TriageFile
}

// FindingDelta returns what a run changed in the findings of its suite, held against
// the runs of that suite that began before it. Of the options Store, Experiment,
// Triage and Hosts count.
func FindingDelta(run string, o FindingsOptions) (*eval.FindingDelta, error) {
	kept, err := o.Store.Run(run)
	if err != nil {
		return nil, err
	}
	o.Suite = kept.Info.Suite
	b, err := readBook(o)
	if err != nil {
		return nil, err
	}
	d, err := b.findings.Delta(kept.Info.ID, findings.Options{Triage: b.triage, Hosts: o.Hosts})
	if err != nil {
		return nil, err
	}
	d.Suite = b.suite
	return d, nil
}
