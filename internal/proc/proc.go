// Package proc starts processes so that nothing of them is left: each in a
// session of its own, with a mark that everything it starts inherits, and pipes
// that end with it. It is shared by the engine's gateway, the plugin launcher's half
// in package rpc and the SDKs; it knows nothing of plugins or agents.
package proc

import (
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// How long a stream whose program has ended may stay silent, and stay open,
// before it counts as ended: a process that escaped could hold it for ever.
const (
	silence  = 200 * time.Millisecond
	lastCall = 20 * time.Second
)

// ExitError is how a program ended, other than with status 0.
type ExitError syscall.WaitStatus

func (e ExitError) Error() string {
	if w := syscall.WaitStatus(e); w.Signaled() {
		return "signal: " + w.Signal().String()
	}
	return "exit status " + strconv.Itoa(syscall.WaitStatus(e).ExitStatus())
}

// Failure is what [Kept.Finish] and [Kept.Ended] return as one error, nil for status
// 0 and an [ExitError] for another.
func Failure(w syscall.WaitStatus, err error) error {
	if err != nil || w == 0 {
		return err
	}
	return ExitError(w)
}

// Pipe is the reading end of a stream. It ends with its last writer, or soon
// after [Pipe.Expire]. It is read by one goroutine.
type Pipe struct {
	f     *os.File
	once  sync.Once
	until time.Time // set with once
	over  bool
}

// NewPipe returns a pipe's reading end and its writing end, which the caller
// gives to a process and closes.
func NewPipe() (*Pipe, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return &Pipe{f: r}, w, nil
}

// Expire says that the program has ended: what it wrote is still read, but nobody
// waits for more.
func (p *Pipe) Expire() { _ = p.f.SetReadDeadline(time.Now().Add(silence)) }

// Close closes the reading end.
func (p *Pipe) Close() error { return p.f.Close() }

func (p *Pipe) Read(b []byte) (int, error) {
	if p.over {
		return 0, io.EOF
	}
	n, err := p.f.Read(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		if err != nil {
			p.over, err = true, io.EOF
		}
		return n, err
	}
	// The deadline may have passed while the reader was elsewhere: what is there
	// already is still read.
	p.once.Do(func() { p.until = time.Now().Add(lastCall) })
	p.Expire()
	n, err = p.f.Read(b)
	if err != nil || time.Now().After(p.until) {
		p.over = true
		err = io.EOF
	}
	return n, err
}
