package wasm

import (
	"context"
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

// Error numbers of WASI.
const (
	errnoOK      = 0
	errnoBadFile = 8
	errnoInvalid = 28
)

// epoch is when every module's clock starts: 2026-01-01 UTC, in nanoseconds.
const epoch = 1767225600 * 1e9

// tick is how far reading the clock moves it.
const tick = 1000

// wasiFunctions are the functions of WASI that do anything at all: output to the
// log, a clock that time does not move, random numbers that are always the same.
func (s *session) wasiFunctions() map[string]api.GoModuleFunc {
	empty := func(_ context.Context, m api.Module, stack []uint64) {
		clear(read(m, stack[0], 4))
		clear(read(m, stack[1], 4))
		stack[0] = errnoOK
	}
	ok := func(_ context.Context, _ api.Module, stack []uint64) { stack[0] = errnoOK }
	return map[string]api.GoModuleFunc{
		"args_sizes_get":    empty,
		"environ_sizes_get": empty,
		"args_get":          ok,
		"environ_get":       ok,
		"sched_yield":       ok,
		"proc_exit": func(_ context.Context, _ api.Module, stack []uint64) {
			abort(exitError{uint32(stack[0])})
		},
		"clock_res_get": func(_ context.Context, m api.Module, stack []uint64) {
			binary.LittleEndian.PutUint64(read(m, stack[1], 8), 1)
			stack[0] = errnoOK
		},
		"clock_time_get": s.clockTimeGet,
		"fd_fdstat_get":  fdStat,
		"fd_read":        fdRead,
		"fd_write":       s.fdWrite,
		"poll_oneoff":    s.pollOneoff,
		"random_get":     s.randomGet,
	}
}

func (s *session) clockTimeGet(_ context.Context, m api.Module, stack []uint64) {
	s.clock += tick
	now := s.clock
	if uint32(stack[0]) == 0 { // realtime
		now += epoch
	}
	binary.LittleEndian.PutUint64(read(m, stack[2], 8), now)
	stack[0] = errnoOK
}

// randomGet is SplitMix64.
func (s *session) randomGet(_ context.Context, m api.Module, stack []uint64) {
	b := read(m, stack[0], stack[1])
	for len(b) > 0 {
		s.random += 0x9e3779b97f4a7c15
		z := s.random
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], z)
		b = b[copy(b, word[:]):]
	}
	stack[0] = errnoOK
}

func fdStat(_ context.Context, m api.Module, stack []uint64) {
	if uint32(stack[0]) > 2 {
		stack[0] = errnoBadFile
		return
	}
	b := read(m, stack[1], 24)
	clear(b)
	b[0] = 2 // a character device
	stack[0] = errnoOK
}

// fdRead finds stdin empty.
func fdRead(_ context.Context, m api.Module, stack []uint64) {
	if uint32(stack[0]) != 0 {
		stack[0] = errnoBadFile
		return
	}
	clear(read(m, stack[3], 4))
	stack[0] = errnoOK
}

// fdWrite sends stdout and stderr to the log.
func (s *session) fdWrite(_ context.Context, m api.Module, stack []uint64) {
	if fd := uint32(stack[0]); fd != 1 && fd != 2 {
		stack[0] = errnoBadFile
		return
	}
	vectors, total := uint32(stack[2]), uint32(0)
	if vectors > 1024 {
		stack[0] = errnoInvalid
		return
	}
	for v := range vectors {
		iov := read(m, uint64(uint32(stack[1])+v*8), 8)
		n := binary.LittleEndian.Uint32(iov[4:])
		s.addLog(read(m, uint64(binary.LittleEndian.Uint32(iov)), uint64(n)))
		total += n
	}
	binary.LittleEndian.PutUint32(read(m, stack[3], 4), total)
	stack[0] = errnoOK
}

// Layout of poll_oneoff's subscriptions and events.
const (
	subscriptionSize = 48
	eventSize        = 32
	eventClock       = 0
	absoluteTime     = 1
)

// pollOneoff moves the clock to the first timeout that was asked for and reports
// it; a file is never ready.
func (s *session) pollOneoff(_ context.Context, m api.Module, stack []uint64) {
	count := uint32(stack[2])
	if count == 0 || count > 1024 {
		stack[0] = errnoInvalid
		return
	}
	subscriptions := read(m, stack[0], uint64(count)*subscriptionSize)
	first, at := -1, uint64(0)
	for i := range int(count) {
		sub := subscriptions[i*subscriptionSize:]
		if sub[8] != eventClock {
			continue
		}
		due := binary.LittleEndian.Uint64(sub[24:])
		if binary.LittleEndian.Uint16(sub[40:])&absoluteTime == 0 {
			due += s.clock
		} else if binary.LittleEndian.Uint32(sub[16:]) == 0 {
			due -= min(due, epoch)
		}
		if first < 0 || due < at {
			first, at = i, due
		}
	}
	if first < 0 {
		stack[0] = errnoBadFile
		return
	}
	s.clock = max(s.clock, at)
	var event [eventSize]byte
	copy(event[:8], subscriptions[first*subscriptionSize:])
	event[10] = eventClock
	copy(read(m, stack[1], eventSize), event[:])
	binary.LittleEndian.PutUint32(read(m, stack[3], 4), 1)
	stack[0] = errnoOK
}
