package rpc

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// settleTimeout is how long a failed start waits for what the plugin last wrote.
const settleTimeout = time.Second

// whyNot says why a plugin did not start, from what it did rather than from where
// go-plugin noticed.
func (r *process) whyNot(err error) error {
	var f *eval.Fault
	first := r.first.get()
	switch {
	case r.timedOut.Load():
		return r.fault(eval.RetryNever, "not ready after %s%s%s", r.limit, r.half(), r.said())
	case r.startErr != nil:
		return r.fault(eval.RetryNever, "%v", r.startErr)
	case r.first.blank():
		return r.fault(eval.RetryNever, "wrote an empty line to stdout where its handshake belongs; a plugin must not write to stdout%s", r.said())
	case first != "" && !first.isHandshake() && !r.first.cut():
		return r.fault(eval.RetryNever,
			"wrote %q to stdout where its handshake belongs; a plugin must not write to stdout%s", first, r.said())
	case first.isHandshake() && !r.first.cut() && !slices.Contains(r.majors, first.major()):
		return r.fault(eval.RetryNever,
			"speaks version %d of the %s protocol, and this engine %s; use a version of the plugin, or of evalengine, that fits%s",
			first.major(), r.kind, spell(r.majors), r.said())
	case errors.As(err, &f) && f.Retry == eval.RetryStop:
		return err
	case r.exited() && !r.killed.Load():
		return r.fault(eval.RetryNever, "ended at its start: %s%s%s", r.ended(), r.half(), r.said())
	case errors.As(err, &f):
		// The plugin is alive. Who turns the engine away is told by TLS alone, and it
		// depends on the moment in which of the two words the connection ends.
		if _, why, ok := strings.Cut(f.Detail, lost); ok {
			return r.fault(eval.RetryNever,
				"nobody, or another process than the one that was started, answers at the address of its handshake: %s%s", why, r.said())
		}
		return err
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return r.fault(eval.RetryNever, "%s%s", text, r.said())
}

// half quotes a handshake that was cut.
func (r *process) half() string {
	r.settle()
	if r.first.cut() {
		return fmt.Sprintf(", in the middle of its handshake %q", r.first.get())
	}
	return ""
}

// said quotes the last line of stderr.
func (r *process) said() string {
	r.settle()
	if l := r.last.line(); l != "" {
		return fmt.Sprintf("; it said %q", l)
	}
	return ""
}

// settle ends the process and waits until what it wrote is read.
func (r *process) settle() {
	r.kill()
	t := time.NewTimer(settleTimeout)
	defer t.Stop()
	for _, c := range []<-chan struct{}{r.done, r.first.over, r.last.over} {
		select {
		case <-c:
		case <-t.C:
			return
		}
	}
}

// handshake is a plugin's first line of stdout: CORE|MAJOR|NETWORK|ADDRESS|...
type handshake string

func (h handshake) parts() []string { return strings.Split(string(h), "|") }

func (h handshake) isHandshake() bool {
	p := h.parts()
	return len(p) >= 4 && p[0] == "1" && h.major() >= 0
}

// major is the protocol's, or -1.
func (h handshake) major() int {
	n, err := strconv.Atoi(h.parts()[1])
	if err != nil || n < 0 {
		return -1
	}
	return n
}
