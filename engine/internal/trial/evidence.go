package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// evidence is what scoring needs of an attempt beside its transcript, state and
// tools: evidence.json of a draft. With it a trial whose agent was done is scored
// after a crash, and no agent is started.
type evidence struct {
	// Record is the trial's record, but for its scores and verdict.
	Record  eval.Record  `json:"record"`
	Outcome eval.Outcome `json:"outcome"`
	Detail  string       `json:"detail,omitempty"`
}

// bundle is what the attempt leaves beside its record.
func (a *attempt) bundle() ledger.Bundle {
	b := ledger.Bundle{Steps: a.steps, Tools: a.tools}
	if a.placed != nil && (a.before != nil || a.after != nil) {
		b.State = &eval.State{Before: a.before, After: a.after}
	}
	return b
}

// clean takes secrets out of what scorers see; the record is cleaned again when
// it is written.
func (a *attempt) clean() {
	red := a.r.Secrets
	for i := range a.steps {
		s := &a.steps[i]
		s.Text = red.String(s.Text)
		s.Arguments = eval.JSON(red.Bytes(s.Arguments))
		s.Result = eval.JSON(red.Bytes(s.Result))
	}
	a.answer = red.String(a.answer)
	a.before, a.after = eval.JSON(red.Bytes(a.before)), eval.JSON(red.Bytes(a.after))
	for i := range a.prompts {
		a.prompts[i] = red.String(a.prompts[i])
	}
	for i := range a.pages {
		p := &a.pages[i]
		p.HTML, p.Accessibility = red.Bytes(p.HTML), eval.JSON(red.Bytes(p.Accessibility))
		p.URL, p.FinalURL, p.Title, p.Error = red.String(p.URL), red.String(p.FinalURL), red.String(p.Title), red.String(p.Error)
	}
	if a.placed != nil {
		a.values = a.placed.Values
	}
}

// settleOver is how long an attempt without a model must have taken to be worth
// more than the file that keeps it: 0.25 ms of CPU, a fifth of what the smallest
// trial costs.
const settleOver = time.Second

// settle writes what the attempt gathered before it is scored. A story without
// scorers has nothing to lose in between, and an attempt that took no time and no
// tokens is sooner made again.
func (a *attempt) settle() *eval.Fault {
	a.clean()
	free := a.usage.Requests == 0 && a.usage.InputTokens+a.usage.OutputTokens == 0
	if len(a.story.Checks)+len(a.story.Uses) == 0 || free && time.Since(a.started) < settleOver {
		return nil
	}
	a.timings.FinishedAt, a.timings.Total = time.Now(), time.Since(a.started).Seconds()
	e := evidence{Record: *a.record(), Outcome: a.outcome, Detail: a.detail}
	if err := a.draft.Settle(e, a.bundle(), a.r.Secrets); err != nil {
		return &eval.Fault{Cause: eval.CauseStore, Retry: eval.RetryNever, Detail: err.Error()}
	}
	return nil
}

// Settled scores a trial from what an attempt left whose engine ended before it
// was scored, and records it. It is not ok where there is no such evidence, or
// none that can be trusted: then the trial is to be run.
func (r *Runner) Settled(ctx context.Context, t eval.Trial) (rec *eval.Record, ok bool, err error) {
	story, host := r.Suite.Story(t.Story), r.Suite.Host(t.Host)
	if story == nil || host == nil {
		return nil, false, nil
	}
	draft, raw, ok := r.Ledger.Settled(t.ID())
	if !ok {
		return nil, false, nil
	}
	a := &attempt{r: r, trial: t, story: story, host: host, draft: draft, started: time.Now()}
	if err := a.unpack(raw); err != nil {
		r.Logger.Warn("the trial is run again: what it left cannot be read", "trial", t.ID(), "error", err)
		return nil, false, nil
	}
	r.observe(Event{Kind: Started, Trial: t, Attempt: a.n})
	a.fault = a.score(ctx)
	if a.fault != nil && ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	rec, err = r.finish(a)
	return rec, true, err
}

// unpack makes the attempt what it was when it was settled.
func (a *attempt) unpack(raw []byte) error {
	var e evidence
	if err := json.Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("evidence.json: %w", err)
	}
	if err := a.restore(e, a.draft.Dir()); err != nil {
		return fmt.Errorf("evidence.json: %w", err)
	}
	return nil
}

// restore makes the attempt what it was before it was scored; dir has the files
// that it left.
func (a *attempt) restore(e evidence, dir string) error {
	rec := &e.Record
	if rec.ID != a.trial.ID() || len(rec.Attempts) == 0 || e.Outcome == "" {
		return fmt.Errorf("it is of trial %q with %d attempts", rec.ID, len(rec.Attempts))
	}
	last := rec.Attempts[len(rec.Attempts)-1]
	a.n, a.past, a.started = last.N, rec.Attempts[:len(rec.Attempts)-1], last.StartedAt
	a.outcome, a.detail = e.Outcome, e.Detail
	a.timings, a.placed, a.prompts, a.answer = rec.Timings, rec.Target, rec.Prompts, rec.Answer
	a.usage, a.digest, a.findings = rec.Usage, rec.ToolsDigest, rec.Findings
	a.agentVersion, a.isolated = rec.Versions["agent/"+a.host.Driver], rec.Isolation
	if a.placed != nil {
		a.values = a.placed.Values
	}
	var err error
	if a.steps, err = ledger.ReadSteps(dir); err != nil {
		return err
	}
	if a.tools, err = ledger.ReadTools(dir); err != nil {
		return err
	}
	state, err := ledger.ReadState(dir)
	a.before, a.after = state.Before, state.After
	if err != nil {
		return err
	}
	a.pages = rec.Pages
	return ledger.ReadPages(dir, a.pages)
}
