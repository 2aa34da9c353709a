package rpc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/evalengine/evalengine/engine/eval"
)

// plug names a plugin in errors.
type plug struct{ kind, name string }

func (p plug) String() string { return fmt.Sprintf("%s plugin %q", p.kind, p.name) }

// fault is a fault of the plugin itself, not of what it drives.
func (p plug) fault(retry eval.Retry, format string, args ...any) *eval.Fault {
	return &eval.Fault{
		Cause: eval.CausePlugin, Retry: retry, Detail: p.String() + ": " + fmt.Sprintf(format, args...),
	}
}

// lost begins what is said of a connection that ended.
const lost = "the process ended or closed its connection: "

// broken turns the error of a call or stream into the plugin's fault.
func (p plug) broken(err error) *eval.Fault {
	if err == nil || errors.Is(err, io.EOF) {
		return p.fault(eval.RetryTrial, "ended the stream before its answer")
	}
	s := status.Convert(err)
	switch s.Code() {
	case codes.Unimplemented:
		return p.fault(eval.RetryStop, "does not serve the %s protocol: %s", p.kind, s.Message())
	case codes.Unavailable:
		return p.fault(eval.RetryTrial, "%s%s", lost, s.Message())
	case codes.ResourceExhausted:
		return p.fault(eval.RetryNever, "a message is too large: %s", s.Message())
	}
	return p.fault(eval.RetryTrial, "%s", s.Message())
}

// named puts the plugin's name before a fault that the plugin reported.
func (p plug) named(f *eval.Fault) error { return fmt.Errorf("%s: %w", p, f) }

// faultOf is err as a fault; one that is none gets the given cause.
func faultOf(err error, cause string) *eval.Fault {
	if err == nil {
		return nil
	}
	var f *eval.Fault
	if errors.As(err, &f) {
		return f
	}
	return &eval.Fault{Cause: cause, Retry: eval.RetryTrial, Detail: err.Error()}
}

// rescue turns a panic of a plugin's method into an error: other trials share
// the process.
func rescue(err *error) {
	v := recover()
	if v == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "panic: %v\n%s", v, debug.Stack())
	*err = &eval.Fault{Cause: eval.CausePlugin, Retry: eval.RetryTrial, Detail: fmt.Sprintf("panic: %v", v)}
}
