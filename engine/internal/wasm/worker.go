package wasm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/evalengine/evalengine/engine/internal/detector"
)

// ServeWorker is the work of a scorer worker: it loads and runs modules as it is
// told on in, and answers on out, until in ends. It changes its whole process
// (limits, scheduler), so nothing else may run in it.
func ServeWorker(ctx context.Context, in io.Reader, out io.Writer) error {
	// One call runs at a time, and nothing else: more threads would only get in
	// each other's way.
	runtime.GOMAXPROCS(1)
	debug.SetTraceback("none")
	w := &worker{in: bufio.NewReaderSize(in, 64<<10), out: out, programs: map[int64]*program{}}
	for {
		kind, payload, err := w.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("scorer worker: %w", err)
		}
		if err := w.handle(ctx, kind, &fields{b: payload.b}); err != nil {
			return fmt.Errorf("scorer worker: %w", err)
		}
		payload.free()
	}
}

type worker struct {
	in       *bufio.Reader
	out      io.Writer
	m        *machine
	programs map[int64]*program
	// small and reply are reused from frame to frame.
	small, reply []byte
	// instances is the memory that all modules may have together, largest what one
	// may.
	instances, largest int64
}

// payload is a frame's; a large one lies in memory of its own that goes back to
// the system at once.
type payload struct {
	b     []byte
	large bool
}

const largePayload = 1 << 20

func (w *worker) read() (byte, payload, error) {
	kind, n, err := readHeader(w.in)
	if err != nil {
		return 0, payload{}, err
	}
	var p payload
	if n > largePayload {
		if p.b, err = allocate(n); err != nil {
			return 0, p, err
		}
		p.large = true
	} else {
		if n > cap(w.small) {
			w.small = make([]byte, max(n, 64<<10))
		}
		p.b = w.small[:n]
	}
	_, err = io.ReadFull(w.in, p.b)
	return kind, p, err
}

func (p payload) free() {
	if p.large {
		release(p.b)
	}
}

func (w *worker) handle(ctx context.Context, kind byte, f *fields) error {
	switch kind {
	case frameHello:
		return w.hello(ctx, f.int() == 1, string(f.b))
	case frameLoad:
		return w.load(ctx, f)
	case frameRun:
		return w.run(ctx, f)
	}
	return fmt.Errorf("unexpected frame %q", kind)
}

func (w *worker) hello(ctx context.Context, interpret bool, cacheDir string) error {
	restrict()
	cfg := wazero.NewRuntimeConfigInterpreter()
	if !interpret {
		cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
		if err != nil {
			return err
		}
		cfg = wazero.NewRuntimeConfig().WithCompilationCache(cache)
	}
	var err error
	w.m, err = newMachine(ctx, cfg)
	return err
}

// load answers done, or fault where the module is not fit.
func (w *worker) load(ctx context.Context, f *fields) error {
	slot := f.int()
	l := limits{memory: f.int(), timeout: time.Duration(f.int()), output: f.int(), log: f.int(), calls: int(f.int())}
	if f.bad || w.m == nil {
		return errors.New("malformed load")
	}
	w.makeRoom(compileRoom)
	p, err := w.m.load(ctx, bytes.Clone(f.b), l) // The payload ends with this frame.
	if err != nil {
		return w.fault(nil, plain(err))
	}
	w.programs[slot] = p
	w.instances += l.memory
	w.largest = max(w.largest, l.memory)
	debug.FreeOSMemory() // Compiling takes ten times what it leaves.
	w.makeRoom(runRoom)
	return w.done(0, nil, nil)
}

// Room in the address space beside what modules are granted.
const (
	// compileRoom is what reading and compiling a module may take.
	compileRoom = 2 << 30
	// runRoom is what running one may: mostly its stack.
	runRoom = 512 << 20
)

// makeRoom bounds the address space to what the process has, one more instance of
// every module, the input of the largest, and more bytes.
func (w *worker) makeRoom(more int64) {
	limitAddressSpace(addressSpace() + w.instances + w.largest + detector.Larger*more)
}

func (w *worker) run(ctx context.Context, f *fields) error {
	slot, score := f.int(), f.int()
	p := w.programs[slot]
	if f.bad || p == nil {
		return fmt.Errorf("run of unknown module %d", slot)
	}
	name := exportInfo
	if score != 0 {
		name = exportScore
	}
	var broken error
	w.m.s.capability = func(op string, request []byte) (int64, []byte) {
		code, response, err := w.ask(op, request)
		if err != nil {
			broken = err
			abort(err)
		}
		return code, response
	}
	code, err := w.m.call(ctx, p, name, f.b)
	s := w.m.s
	defer s.end()
	switch {
	case broken != nil:
		return broken
	case err != nil:
		return w.fault(s.log, withLastWords(err, s.log[min(p.quiet(), len(s.log)):]))
	}
	return w.done(int64(code), s.log, s.output)
}

// withLastWords adds what a module wrote before it trapped, which in most
// languages is the only thing that says why.
func withLastWords(err error, log []byte) error {
	for line := range bytes.Lines(log) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return fmt.Errorf("%w: %s", err, line[:min(len(line), 500)])
		}
	}
	return err
}

// quiet is how much of every call's log comes from initialisation.
func (p *program) quiet() int {
	if p.first == nil {
		return 0
	}
	return len(p.first.log)
}

// ask passes a call of a capability on to the engine and waits for the answer.
func (w *worker) ask(op string, request []byte) (int64, []byte, error) {
	b := beginFrame(w.reply[:0], frameCall)
	b = appendInt(b, int64(len(op)))
	b = append(b, op...)
	b = append(b, request...)
	if err := w.write(b); err != nil {
		return 0, nil, err
	}
	kind, n, err := readHeader(w.in)
	if err != nil {
		return 0, nil, err
	}
	if kind != frameReply {
		return 0, nil, fmt.Errorf("frame %q in answer to a call", kind)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(w.in, body); err != nil {
		return 0, nil, err
	}
	f := fields{b: body}
	code := f.int()
	return code, f.b, nil
}

func (w *worker) done(code int64, log, output []byte) error {
	b := beginFrame(w.reply[:0], frameDone)
	b = appendInt(b, code)
	b = appendInt(b, int64(len(log)))
	b = append(b, log...)
	return w.write(append(b, output...))
}

func (w *worker) fault(log []byte, err error) error {
	b := beginFrame(w.reply[:0], frameFault)
	b = appendInt(b, int64(len(log)))
	b = append(b, log...)
	return w.write(append(b, err.Error()...))
}

func (w *worker) write(b []byte) error {
	endFrame(b, 0)
	_, err := w.out.Write(b)
	if w.reply = b[:0]; cap(b) > largePayload {
		w.reply = nil
	}
	return err
}

// end lets go of what a call left.
func (s *session) end() {
	s.input, s.response, s.log = nil, nil, nil
	if cap(s.output) > largePayload {
		s.output = nil
	}
}

// addressSpace returns how many bytes of address space the process has taken.
func addressSpace() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		pages = pages*10 + int(c-'0')
	}
	return int64(pages) * int64(os.Getpagesize())
}
