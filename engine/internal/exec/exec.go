// Package exec runs the trials of a plan: so many at once, in the plan's order,
// until they are done or a limit of the run is reached. It decides when a trial
// may start; how one runs is not its concern.
//
// Trials that share a host, a provider and a target are a lane. A lane that may
// not start a trial now holds back no other: of all lanes that may, the one whose
// next trial comes first in the plan goes on.
package exec

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// ErrStop ends a run: no further trial is started, those under way are finished.
// It is returned by Local.Done.
var ErrStop = errors.New("the run is to stop")

// Local runs trials in this process. Its fields are set before Execute and not
// changed after; its methods are safe for concurrent use. It is for one Execute.
type Local struct {
	// Concurrency is how many trials run at once; at least 1.
	Concurrency int
	// Run runs one trial. It is called from many goroutines at once.
	Run func(context.Context, eval.Trial) (*eval.Record, error)
	// Done is told of each trial that ended, one at a time. An error of Done ends
	// the run: ErrStop quietly, any other as Execute's error.
	Done func(eval.Trial, *eval.Record, error) error
	// Lane says what a trial shares with others; nil is nothing.
	Lane func(eval.Trial) Lane
	// Limits bound the run.
	Limits Limits

	mu    sync.Mutex
	wake  *sync.Cond
	lanes map[Lane]*lane
	order []*lane
	parts map[string]*part
	// left is how many trials are in no lane's past; running have one of the
	// Concurrency places, active also those that wait for another attempt, and
	// returning those whose wait is over.
	left, running, active, returning int
	budget                           budget
	stopped                          eval.Stop
	reason                           string
	// closed says that no trial is to be started, broken that none is to be tried
	// again either.
	closed, broken bool
}

// Execute runs the trials and returns when all that were started have ended.
// When ctx ends, no further trial is started.
func (l *Local) Execute(ctx context.Context, trials []eval.Trial) error {
	l.begin(trials)
	unwatch := context.AfterFunc(ctx, l.awake)
	defer unwatch()
	var (
		workers sync.WaitGroup
		done    sync.Mutex
		failed  error
	)
	for {
		lane, i, ok := l.next(ctx)
		if !ok {
			break
		}
		t := trials[i]
		workers.Go(func() {
			rec, err := l.Run(ctx, t)
			done.Lock()
			derr := l.Done(t, rec, err)
			if derr != nil && failed == nil && !errors.Is(derr, ErrStop) {
				failed = derr
			}
			done.Unlock()
			l.ended(lane, rec, derr)
		})
	}
	workers.Wait()
	return failed
}

// Stopped says why the run ended before its plan did, empty where it did not,
// and the same in a sentence. It is for after Execute.
func (l *Local) Stopped() (eval.Stop, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopped, l.reason
}

func (l *Local) begin(trials []eval.Trial) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake = sync.NewCond(&l.mu)
	l.left = len(trials)
	l.budget = budget{limit: l.Limits.BudgetUSD, spent: l.Limits.SpentUSD, most: l.Limits.MostUSD}
	for i, t := range trials {
		ln := l.lane(t)
		ln.queue = append(ln.queue, int32(i))
	}
}

// awake makes the scheduler look again.
func (l *Local) awake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake.Broadcast()
}

// next waits for the next trial that may start; not ok where there is none.
func (l *Local) next(ctx context.Context) (ln *lane, i int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if l.closed || l.left == 0 || ctx.Err() != nil {
			return nil, 0, false
		}
		ln, again := l.pick(time.Now())
		if ln != nil {
			return ln, l.take(ln), true
		}
		if l.over(again) {
			return nil, 0, false
		}
		l.sleep(again)
	}
}

// sleep waits until something has changed, or until the time where it is not
// zero.
func (l *Local) sleep(until time.Time) {
	if !until.IsZero() {
		t := time.AfterFunc(time.Until(until), l.awake)
		defer t.Stop()
	}
	l.wake.Wait()
}

// pick finds the lane whose next trial goes first of those that may start. Where
// none may, it says when one may, zero where that is only known to another
// trial's end.
func (l *Local) pick(now time.Time) (best *lane, again time.Time) {
	for _, ln := range l.order {
		if len(ln.queue) == 0 || best != nil && ln.queue[0] > best.queue[0] {
			continue
		}
		ok, at := l.may(ln, now)
		if ok {
			best = ln
		} else if !at.IsZero() && (again.IsZero() || at.Before(again)) {
			again = at
		}
	}
	return best, again
}

// take takes a lane's next trial out of its queue and counts it as under way.
func (l *Local) take(ln *lane) int {
	i := int(ln.queue[0])
	ln.queue = ln.queue[1:]
	l.left--
	l.running++
	l.active++
	ln.begin(time.Now())
	if ln.open() == nil {
		l.budget.started++
	}
	return i
}

func (l *Local) ended(ln *lane, rec *eval.Record, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	l.active--
	ln.end()
	l.budget.add(rec)
	l.closed = l.closed || err != nil
	l.broken = l.broken || err != nil && !errors.Is(err, ErrStop)
	l.wake.Broadcast()
}

// over ends the run where nothing is under way and nothing may start any more.
func (l *Local) over(again time.Time) bool {
	switch {
	case l.Limits.MaxTrials > 0 && l.budget.started >= l.Limits.MaxTrials:
		l.stop(eval.StopTrials, l.trialsUsed())
	case l.active == 0 && again.IsZero():
		l.stop(eval.StopBudget, l.budget.used())
	default:
		return false
	}
	l.closed = true
	return true
}

// stop keeps the first reason.
func (l *Local) stop(why eval.Stop, reason string) {
	if l.stopped == "" {
		l.stopped, l.reason = why, reason
	}
}
