package exec

import (
	"fmt"

	"github.com/evalengine/evalengine/engine/eval"
)

// budget is what a run may cost and what it has cost.
type budget struct {
	limit, spent float64
	// aside is what requests of judges under way may cost.
	aside float64
	// most is the most expensive trial so far, of those ended; started counts what
	// MaxTrials bounds.
	most           float64
	ended, started int
}

// cent is below what anybody sets a budget to; sums of prices are not exact.
const cent = 1e-9

// allows reports whether one trial more than the active ones can be expected to
// fit. A trial under way is taken to cost what the most expensive one did. Before
// one has ended, it is taken to cost its cap; where there is none, the first
// trial runs alone, so that it is known what one costs.
func (b *budget) allows(active int, cap float64) bool {
	if b.limit <= 0 {
		return true
	}
	used := b.spent + b.aside
	if used >= b.limit-cent {
		return false
	}
	each := b.most
	if b.ended == 0 && each <= 0 {
		each = cap
	}
	if b.ended == 0 && each <= 0 {
		return active == 0
	}
	return used+float64(active+1)*each <= b.limit+cent
}

// add takes in a trial that ended; nil is one without a record. What its judges
// cost is spent already.
func (b *budget) add(rec *eval.Record) {
	if rec == nil || rec.Status == eval.StatusSkipped {
		return
	}
	cost := 0.0
	for _, a := range rec.Attempts {
		if a.Usage.CostUSD != nil {
			cost += *a.Usage.CostUSD
		}
	}
	b.ended++
	b.spent += cost
	for i := range rec.Scores {
		if j := rec.Scores[i].Judge; j != nil && j.Usage.CostUSD != nil {
			cost += *j.Usage.CostUSD
		}
	}
	b.most = max(b.most, cost)
}

// Reserve takes usd aside for a request of a judge: the most that it can cost. It
// is false where the budget could be passed by that. settle, called once, puts in
// its place what the request did cost.
func (l *Local) Reserve(usd float64) (settle func(actual float64), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &l.budget
	if b.limit > 0 && b.spent+b.aside+usd > b.limit+cent {
		return nil, false
	}
	b.aside += usd
	return func(actual float64) {
		l.mu.Lock()
		defer l.mu.Unlock()
		b.aside -= usd
		b.spent += actual
		l.wake.Broadcast()
	}, true
}

func (b *budget) used() string {
	if b.most <= 0 {
		return fmt.Sprintf("one more trial could pass the budget of $%.2f, of which $%.2f are spent", b.limit, b.spent)
	}
	return fmt.Sprintf("$%.2f of the budget of $%.2f are spent, and one more trial could cost $%.2f", b.spent, b.limit, b.most)
}
