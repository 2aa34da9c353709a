package trial

import (
	"fmt"
	"os"

	"github.com/evalengine/evalengine/engine/eval"
)

// isolation is what the agent may reach: its own folders and, where the target has
// one, the target's.
func (a *attempt) isolation(own ...string) eval.Isolation {
	if dir := a.path("target"); a.placed != nil {
		if _, err := os.Stat(dir); err == nil {
			own = append(own, dir)
		}
	}
	return eval.Isolation{
		Policy: a.host.Isolation, Hidden: append([]string{a.r.Temp}, a.r.Hidden...), Readable: a.r.Readable, Writable: own,
	}
}

// notIsolated refuses what an agent did that should have been isolated and was
// not.
func (a *attempt) notIsolated(spec eval.SessionSpec) *eval.Fault {
	if spec.Isolation.Policy != eval.IsolationRequired || a.isolated == eval.IsolatedFully || a.isolated == eval.IsolatedFiles {
		return nil
	}
	return &eval.Fault{
		Cause: eval.CauseHostConfig, Retry: eval.RetryStop,
		Detail: fmt.Sprintf("host %q: isolation is required, and its driver did not say that there was any", a.host.Name),
	}
}
