package engine

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/plan"
	"github.com/evalengine/evalengine/engine/internal/trial"
)

const (
	// standardSamples is how often a gold is graded that does not say.
	standardSamples = 5
	// gradings is how many gradings are under way at once.
	gradings = 4
)

// GradeGolds has the judges of a suite's stories grade the recorded golds and
// floors, and keeps what they say in place of earlier grades.
func (e *Engine) GradeGolds(ctx context.Context, s *eval.Suite, o GoldOptions) ([]eval.GoldGrades, error) {
	stories, err := goldStories(s, o.Stories)
	if err != nil {
		return nil, err
	}
	g, err := e.newGrading(ctx, s, stories, o)
	if err != nil {
		return nil, err
	}
	defer g.r.closeJudges()
	var done []eval.GoldGrades
	for _, st := range stories {
		grades, err := g.story(ctx, st)
		if err != nil {
			return done, fmt.Errorf("story %q: %w", st.Name, err)
		}
		done = append(done, *grades)
	}
	return done, nil
}

// grading is what golds are graded with.
type grading struct {
	e *Engine
	o GoldOptions
	r *run
}

func (e *Engine) newGrading(ctx context.Context, s *eval.Suite, stories []*eval.Story, o GoldOptions) (*grading, error) {
	judged := new(*s)
	judged.Hosts = append(slices.DeleteFunc(slices.Clone(s.Hosts), func(h eval.HostConfig) bool { return h.Name == trial.GoldHost }),
		eval.HostConfig{Name: trial.GoldHost, Driver: scriptDriver, Config: eval.JSON("{}")})
	judged.Stories = nil
	var trials []eval.Trial
	for _, st := range stories {
		alone := *st
		alone.Hosts, alone.Variants = nil, nil
		alone.Uses = slices.DeleteFunc(slices.Clone(st.Uses), func(u eval.ScorerUse) bool { return u.Scorer == ceilingOf(st.Gold) })
		judged.Stories = append(judged.Stories, alone)
		trials = append(trials, trial.GoldTrial(st.Name))
	}
	p, diags := plan.Of(judged, trials)
	if err := diags.Err(); err != nil {
		return nil, err
	}
	r := newRun(e, judged, p, RunOptions{})
	if err := r.knowSecrets(); err != nil {
		return nil, err
	}
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	if err := r.openModels(); err != nil {
		return nil, err
	}
	r.info.Modules = r.moduleComponents()
	return &grading{e: e, o: o, r: r}, nil
}

// story grades the gold of a story and its floor.
func (g *grading) story(ctx context.Context, st *eval.Story) (*eval.GoldGrades, error) {
	k, err := g.r.keptGold(g.o.Store, st)
	if err != nil {
		return nil, err
	}
	grades := &eval.GoldGrades{Story: st.Name, GradedAt: time.Now().UTC(), Gold: k.info.Gold, Floor: k.info.Floor, Samples: g.samples(st)}
	for i := range st.Uses {
		if u := &st.Uses[i]; u.Role == eval.RoleJudge && u.Scorer != ceilingOf(st.Gold) {
			grades.Judges = append(grades.Judges, eval.GoldJudge{Score: u.Name, Scorer: u.Scorer, MadeFrom: g.r.judgeMadeFrom(u, k.vars), Gold: []float64{}})
		}
	}
	if len(grades.Judges) == 0 {
		return nil, fmt.Errorf("it has no judge that could grade its gold")
	}
	var asked askedLog
	for _, part := range []struct {
		name, sum string
		values    func(*eval.GoldJudge) *[]float64
	}{
		{ledger.GoldDir, k.info.Gold, func(j *eval.GoldJudge) *[]float64 { return &j.Gold }},
		{ledger.FloorDir, k.info.Floor, func(j *eval.GoldJudge) *[]float64 { return &j.Floor }},
	} {
		if part.sum == "" {
			continue
		}
		if err := g.grade(ctx, grades, k, part.name, part.sum, &asked, part.values); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return grades, g.o.Store.KeepGrades(*grades, asked.Bytes())
}

func (g *grading) samples(st *eval.Story) int {
	switch {
	case g.o.Samples > 0:
		return g.o.Samples
	case st.Gold.Samples > 0:
		return st.Gold.Samples
	}
	return standardSamples
}

// grade has one piece of evidence graded as often as asked, a few at once. Answers
// that are stored belong to this evidence and to the number of the sample.
func (g *grading) grade(ctx context.Context, grades *eval.GoldGrades, k *keptGold, name, sum string, asked *askedLog, values func(*eval.GoldJudge) *[]float64) error {
	runner := &trial.Runner{
		Suite: g.r.s, Ledger: &ledger.Run{Info: eval.Run{ID: "gold " + sum}}, Modules: g.r.modules, Secrets: g.r.secrets,
		Environ: g.e.o.Environ, Versions: g.r.versions(), Logger: g.e.o.Logger, Models: g.r.models, Values: k.vars.Target,
		Golds: map[string]*trial.Gold{grades.Story: {State: k.gold.State, Pages: k.gold.Pages}},
	}
	dir := filepath.Join(g.o.Store.Gold(grades.Story), name)
	scores, errs := make([][]eval.Score, grades.Samples), make([]error, grades.Samples)
	slots := make(chan struct{}, gradings)
	var wg sync.WaitGroup
	for n := range grades.Samples {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() != nil {
				errs[n] = context.Cause(ctx)
				return
			}
			scores[n], errs[n] = runner.Grade(ctx, dir, grades.Story, n+1, asked)
		})
	}
	wg.Wait()
	for n := range scores {
		if errs[n] != nil {
			return errs[n]
		}
		takeSample(grades, name, n+1, scores[n], values)
	}
	return nil
}

// takeSample takes the judges' values of one grading.
func takeSample(grades *eval.GoldGrades, name string, n int, scores []eval.Score, values func(*eval.GoldJudge) *[]float64) {
	for i := range grades.Judges {
		j := &grades.Judges[i]
		at := slices.IndexFunc(scores, func(s eval.Score) bool { return s.Name == j.Score })
		if at < 0 {
			continue
		}
		s := &scores[at]
		if s.Judge != nil {
			addCost(&grades.Usage, s.Judge.Usage)
		}
		if s.State == eval.Scored && s.Value != nil {
			v := values(j)
			*v = append(*v, *s.Value)
			continue
		}
		if j.Problem == "" {
			j.Problem = fmt.Sprintf("%s, sample %d: %s: %s", name, n, s.State, s.Reason)
		}
	}
}

// addCost adds usage; tokens without a price make the sum a lower bound.
func addCost(sum *eval.Usage, u eval.Usage) {
	sum.Add(u)
	if u.CostUSD != nil {
		total := *u.CostUSD
		if sum.CostUSD != nil {
			total += *sum.CostUSD
		}
		sum.CostUSD = &total
	} else if u.InputTokens+u.OutputTokens > 0 {
		sum.LowerBound = true
	}
}

// askedLog takes lines from many sessions at once.
type askedLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *askedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// Bytes are all that was written; nobody may write any more.
func (l *askedLog) Bytes() []byte { return l.b.Bytes() }
