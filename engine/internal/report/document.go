package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of what a document keeps of records, so that its size is that of the plan.
// What is left out is counted and said.
const (
	maxKept   = 2000 // problems
	maxReason = 2000 // bytes of one reason
	maxPages  = 200
	maxDamage = 100
)

// Document is what a report of a run is made of: its summary, and what one pass over
// its records adds to that.
type Document struct {
	Summary *eval.Summary
	Info    *eval.Run
	// Problems are why trials are not passed, in the plan's order.
	Problems []Problem
	// Damage names files of the run that are missing or cannot be read.
	Damage []string
	Pages  []TrialPage
	// MoreProblems, MoreDamage and MorePages count what is not kept.
	MoreProblems, MoreDamage, MorePages int
	// Judges is what models took that judges asked, apart from the agents.
	Judges eval.Usage

	arms     map[eval.Trial]*armFacts
	errored  map[string]int
	versions map[string]map[string]bool
}

// TrialPage is a page that a trial's target showed in the end.
type TrialPage struct {
	Trial eval.Trial
	Page  string
	// URL and Title are the page's own, Error why it could not be taken.
	URL, Title, Error string
	Status            int
	// File is the first picture's name in the pages folder; empty for none.
	File string
	// Thumb is the path of a small picture from the report; empty for none.
	Thumb string
}

// armFacts are what a summary does not hold of an arm.
type armFacts struct {
	planned int
	// problems are those of Document.Problems that are the arm's.
	problems []Problem
	marks    []mark
	started  time.Time
	seconds  float64
}

// mark is how a trial ended.
type mark struct {
	repeat int
	status eval.Status
}

// NewDocument returns the document of a run of which no record is read yet.
func NewDocument(info *eval.Run) *Document {
	d := &Document{Info: info, arms: map[eval.Trial]*armFacts{}, errored: map[string]int{}, versions: map[string]map[string]bool{}}
	for _, t := range info.Trials {
		d.arm(t).planned++
	}
	return d
}

func (d *Document) arm(t eval.Trial) *armFacts {
	a := d.arms[t.Arm()]
	if a == nil {
		a = &armFacts{}
		d.arms[t.Arm()] = a
	}
	return a
}

// Add takes in one record and keeps none of it.
func (d *Document) Add(r *eval.Record) {
	a := d.arm(r.Trial)
	at, _ := slices.BinarySearchFunc(a.marks, r.Repeat, func(m mark, n int) int { return cmp.Compare(m.repeat, n) })
	a.marks = slices.Insert(a.marks, at, mark{r.Repeat, r.Status})
	a.seconds += spent(r)
	if s := r.Timings.StartedAt; !s.IsZero() && (a.started.IsZero() || s.Before(a.started)) {
		a.started = s
	}
	if r.Status == eval.StatusErrored {
		d.errored[r.Cause]++
	}
	for name, v := range r.Versions {
		if d.versions[name] == nil {
			d.versions[name] = map[string]bool{}
		}
		d.versions[name][v] = true
	}
	d.addJudges(r.Scores)
	d.addPages(r)
	d.addProblem(r)
}

// spent is how long a trial took, all attempts together.
func spent(r *eval.Record) float64 {
	sum := 0.0
	for _, a := range r.Attempts {
		sum += a.Seconds
	}
	return max(sum, r.Timings.Total)
}

func (d *Document) addJudges(scores []eval.Score) {
	for _, s := range scores {
		if s.Judge == nil {
			continue
		}
		u := s.Judge.Usage
		d.Judges.Add(u)
		switch {
		case u.CostUSD != nil && d.Judges.CostUSD != nil:
			d.Judges.CostUSD = new(*d.Judges.CostUSD + *u.CostUSD)
		case u.CostUSD != nil:
			d.Judges.CostUSD = new(*u.CostUSD)
		case u.InputTokens+u.OutputTokens > 0:
			d.Judges.LowerBound = true
		}
	}
}

func (d *Document) addPages(r *eval.Record) {
	for _, p := range r.Pages {
		if len(d.Pages) == maxPages {
			d.MorePages++
			continue
		}
		t := TrialPage{Trial: r.Trial, Page: head(p.Name, 200), URL: head(cmp.Or(p.FinalURL, p.URL), 500), Title: head(p.Title, 200), Error: head(p.Error, 500), Status: p.Status}
		if len(p.Shots) > 0 && len(p.Shots[0].Tiles) > 0 {
			t.File = p.Shots[0].Tiles[0].File
		}
		d.Pages = append(d.Pages, t)
	}
}

func (d *Document) addProblem(r *eval.Record) {
	if p, ok := ProblemOf(r); ok {
		d.AddProblem(p)
	}
}

// AddProblem tells of a trial that is not passed.
func (d *Document) AddProblem(p Problem) {
	if len(d.Problems) == maxKept {
		d.MoreProblems++
		return
	}
	p.Reason = head(p.Reason, maxReason)
	d.Problems = append(d.Problems, p)
	a := d.arm(p.Trial)
	a.problems = append(a.problems, p)
}

// AddDamage tells of a file that is missing or cannot be read.
func (d *Document) AddDamage(what string) {
	if len(d.Damage) == maxDamage {
		d.MoreDamage++
		return
	}
	d.Damage = append(d.Damage, head(what, 500))
}

// component is one part of what ran, with every version of it that trials had.
type component struct {
	Name     string
	Versions []string
}

func (d *Document) components() []component {
	var out []component
	for _, name := range slices.Sorted(maps.Keys(d.versions)) {
		out = append(out, component{name, slices.Sorted(maps.Keys(d.versions[name]))})
	}
	return out
}

// verdict is the run's in one word, and why.
func (d *Document) verdict() (word, why string) {
	s := d.Summary
	switch {
	case s.Trials.Failed > 0:
		return "failed", plural(s.Trials.Failed, "trial") + " failed"
	case s.Completion == eval.RunInterrupted:
		return "interrupted", "someone stopped the run"
	case s.Trials.Total == 0:
		return "incomplete", "no trial is recorded"
	case s.Completion != eval.RunComplete || len(d.Damage) > 0:
		return "incomplete", "not every trial that was planned has a verdict"
	}
	return "passed", "every gate held"
}

// of returns the facts of an arm; those of none where no record told any.
func (d *Document) of(a *eval.Arm) *armFacts {
	if f := d.arms[eval.Trial{Story: a.Story, Variant: a.Variant, Host: a.Host}]; f != nil {
		return f
	}
	return &armFacts{planned: a.Trials.Total}
}

// notRun is how many planned trials of an arm have no record.
func (f *armFacts) notRun(a *eval.Arm) int { return max(0, f.planned-a.Trials.Total) }
