// Package trial leads one trial through its life: provision the target, open
// the gateway, run the host turn by turn, look up the state, score, record,
// destroy. It knows neither which trials there are nor how many run at once.
//
// Start at [Runner.Run].
package trial

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/model"
	"github.com/evalengine/evalengine/engine/internal/redact"
	"github.com/evalengine/evalengine/engine/internal/wasm"
)

// Plugins finds started plugins. Both methods may be called at any time, from
// anywhere.
type Plugins interface {
	Host(ctx context.Context, name, sha256 string) (eval.Host, error)
	Provisioner(ctx context.Context, name, sha256 string) (eval.Provisioner, error)
}

// Runner runs trials of one run. Its fields are set before the first trial and
// not changed after; Run is safe for concurrent use.
type Runner struct {
	Suite   *eval.Suite
	Ledger  *ledger.Run
	Plugins Plugins
	Hub     *gateway.Hub
	// Modules are the scorer modules of the suite by name.
	Modules map[string]*wasm.Module
	Secrets *redact.Set
	// Environ looks up the engine's own environment, for allow-lists and keys.
	Environ func(string) (string, bool)
	// Temp is the run's own temporary folder.
	Temp string
	// Hidden are files and folders that no agent may see, Readable those in them that
	// it needs.
	Hidden, Readable []string
	// Versions of the engine, plugins and modules go into every record.
	Versions map[string]string
	Logger   *slog.Logger
	// Observe is told what happens; it must not block. It may be nil.
	Observe func(Event)
	// Bodies keeps model requests and answers whole in model.jsonl.
	Bodies bool
	// Pages takes the pages of stories that capture some; nil takes none.
	Pages Pages
	// Models answers judges; nil is no model.
	Models *model.Broker
	// Golds are what the stories' golds have to say, by story.
	Golds map[string]*Gold
	// Others finds the trial that judges compare a trial with, in place of the story's
	// gold; nil compares no two trials.
	Others func(eval.Trial) *Gold
	// Values stand in for those of a target in a story that has none: golds are
	// served so.
	Values eval.JSON
	// Replay answers the judges of recorded trials from what they were answered
	// before; no model is asked.
	Replay bool
	// Pace is the scheduler's; nil lets every trial go on as it will.
	Pace Pace

	mu      sync.Mutex
	stopped map[string]*eval.Fault
}

// EventKind says what an event tells. The zero EventKind is invalid.
type EventKind string

// Kinds of events, in the order in which a trial sends them.
const (
	Started  EventKind = "started"
	Phase    EventKind = "phase"
	Progress EventKind = "progress"
	Retrying EventKind = "retrying"
	Finished EventKind = "finished"
)

// Event is something that happened to a trial, for whoever watches.
type Event struct {
	Kind    EventKind
	Trial   eval.Trial
	Attempt int
	// Text says what the agent does or why a trial is tried again.
	Text string
	// CostUSD is what the attempt has cost so far, where that is known.
	CostUSD *float64
	// Record is set by Finished alone.
	Record *eval.Record
}

func (r *Runner) observe(e Event) {
	if r.Observe != nil {
		e.Text = r.Secrets.String(e.Text)
		r.Observe(e)
	}
}

// stop remembers that every further trial with this host, or this target, would
// fail as this one. part is "host NAME" or "target NAME".
func (r *Runner) stop(part string, f *eval.Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped == nil {
		r.stopped = map[string]*eval.Fault{}
	}
	if r.stopped[part] == nil {
		r.stopped[part] = f
		r.pace().Refused(part)
	}
}

// stoppedBy returns the part of a trial that cannot work and why; nil where both
// can.
func (r *Runner) stoppedBy(host, target string) (part string, f *eval.Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, part := range []string{"host " + host, "target " + target} {
		if f := r.stopped[part]; f != nil {
			return part, f
		}
	}
	return "", nil
}

// backoff is how long to wait before attempt n+1.
func backoff(n int, f *eval.Fault) time.Duration {
	if f.RetryAfter > 0 {
		return min(f.RetryAfter, 5*time.Minute)
	}
	switch f.Cause {
	case eval.CauseRateLimit, eval.CauseOverloaded, eval.CauseServer, eval.CauseNetwork:
		return min(500*time.Millisecond<<(n-1), 30*time.Second)
	}
	return 0
}

// wait returns when d has passed; false when ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
