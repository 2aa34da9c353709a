package exec

import (
	"context"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// The methods here are what a running trial tells the scheduler, and asks of it.

// Open is why trials like t are not to be run any more; nil where they are.
func (l *Local) Open(t eval.Trial) *eval.Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.lane(t).open(); p != nil {
		return p.why
	}
	return nil
}

// Asked takes in that the agent of t asks its model for an answer. A trial's
// first request was counted when it started.
func (l *Local) Asked(t eval.Trial, first bool) {
	if first {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.lane(t).provider; p != nil {
		p.asked(time.Now())
	}
}

// Answered takes in what t's provider answered. One that asks to be left alone is,
// by every trial that has not started: those under way have its answer
// themselves.
func (l *Local) Answered(t eval.Trial, status int, retryAfter time.Duration) {
	if retryAfter <= 0 || status != 429 && status != 503 && status != 529 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.lane(t).provider; p != nil {
		p.hold(time.Now(), retryAfter)
		l.wake.Broadcast()
	}
}

// Attempted takes in how an attempt ended that began at the given time; f is nil
// for one that is evidence of the agent.
func (l *Local) Attempted(t eval.Trial, began time.Time, f *eval.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.lane(t)
	if f == nil {
		for _, p := range ln.parts {
			p.faults = 0
		}
		return
	}
	now := time.Now()
	for _, p := range l.blamed(ln, f) {
		if f.RetryAfter > 0 && f.Retry == eval.RetryTrial {
			p.hold(now, f.RetryAfter)
		}
		p.fault(began, now, f, l.Limits.Circuit)
		if p.open && p.why != nil {
			l.stop(eval.StopCircuit, "the circuit is open: "+p.why.Detail)
			l.wake.Broadcast()
			return // the first part that is to blame is enough
		}
	}
}

// Refused takes in that every other trial with a part, "host NAME" or "target
// NAME", would fail as one did. Such trials know it themselves and are skipped:
// they need not wait for what the part would hold them back for.
func (l *Local) Refused(part string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.parts[part]; p != nil {
		p.open = true
		l.wake.Broadcast()
	}
}

// blamed are the parts of a lane that a fault is counted for. A provider's fault
// is the host's as well: a model that only this host asks for may be broken while
// the provider answers others.
func (l *Local) blamed(ln *lane, f *eval.Fault) []*part {
	switch f.Cause {
	case eval.CauseScorer, eval.CauseSuite, eval.CauseStore, eval.CauseInterrupted, eval.CauseBudget, eval.CauseCircuitOpen:
		return nil
	case eval.CauseProvision, eval.CauseNotReady, eval.CauseObserve, eval.CausePreflight, eval.CauseMCP:
		if last := ln.parts[len(ln.parts)-1]; last != ln.host {
			return []*part{last}
		}
		return []*part{ln.host}
	case eval.CauseAuth, eval.CauseBilling, eval.CauseModel, eval.CauseBadRequest, eval.CauseRateLimit, eval.CauseOverloaded,
		eval.CauseServer, eval.CauseStream, eval.CauseNetwork, eval.CauseModelHang:
		if ln.provider != nil {
			return []*part{ln.provider, ln.host}
		}
	}
	return []*part{ln.host}
}

// Retry returns when another attempt at t may start: d has passed, no part of it
// is held, and there is a place for it. It is false where there is to be none:
// ctx has ended, or a circuit is open. The wait leaves t's place to other lanes.
func (l *Local) Retry(ctx context.Context, t eval.Trial, d time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	unwatch := context.AfterFunc(ctx, l.awake)
	defer unwatch()
	ln := l.lane(t)
	l.running--
	l.wake.Broadcast()
	defer func() { l.running++ }()
	for at := time.Now().Add(d); ; {
		if ctx.Err() != nil || ln.open() != nil || l.broken {
			return false
		}
		for _, p := range ln.parts {
			if p.pause.After(at) {
				at = p.pause
			}
		}
		if !at.After(time.Now()) {
			break
		}
		l.sleep(at)
	}
	l.returning++
	defer func() { l.returning-- }()
	for l.running >= l.concurrency() {
		if ctx.Err() != nil || ln.open() != nil || l.broken {
			return false
		}
		l.wake.Wait()
	}
	return true
}
