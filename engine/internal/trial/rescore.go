package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/model"
)

// ErrNoEvidence is returned by [Runner.Rescore] for a trial that says nothing of
// its agent: it has to be run.
var ErrNoEvidence = errors.New("it left nothing to score")

// Rescore scores a recorded trial anew, from what it left and by the runner's
// suite, and keeps the verdict beside the record as id. No agent and no target is
// started. It returns the record with its new verdict; where it fails, the trial's
// verdict stays what it was.
func (r *Runner) Rescore(ctx context.Context, t eval.Trial, id string) (*eval.Record, error) {
	story, host := r.Suite.Story(t.Story), r.Suite.Host(t.Host)
	if story == nil || host == nil {
		return nil, errors.New("the suite has no such story or host")
	}
	now, err := r.Ledger.Record(t.ID())
	if err != nil {
		return nil, err
	}
	a, err := r.recorded(t, story, host)
	if err != nil {
		return nil, err
	}
	r.observe(Event{Kind: Started, Trial: t, Attempt: a.n})
	asked := r.Ledger.JudgeLog(t.ID(), id)
	a.judgeLog = asked
	a.fault = a.score(ctx)
	if err := asked.Close(); err != nil {
		return nil, &eval.Fault{Cause: eval.CauseStore, Retry: eval.RetryNever, Detail: err.Error()}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := r.Ledger.Rescore(a.rescore(id, now.Verdict()), r.Secrets); err != nil {
		return nil, &eval.Fault{Cause: eval.CauseStore, Retry: eval.RetryNever, Detail: err.Error()}
	}
	rec, err := r.Ledger.Record(t.ID())
	if err == nil {
		r.observe(Event{Kind: Finished, Trial: t, Attempt: a.n, Record: rec})
	}
	return rec, err
}

// recorded is the attempt of a trial's record as it was before it was scored.
func (r *Runner) recorded(t eval.Trial, story *eval.Story, host *eval.HostConfig) (*attempt, error) {
	return r.recordedIn(r.Ledger.TrialDir(t.ID()), t, story, host)
}

func (r *Runner) recordedIn(dir string, t eval.Trial, story *eval.Story, host *eval.HostConfig) (*attempt, error) {
	rec, err := ledger.ReadFirst(dir)
	if err != nil {
		return nil, err
	}
	if err := ledger.Verify(dir, rec); err != nil {
		return nil, err
	}
	e, err := evidenceOf(rec)
	if err != nil {
		return nil, err
	}
	a := &attempt{r: r, trial: t, story: story, host: host, started: time.Now()}
	if err := a.restore(e, dir); err != nil {
		return nil, err
	}
	if !r.Replay {
		return a, nil
	}
	asked, err := ledger.OpenAsked(dir)
	if err != nil {
		return nil, err
	}
	defer asked.Close()
	if a.replay, err = model.ReadReplay(asked); err != nil {
		return nil, fmt.Errorf("%s: %w", ledger.JudgeFile, err)
	}
	return a, nil
}

// evidenceOf is what a record says of a trial but for its scores. A fault other
// than a scorer's means that there is none.
func evidenceOf(rec *eval.Record) (evidence, error) {
	e := evidence{Record: *rec}
	if len(rec.Attempts) > 0 {
		last := rec.Attempts[len(rec.Attempts)-1]
		if last.Fault == nil || last.Fault.Cause == eval.CauseScorer {
			e.Outcome = last.Outcome
		}
	}
	if e.Outcome == "" {
		return e, fmt.Errorf("%s, %s: %w", rec.Status, rec.Cause, ErrNoEvidence)
	}
	if rest, ok := strings.CutPrefix(rec.Reason, endedWith(e.Outcome)+": "); ok {
		e.Detail = rest
	}
	// The findings of scorers are theirs to make again.
	e.Record.Findings = slices.DeleteFunc(slices.Clone(rec.Findings), func(f eval.Finding) bool {
		return slices.ContainsFunc(rec.Scores, func(s eval.Score) bool { return s.Scorer == f.Source })
	})
	return e, nil
}

// rescore is the attempt's verdict in the form in which it is kept.
func (a *attempt) rescore(id string, replaces eval.Verdict) *eval.Rescore {
	rec := a.record()
	s := &eval.Rescore{
		ID: id, Run: rec.Run, Trial: rec.ID, ScoredAt: time.Now().UTC(), Replaces: replaces,
		Status: rec.Status, Cause: rec.Cause, Reason: rec.Reason, Scores: rec.Scores, Findings: rec.Findings,
		Definitions: rec.Definitions,
		Versions:    a.r.Versions,
	}
	for _, f := range a.r.Suite.Files {
		s.Files = append(s.Files, eval.File{Path: f.Path, SHA256: f.SHA256})
	}
	return s
}
