package wasm

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Kinds of frames between the engine and a worker. The engine sends hello, load,
// run and reply; the worker answers load and run with done or fault, and sends
// call while it runs.
const (
	frameHello = 'h' // 1 to interpret, cache folder
	frameLoad  = 'l' // slot, limits, module
	frameRun   = 'r' // slot, 0 to describe or 1 to score, request
	frameReply = 'a' // to a call: code, response
	frameDone  = 'd' // code, length of the log, log, output
	frameFault = 'f' // length of the log, log, what is wrong with the module
	frameCall  = 'c' // length of the operation, operation, request
)

// A frame is a kind, the length of the rest, and the rest.
const frameHeader = 5

// maxFrame bounds what either side accepts.
const maxFrame = 1 << 30

// frameSlack is what an answer may hold beside a module's output and log.
const frameSlack = 64 << 10

// beginFrame appends the header of a frame whose length endFrame fills in.
func beginFrame(b []byte, kind byte) []byte { return append(b, kind, 0, 0, 0, 0) }

// endFrame fills in the length of the frame that b begins with and whose last
// extra bytes are elsewhere.
func endFrame(b []byte, extra int) {
	binary.LittleEndian.PutUint32(b[1:], uint32(len(b)-frameHeader+extra))
}

func appendInt(b []byte, v int64) []byte { return binary.LittleEndian.AppendUint64(b, uint64(v)) }

// readHeader reads a frame's kind and length.
func readHeader(r io.Reader) (kind byte, n int, err error) {
	var h [frameHeader]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, 0, err
	}
	n64 := binary.LittleEndian.Uint32(h[1:])
	if n64 > maxFrame {
		return 0, 0, fmt.Errorf("frame of %d bytes", n64)
	}
	return h[0], int(n64), nil
}

// fields takes a frame's payload apart. What is not there is zero and sets bad.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) int() int64 {
	b := f.bytes(8)
	if len(b) < 8 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func (f *fields) bytes(n int64) []byte {
	if n < 0 || n > int64(len(f.b)) {
		f.bad = true
		return nil
	}
	b := f.b[:n:n]
	f.b = f.b[n:]
	return b
}
