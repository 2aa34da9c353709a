package engine

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/capture"
	"github.com/evalengine/evalengine/engine/internal/model"
	"github.com/evalengine/evalengine/engine/internal/plan"
)

// openModels makes the broker of the run's judges. Without a use that may ask a
// model there is none.
func (r *run) openModels() error {
	asked := r.askedModels()
	if len(asked) == 0 {
		r.sayUnjudged()
		return nil
	}
	var budget model.Budget
	if r.s.BudgetUSD > 0 {
		r.budget.set(model.NewPurse(r.s.BudgetUSD, r.spent))
		budget = &r.budget
	}
	var err error
	r.models, err = model.New(model.Options{
		Models: asked, Plugin: r.e.pool.Model, Environ: r.e.o.Environ, Budget: budget, Limits: r.s.Providers,
		Cache: filepath.Join(r.e.o.Cache, "models"), Secrets: r.secrets, Logger: r.e.o.Logger,
	})
	return err
}

// judgeBudget is what judges may spend: while trials run it is the scheduler's, so
// that agents and judges share one.
type judgeBudget struct {
	mu sync.Mutex
	of model.Budget
}

func (b *judgeBudget) set(of model.Budget) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of = of
}

// Reserve is [model.Budget]'s.
func (b *judgeBudget) Reserve(usd float64) (func(float64), bool) {
	b.mu.Lock()
	of := b.of
	b.mu.Unlock()
	return of.Reserve(usd)
}

// judged is what the judges of a record cost, and whether all of it is known.
func judged(rec *eval.Record) (usd float64, known bool) {
	known = true
	for i := range rec.Scores {
		j := rec.Scores[i].Judge
		switch {
		case j == nil:
		case j.Usage.CostUSD != nil:
			usd += *j.Usage.CostUSD
		case j.Usage.InputTokens+j.Usage.OutputTokens > 0:
			known = false
		}
	}
	return usd, known
}

// askedModels are the model blocks that uses of the plan name.
func (r *run) askedModels() []eval.ModelConfig {
	var out []eval.ModelConfig
	for _, m := range r.s.Models {
		if slices.ContainsFunc(r.uses(), func(u eval.ScorerUse) bool { return slices.Contains(u.Models, m.Name) }) {
			out = append(out, m)
		}
	}
	return out
}

// uses are those of the plan's stories.
func (r *run) uses() []eval.ScorerUse {
	var out []eval.ScorerUse
	for i := range r.s.Stories {
		st := &r.s.Stories[i]
		if slices.ContainsFunc(r.p.Arms, func(a plan.Arm) bool { return a.Story == st.Name }) {
			out = append(out, st.Uses...)
		}
	}
	return out
}

// sayUnjudged tells once that judges are skipped.
func (r *run) sayUnjudged() {
	n := 0
	for _, u := range r.uses() {
		if u.Role == eval.RoleJudge && len(u.Models) == 0 {
			n++
		}
	}
	if n > 0 {
		r.e.o.Logger.Warn("judges are skipped: no model is configured for them", "judges", n)
	}
}

// openPages makes the browser of the run, which starts when a page is to be taken
// for the first time; none where no story of the plan takes pages. A machine
// without a browser is no failure of an agent: no pages are taken then, rather than
// empty ones, and what looks at pages says that there are none.
func (r *run) openPages() {
	takes := slices.ContainsFunc(r.s.Stories, func(st eval.Story) bool {
		return len(st.Captures) > 0 && slices.ContainsFunc(r.p.Arms, func(a plan.Arm) bool { return a.Story == st.Name })
	})
	if !takes {
		return
	}
	if _, err := capture.Find(r.s.Browser); err != nil {
		r.e.o.Logger.Warn("no pages are taken, and nothing that looks at pages is measured", "error", err)
		return
	}
	r.browser = capture.New(capture.Options{Config: r.s.Browser, Logger: r.e.o.Logger, Temp: r.temp.Path})
}

// closeJudges ends the browser and the connections to models.
func (r *run) closeJudges() {
	if r.browser != nil {
		if err := r.browser.Close(); err != nil {
			r.e.o.Logger.Warn("browser", "error", err)
		}
	}
	if r.models != nil {
		r.models.Close()
	}
}
