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
		return r.skip(t, host, f.Cause, "not run: an earlier trial of "+part+" ended with "+f.Error())
	}
	if f := r.pace().Open(t); f != nil {
		return r.skip(t, host, f.Cause, "not run: "+f.Detail)
	}
	var attempts []eval.Attempt
	for n := 1; ; n++ {
		a := r.attempt(ctx, t, story, host, attempts)
		attempts = append(attempts, a.summary())
		if a.fault != nil && ctx.Err() != nil {
			a.discard()
			return nil, fmt.Errorf("trial %s: %w", t.ID(), context.Cause(ctx))
		}
		if a.fault != nil && a.fault.Cause == eval.CauseStore {
			// What the trial left could not be kept: there is nothing to record it by.
			a.discard()
			return nil, a.fault
		}
		r.pace().Attempted(t, a.started, a.fault)
		if a.fault != nil && a.fault.Retry == eval.RetryTrial && n <= r.Suite.Retries && r.pace().Open(t) == nil {
			r.observe(Event{Kind: Retrying, Trial: t, Attempt: n + 1, Text: a.fault.Error()})
			if r.pace().Retry(ctx, t, backoff(n, a.fault)) {
				a.discard()
				continue
			}
			if ctx.Err() != nil {
				a.discard()
				return nil, fmt.Errorf("trial %s: %w", t.ID(), context.Cause(ctx))
			}
			// Other trials have shown that another attempt would find the same.
			return r.finish(a)
		}
		if a.fault != nil && a.fault.Retry == eval.RetryStop {
			r.stop(a.part, a.fault)
		}
		return r.finish(a)
	}
}

// skip records a trial that is not run for what other trials have met.
func (r *Runner) skip(t eval.Trial, host *eval.HostConfig, cause, reason string) (*eval.Record, error) {
	now := time.Now()
	rec := &eval.Record{
		Run: r.Ledger.Info.ID, ID: t.ID(), Trial: t, Driver: host.Driver, Status: eval.StatusSkipped, Cause: cause,
		Reason: r.Secrets.String(reason), Attempts: []eval.Attempt{}, Timings: eval.Timings{StartedAt: now, FinishedAt: now}, Versions: r.Versions,
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
