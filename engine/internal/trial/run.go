package trial

import (
	"context"
	"fmt"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// Run runs the trial t, attempt after attempt, and records it. It returns the
// record; an error means that there is none: ctx ended before the agent was
// done, or the record could not be written.
func (r *Runner) Run(ctx context.Context, t eval.Trial) (*eval.Record, error) {
	story, host := r.Suite.Story(t.Story), r.Suite.Host(t.Host)
	if story == nil || host == nil {
		return nil, fmt.Errorf("trial %s: the suite has no such story or host", t.ID())
	}
	r.observe(Event{Kind: Started, Trial: t, Attempt: 1})
	if part, f := r.stoppedBy(t.Host, story.Target); f != nil {
		return r.skip(t, host, part, f)
	}
	var attempts []eval.Attempt
	for n := 1; ; n++ {
		a := r.attempt(ctx, t, story, host, attempts)
		attempts = append(attempts, a.summary())
		if a.fault != nil && ctx.Err() != nil {
			a.discard()
			return nil, fmt.Errorf("trial %s: %w", t.ID(), context.Cause(ctx))
		}
		if a.fault != nil && a.fault.Retry == eval.RetryTrial && n <= r.Suite.Retries {
			a.discard()
			r.observe(Event{Kind: Retrying, Trial: t, Attempt: n + 1, Text: a.fault.Error()})
			if !wait(ctx, backoff(n, a.fault)) {
				return nil, fmt.Errorf("trial %s: %w", t.ID(), context.Cause(ctx))
			}
			continue
		}
		if a.fault != nil && a.fault.Retry == eval.RetryStop {
			r.stop(a.part, a.fault)
		}
		return r.finish(a)
	}
}

// skip records a trial of which another trial has found a part to be unusable.
func (r *Runner) skip(t eval.Trial, host *eval.HostConfig, part string, f *eval.Fault) (*eval.Record, error) {
	now := time.Now()
	rec := &eval.Record{
		Run: r.Ledger.Info.ID, ID: t.ID(), Trial: t, Driver: host.Driver, Status: eval.StatusSkipped, Cause: f.Cause,
		Reason:   "not run: an earlier trial of " + part + " ended with " + f.Error(),
		Attempts: []eval.Attempt{}, Timings: eval.Timings{StartedAt: now, FinishedAt: now}, Versions: r.Versions,
	}
	return r.commit(r.Ledger.Draft(t.ID(), 0), rec, ledger.Bundle{})
}

// finish makes the record of the attempt that counts and writes it.
func (r *Runner) finish(a *attempt) (*eval.Record, error) {
	return r.commit(a.draft, a.record(), a.bundle())
}

func (r *Runner) commit(d *ledger.Draft, rec *eval.Record, b ledger.Bundle) (*eval.Record, error) {
	if err := d.Commit(rec, b, r.Secrets); err != nil {
		d.Discard()
		return nil, &eval.Fault{Cause: eval.CauseStore, Retry: eval.RetryNever, Detail: err.Error()}
	}
	r.observe(Event{Kind: Finished, Trial: rec.Trial, Attempt: len(rec.Attempts), Record: rec})
	return rec, nil
}
