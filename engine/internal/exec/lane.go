package exec

import (
	"fmt"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Limits bound a run. Zero values bound nothing.
type Limits struct {
	// Hosts and Providers bound parts by the names that lanes have for them.
	Hosts, Providers map[string]PartLimits
	// Circuit is how many faults in a row make the rest of a part be skipped.
	Circuit int
	// MaxTrials is how many trials are started.
	MaxTrials int
	// BudgetUSD is not passed. SpentUSD of it is spent already, MostUSD of that for
	// the most expensive trial. CapUSD is the most that a trial can cost, as far as
	// that is known.
	BudgetUSD, SpentUSD, MostUSD, CapUSD float64
}

// PartLimits bound what a host or a provider does.
type PartLimits struct {
	// Concurrency is how many trials run at once.
	Concurrency int
	// RequestsPerMinute holds trials back while the last minute had as many.
	RequestsPerMinute int
}

// Lane is what a trial shares with others. Empty names are of nothing shared.
type Lane struct{ Host, Provider, Target string }

// lane is the trials of one Lane that are still to be started, in the plan's
// order.
type lane struct {
	queue  []int32
	active int
	parts  []*part
	// host and provider are among the parts; provider is nil where there is none.
	host, provider *part
}

// lane returns the lane of a trial, made at its first use.
func (l *Local) lane(t eval.Trial) *lane {
	key := Lane{Host: t.Host}
	if l.Lane != nil {
		key = l.Lane(t)
	}
	if ln := l.lanes[key]; ln != nil {
		return ln
	}
	if l.lanes == nil {
		l.lanes, l.parts = map[Lane]*lane{}, map[string]*part{}
	}
	ln := &lane{}
	if key.Provider != "" {
		ln.provider = l.part("provider", key.Provider, l.Limits.Providers[key.Provider])
		ln.parts = append(ln.parts, ln.provider)
	}
	ln.host = l.part("host", key.Host, l.Limits.Hosts[key.Host])
	ln.parts = append(ln.parts, ln.host)
	if key.Target != "" {
		ln.parts = append(ln.parts, l.part("target", key.Target, PartLimits{}))
	}
	l.lanes[key] = ln
	l.order = append(l.order, ln)
	return ln
}

// part returns the part of a kind and name, which lanes share.
func (l *Local) part(kind, name string, limits PartLimits) *part {
	key := kind + " " + name
	p := l.parts[key]
	if p == nil {
		p = &part{name: key, limits: limits}
		l.parts[key] = p
	}
	return p
}

// may reports whether the lane's next trial may start now; where it may not,
// when it may as far as that is a matter of time.
func (l *Local) may(ln *lane, now time.Time) (bool, time.Time) {
	if l.running+l.returning >= l.concurrency() {
		return false, time.Time{}
	}
	if ln.open() != nil {
		return true, time.Time{} // to be skipped, which takes no part's time
	}
	if l.Limits.MaxTrials > 0 && l.budget.started >= l.Limits.MaxTrials {
		return false, time.Time{}
	}
	if ln.active >= l.concurrency() || !l.budget.allows(l.active, l.Limits.CapUSD) {
		return false, time.Time{}
	}
	var at time.Time
	for _, p := range ln.parts {
		ok, when := p.may(now)
		if !ok && when.IsZero() {
			return false, time.Time{}
		}
		if when.After(at) {
			at = when
		}
	}
	return at.IsZero(), at
}

func (l *Local) concurrency() int { return max(1, l.Concurrency) }

func (l *Local) trialsUsed() string {
	return fmt.Sprintf("%d trials were started, as many as max_trials allows", l.Limits.MaxTrials)
}

func (ln *lane) begin(now time.Time) {
	ln.active++
	for _, p := range ln.parts {
		p.active++
		p.asked(now)
	}
}

func (ln *lane) end() {
	ln.active--
	for _, p := range ln.parts {
		p.active--
	}
}

// open is the part of the lane that is not to be used any more; nil where all
// are.
func (ln *lane) open() *part {
	for _, p := range ln.parts {
		if p.open {
			return p
		}
	}
	return nil
}
