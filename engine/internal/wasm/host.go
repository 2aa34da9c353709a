package wasm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Errors with which a host function ends a call.
var (
	errOutput = errors.New("wrote more output than its limit")
	errBounds = errors.New("passed a pointer outside its memory")
	errLog    = errors.New("wrote far more to its log than its limit")
)

// exitError ends a call of a module that asked to end the process.
type exitError struct{ code uint32 }

func (e exitError) Error() string { return fmt.Sprintf("exited with code %d", e.code) }

// session is what one call into a module has beside the instance: where its
// input comes from and its output goes. A worker has one, because it makes one
// call at a time.
type session struct {
	limits   limits
	input    []byte
	output   []byte
	log      []byte
	response []byte
	// written counts the bytes that went to the log, also those dropped.
	written int64
	// calls counts the calls of capabilities.
	calls int
	// clock and random are the virtual clock, in nanoseconds, and the state of
	// the random source.
	clock, random uint64
	// capability passes a call on to the engine.
	capability func(op string, request []byte) (int64, []byte)
}

// abort ends the guest's call with err.
func abort(err error) { panic(err) }

// read returns guest memory; the slice is valid until the memory grows.
func read(m api.Module, at, n uint64) []byte {
	b, ok := m.Memory().Read(uint32(at), uint32(n))
	if !ok {
		abort(errBounds)
	}
	return b
}

// copyOut copies a part of src into the guest and returns how much.
func copyOut(m api.Module, src []byte, at, off, n uint64) uint64 {
	off, n = uint64(uint32(off)), uint64(uint32(n))
	if off >= uint64(len(src)) {
		return 0
	}
	return uint64(copy(read(m, at, min(n, uint64(len(src))-off)), src[off:]))
}

// addLog keeps b as far as the limit goes. A module that goes on far beyond it is
// flooding.
func (s *session) addLog(b []byte) {
	s.written += int64(len(b))
	if room := s.limits.log - int64(len(s.log)); room > 0 {
		s.log = append(s.log, b[:min(int64(len(b)), room)]...)
	}
	if s.written > 64*s.limits.log+1<<20 {
		abort(errLog)
	}
}

// hostFunctions are the functions of module eval_v1.
func (s *session) hostFunctions() map[string]api.GoModuleFunc {
	return map[string]api.GoModuleFunc{
		"input_len": func(_ context.Context, _ api.Module, stack []uint64) {
			stack[0] = uint64(len(s.input))
		},
		"input_read": func(_ context.Context, m api.Module, stack []uint64) {
			stack[0] = copyOut(m, s.input, stack[0], stack[1], stack[2])
		},
		"output_write": func(_ context.Context, m api.Module, stack []uint64) {
			b := read(m, stack[0], stack[1])
			if int64(len(s.output)+len(b)) > s.limits.output {
				abort(errOutput)
			}
			s.output = append(s.output, b...)
		},
		"log": func(_ context.Context, m api.Module, stack []uint64) {
			s.logLine(uint32(stack[0]), read(m, stack[1], stack[2]))
		},
		"call": func(_ context.Context, m api.Module, stack []uint64) {
			stack[0] = uint64(s.call(m, stack))
		},
		"response_read": func(_ context.Context, m api.Module, stack []uint64) {
			stack[0] = copyOut(m, s.response, stack[0], stack[1], stack[2])
		},
	}
}

func (s *session) logLine(level uint32, line []byte) {
	names := [...]string{"debug: ", "info: ", "warn: ", "error: "}
	s.addLog([]byte(names[min(level, uint32(len(names)-1))]))
	s.addLog(line)
	s.addLog([]byte("\n"))
}

// Codes that call returns instead of a length.
const (
	codeCancelled = -1
	codeDenied    = -2
	codeUnknown   = -3
	codeFailed    = -4
	codeTooLarge  = -5
)

func (s *session) call(m api.Module, stack []uint64) int64 {
	op, request := read(m, stack[0], stack[1]), read(m, stack[2], stack[3])
	s.response = nil
	if s.calls++; s.calls > s.limits.calls || s.capability == nil || len(op) > 256 {
		return codeDenied
	}
	if int64(len(request)) > s.limits.output {
		return codeTooLarge
	}
	code, response := s.capability(string(op), request)
	if code < 0 {
		return code
	}
	if len(response) > math.MaxInt32 {
		return codeTooLarge
	}
	s.response = response
	return int64(len(response))
}

// link gives runtime rt the functions that modules may import.
func (s *session) link(ctx context.Context, rt wazero.Runtime) error {
	eval := rt.NewHostModuleBuilder(abiModule)
	for name, f := range s.hostFunctions() {
		export(eval, name, f)
	}
	if _, err := eval.Instantiate(ctx); err != nil {
		return err
	}
	wasi := rt.NewHostModuleBuilder(wasiModule)
	own := s.wasiFunctions()
	for name := range wasiFunctions {
		f, ok := own[name]
		if !ok {
			f = func(_ context.Context, _ api.Module, stack []uint64) { stack[0] = errnoBadFile }
		}
		export(wasi, name, f)
	}
	_, err := wasi.Instantiate(ctx)
	return err
}

func export(b wazero.HostModuleBuilder, name string, f api.GoModuleFunc) {
	var sig, _ = hostSignature(abiModule, name)
	if sig.Params == nil && sig.Results == nil {
		sig, _ = hostSignature(wasiModule, name)
	}
	b.NewFunctionBuilder().WithGoModuleFunction(f, sig.Params, sig.Results).Export(name)
}
