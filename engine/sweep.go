package engine

import (
	"os"

	"github.com/evalengine/evalengine/engine/internal/scratch"
)

// Left is what a killed run left.
type Left = scratch.Left

// Sweep removes the temporary folders of runs whose engine was killed, and ends
// every process that still works in one of them. Runs under way are left alone;
// every run sweeps before it begins.
func (e *Engine) Sweep() []Left {
	left, err := scratch.Sweep(os.TempDir())
	if err != nil {
		e.o.Logger.Warn("sweep", "error", err)
	}
	return left
}
