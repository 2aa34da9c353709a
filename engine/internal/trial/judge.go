package trial

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/model"
	"github.com/evalengine/evalengine/engine/internal/wasm"
)

// judgeTimeout bounds all judges of a trial. Each request of theirs has a bound of
// its own; this one is for a provider that lets everybody wait.
const judgeTimeout = 30 * time.Minute

type sessionKey struct{}

// Capability answers a call that a scorer makes while [Runner.Run] or
// [Runner.Rescore] scores its trial: it is for [wasm.Options.Call].
func Capability(ctx context.Context, _ eval.Trial, use, op string, request []byte) ([]byte, error) {
	s, _ := ctx.Value(sessionKey{}).(*model.Session)
	if s == nil {
		return nil, wasm.ErrDenied
	}
	reply, err := s.Call(ctx, use, op, request)
	switch {
	case errors.Is(err, model.ErrDenied):
		return nil, wasm.ErrDenied
	case errors.Is(err, model.ErrUnknown):
		return nil, wasm.ErrUnknownCapability
	}
	return reply, err
}

// judges are the trial's session with the models; nil where no use may ask one.
func (a *attempt) judges() *model.Session {
	granted := map[string][]string{}
	for _, u := range a.story.Uses {
		if len(u.Models) > 0 {
			granted[u.Name] = u.Models
		}
	}
	if len(granted) == 0 || a.r.Models == nil {
		return nil
	}
	o := model.SessionOptions{
		Run: a.r.Ledger.Info.ID, Trial: a.trial, Pages: a.pages, Granted: granted, Log: a.judgeLog, Replay: a.replay, Own: a.own,
	}
	if g := a.gold(true); g != nil {
		o.Gold = g.Pages
	}
	if a.judgeLog == nil {
		o.Log = a.draft.Log(ledger.JudgeFile)
	}
	return a.r.Models.Session(o)
}

// askModels are the scorers of the story that may ask a model. Each is called by
// itself, all at once: they wait most of their time.
func (a *attempt) askModels(ctx context.Context, uses []int, outputs []eval.Score) *eval.Fault {
	session := a.judges()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, sessionKey{}, session), judgeTimeout)
	defer cancel()
	faults := make(chan *eval.Fault, len(uses))
	for _, i := range uses {
		u := &a.story.Uses[i]
		if len(u.Models) == 0 {
			outputs[i] = blank(u, a.r.Modules[moduleOf(u)])
			outputs[i].State, outputs[i].Reason = eval.ScoreSkipped, "no model is configured: set model = model.NAME"
			faults <- nil
			continue
		}
		go func() {
			f := a.useModule(ctx, []int{i}, outputs)
			if session != nil {
				outputs[i].Judge = session.Use(u.Name)
			}
			faults <- f
		}()
	}
	var first *eval.Fault
	for range uses {
		if f := <-faults; f != nil && first == nil {
			first = f
		}
	}
	return first
}

// stage says when a use is scored: judges after everything that needs no model,
// and what looks at other scores last.
func stage(spec *eval.ScorerSpec) int {
	switch {
	case spec == nil:
		return 0
	case asks(spec):
		return 1
	case slices.Contains(spec.Needs, eval.PartScores):
		return 2
	}
	return 0
}
