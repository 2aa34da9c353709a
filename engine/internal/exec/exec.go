// Package exec runs the trials of a plan: so many at once, in the plan's order,
// until they are done or the run is told to stop. Where a trial runs is its
// concern, how one runs is not.
package exec

import (
	"context"
	"errors"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
)

// ErrStop ends a run: no further trial is started, those under way are finished.
// It is returned by Local.Done.
var ErrStop = errors.New("the run is to stop")

// Local runs trials in this process.
type Local struct {
	// Concurrency is how many trials run at once; at least 1.
	Concurrency int
	// Run runs one trial. It is called from many goroutines at once.
	Run func(context.Context, eval.Trial) (*eval.Record, error)
	// Done is told of each trial that ended, one at a time. An error of Done ends
	// the run: ErrStop quietly, any other as Execute's error.
	Done func(eval.Trial, *eval.Record, error) error
}

// Execute runs the trials and returns when all that were started have ended.
// When ctx ends, no further trial is started.
func (l *Local) Execute(ctx context.Context, trials []eval.Trial) error {
	next := make(chan eval.Trial)
	stop := make(chan struct{})
	var (
		workers sync.WaitGroup
		mu      sync.Mutex
		once    sync.Once
		failed  error
	)
	done := func(t eval.Trial, rec *eval.Record, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err := l.Done(t, rec, err); err != nil {
			if failed == nil && !errors.Is(err, ErrStop) {
				failed = err
			}
			once.Do(func() { close(stop) })
		}
	}
	for range max(1, min(l.Concurrency, len(trials))) {
		workers.Go(func() {
			for t := range next {
				rec, err := l.Run(ctx, t)
				done(t, rec, err)
			}
		})
	}
	feed(ctx, trials, next, stop)
	close(next)
	workers.Wait()
	return failed
}

// feed hands out trials until all are, or the run stops.
func feed(ctx context.Context, trials []eval.Trial, next chan<- eval.Trial, stop <-chan struct{}) {
	for _, t := range trials {
		// A stop goes before a worker that is free at the same time.
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		default:
		}
		select {
		case next <- t:
		case <-stop:
			return
		case <-ctx.Done():
			return
		}
	}
}
