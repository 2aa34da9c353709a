package trial

import (
	"context"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Pace is the scheduler's side of a trial under way: it is told what trials meet,
// and says whether they go on. Its methods are safe for concurrent use.
type Pace interface {
	// Open is why trials like t are not to be run any more; nil where they are.
	Open(t eval.Trial) *eval.Fault
	// Attempted takes in how an attempt ended, f nil for evidence of the agent.
	Attempted(t eval.Trial, began time.Time, f *eval.Fault)
	// Refused takes in that a part, "host NAME" or "target NAME", is unusable.
	Refused(part string)
	// Retry returns when another attempt may start, after d or later; false where
	// there is to be none.
	Retry(ctx context.Context, t eval.Trial, d time.Duration) bool
	// Asked takes in a request to t's provider, Answered its answer.
	Asked(t eval.Trial, first bool)
	Answered(t eval.Trial, status int, retryAfter time.Duration)
}

// alone is the pace of trials that share nothing.
type alone struct{}

func (alone) Open(eval.Trial) *eval.Fault                  { return nil }
func (alone) Attempted(eval.Trial, time.Time, *eval.Fault) {}
func (alone) Refused(string)                               {}
func (alone) Asked(eval.Trial, bool)                       {}
func (alone) Answered(eval.Trial, int, time.Duration)      {}
func (alone) Retry(ctx context.Context, _ eval.Trial, d time.Duration) bool {
	return wait(ctx, d)
}

func (r *Runner) pace() Pace {
	if r.Pace == nil {
		return alone{}
	}
	return r.Pace
}
