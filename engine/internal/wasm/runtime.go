package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Options are of a [Runtime].
type Options struct {
	// CacheDir keeps compiled modules, readable to the user alone; empty is a
	// folder that [Runtime.Close] removes. Whoever can write to it can make the
	// workers run anything.
	CacheDir string
	// Command starts a process that calls [ServeWorker] on its stdin and stdout.
	Command []string
	// Environ is the whole environment of that process.
	Environ []string
	// Workers is how many trials are scored at once; 0 is one for every CPU, at
	// most four. Scorers that call capabilities wait most of their time and have
	// workers beside these, up to eight times as many.
	Workers int
	// Interpret runs modules without compiling them first: for one short call of a
	// module that is not in the cache, such as asking for its manifest.
	Interpret bool
	// Logger gets what a person may want to know of the workers; nil is silent.
	Logger *slog.Logger
	// Call answers a scorer's call of a capability; nil denies all. It is called
	// only for what the scorer's manifest lists. Errors are [ErrDenied],
	// [ErrUnknownCapability], or any other for a failure of the capability.
	Call func(ctx context.Context, trial eval.Trial, use, op string, request []byte) ([]byte, error)
}

// Runtime loads modules and has their scorers run by workers. It is safe for
// concurrent use.
type Runtime struct {
	o        Options
	cacheDir string
	ownCache bool
	spawn    *spawner
	log      *slog.Logger

	pure, calling *pool
	// compileTimeout is the constant, but in tests.
	compileTimeout time.Duration

	closing sync.Once
	closed  error

	mu       sync.Mutex
	nextSlot int64
}

// ErrClosed is returned for calls after [Runtime.Close].
var ErrClosed = errors.New("wasm: the runtime is closed")

// New returns a runtime. It starts nothing: workers start when they are needed.
func New(o Options) (*Runtime, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("wasm: no worker command")
	}
	if o.Workers <= 0 {
		o.Workers = min(runtime.GOMAXPROCS(0), 4)
	}
	rt := &Runtime{o: o, log: o.Logger, spawn: newSpawner(), compileTimeout: compileTimeout}
	if rt.log == nil {
		rt.log = slog.New(slog.DiscardHandler)
	}
	if err := rt.openCache(); err != nil {
		return nil, err
	}
	rt.pure = newPool(o.Workers, o.Workers, rt.startProcess)
	rt.calling = newPool(8*o.Workers, o.Workers, rt.startProcess)
	return rt, nil
}

// openCache makes the cache folder, and removes from it what was not used for
// longest where it has grown too large.
func (rt *Runtime) openCache() error {
	dir := rt.o.CacheDir
	if dir == "" {
		temp, err := os.MkdirTemp("", "evalengine-scorers-")
		if err != nil {
			return fmt.Errorf("compilation cache: %w", err)
		}
		rt.cacheDir, rt.ownCache = temp, true
		return nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	rt.cacheDir = dir
	return pruneCache(dir, cacheSize)
}

// Close ends all workers. It must not be called while anything is scored.
func (rt *Runtime) Close() error {
	rt.closing.Do(func() {
		rt.pure.close()
		rt.calling.close()
		rt.spawn.close()
		if rt.ownCache {
			rt.closed = os.RemoveAll(rt.cacheDir)
		}
	})
	return rt.closed
}

func (rt *Runtime) slot() int64 {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.nextSlot++
	return rt.nextSlot
}
