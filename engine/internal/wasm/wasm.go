// Package wasm runs scorer modules. It is the only importer of wazero.
//
// A module is not trusted: no file, however hostile, may stop, slow, bloat or
// crash the engine or another trial. So nothing of a module is compiled or run in
// the engine's own process, which only reads its sections (package binary).
// [Runtime] keeps scorer workers: the engine's own binary started again with
// [ServeWorker] as its work, without environment and with a limit on its address
// space. A worker scores one trial at a time, so a deadline is kept by killing
// it, and nobody else is hurt.
//
// Start at [New], [Runtime.Load] and [Module.Score]; worker.go and guest.go are
// the other side of the pipe.
package wasm

import (
	"errors"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Defaults of [eval.Grants], for a transcript of 50 MB.
const (
	DefaultMemory  = 512 << 20
	DefaultTimeout = 10 * time.Second
	DefaultOutput  = 16 << 20
	DefaultLog     = 64 << 10
	DefaultCalls   = 64
)

// Bounds of what a suite may grant.
const (
	maxMemory = 4 << 30
	maxOutput = 256 << 20
	maxLog    = 16 << 20
	// compileTimeout bounds reading and compiling a module that is not in the
	// cache. A real module takes 0.75 s a MB.
	compileTimeout = 2 * time.Minute
)

// Errors of a capability, for [Options.Call] to return.
var (
	// ErrDenied is returned where the suite does not grant the capability.
	ErrDenied = errors.New("capability denied")
	// ErrUnknownCapability is returned where the engine has none of that name.
	ErrUnknownCapability = errors.New("unknown capability")
)

// limits are grants with nothing left to default.
type limits struct {
	memory  int64
	timeout time.Duration
	output  int64
	log     int64
	calls   int
}

func limitsOf(g eval.Grants) limits {
	l := limits{g.MemoryBytes, g.Timeout, g.OutputBytes, g.LogBytes, g.Calls}
	if l.memory <= 0 {
		l.memory = DefaultMemory
	}
	if l.timeout <= 0 {
		l.timeout = DefaultTimeout
	}
	if l.output <= 0 {
		l.output = DefaultOutput
	}
	if l.log <= 0 {
		l.log = DefaultLog
	}
	if l.calls <= 0 {
		l.calls = DefaultCalls
	}
	l.memory, l.output, l.log = min(l.memory, maxMemory), min(l.output, maxOutput), min(l.log, maxLog)
	return l
}
