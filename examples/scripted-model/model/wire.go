package model

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// answer writes what the script says to a request.
func (x *exchange) answer(req *request, sc *scenario) {
	a := sc.answer(req, x.route.token, &x.s.hits)
	a.reply.id, a.reply.created = responseID(x.s.ids.next()), x.s.now()
	x.seen.Turn, x.seen.Step, x.seen.Problem = a.turn+1, a.step+1, a.problem
	if a.fault != nil {
		x.seen.Fault = a.fault.String()
	}
	x.record()
	switch {
	case a.fault != nil && a.fault.wire():
		x.breakWire(a, req.stream)
	case a.fault != nil && a.fault.inStream() && req.stream:
		x.begin("text/event-stream", a.fault.headers)
		x.play(x.protocol.failing(&a.reply, a.fault.apiError(), x.requestID), a.delay)
	case a.fault != nil:
		x.fail(a.fault)
	case req.stream:
		x.begin("text/event-stream", nil)
		x.play(x.protocol.events(&a.reply), a.delay)
	case !x.wait(a.delay):
		x.abort()
	default:
		x.json(http.StatusOK, x.protocol.whole(&a.reply))
	}
}

// begin sends the status and headers of an answer that goes well for now.
func (x *exchange) begin(contentType string, more http.Header) {
	h := x.w.Header()
	for name, values := range more {
		h[name] = values
	}
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache")
	h.Set(x.protocol.requestIDHeader(), x.requestID)
	x.w.WriteHeader(http.StatusOK)
	x.flush()
}

// abort ends an exchange without an end of its answer: a handler that only
// returned would end it as if it were whole.
func (x *exchange) abort() { panic(http.ErrAbortHandler) }

// play writes events, each after the delay, until the client leaves or the
// server closes.
func (x *exchange) play(events []event, delay time.Duration) {
	for _, e := range events {
		if !x.wait(delay) {
			x.abort()
		}
		if _, err := x.w.Write([]byte(e.String())); err != nil {
			return
		}
		x.flush()
	}
}

// wait reports whether the exchange still goes on after the delay.
func (x *exchange) wait(delay time.Duration) bool {
	if delay <= 0 {
		return x.req.Context().Err() == nil
	}
	ctx, cancel := context.WithTimeout(x.req.Context(), delay)
	defer cancel()
	<-ctx.Done()
	return x.req.Context().Err() == nil
}

func (x *exchange) flush() {
	http.NewResponseController(x.w).Flush() //nolint:errcheck // the next write says it too
}

func (x *exchange) json(status int, body any) {
	data := compact(body)
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	x.w.Header().Set(x.protocol.requestIDHeader(), x.requestID)
	x.w.WriteHeader(status)
	x.w.Write(data) //nolint:errcheck // the client has left
}

// fail answers with an HTTP error.
func (x *exchange) fail(f *fault) {
	for name, values := range f.headers {
		x.w.Header()[name] = values
	}
	e := f.apiError()
	x.json(e.status, x.protocol.errorBody(e, x.requestID))
}

// breakWire answers with bytes that are no good answer.
func (x *exchange) breakWire(a answer, stream bool) {
	kind := "application/json"
	if stream {
		kind = "text/event-stream"
	}
	switch a.fault.kind {
	case faultHang:
		<-x.req.Context().Done()
		x.abort()
	case faultHTML:
		x.begin("text/html; charset=utf-8", a.fault.headers)
		fmt.Fprint(x.w, "<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>\n")
	case faultEmpty:
		x.begin(kind, a.fault.headers)
	case faultMalformed:
		x.begin(kind, a.fault.headers)
		if stream {
			first := x.protocol.events(&a.reply)[0]
			first.data = `{"type": broken`
			x.play([]event{first, {data: "not json either"}}, a.delay)
			return
		}
		fmt.Fprint(x.w, `{"id": broken`)
	default:
		x.writeHalf(a, stream, kind)
	}
}

// writeHalf writes an answer up to its middle and then resets, ends or stalls.
func (x *exchange) writeHalf(a answer, stream bool, kind string) {
	if stream {
		x.begin(kind, a.fault.headers)
		x.play(half(x.protocol.events(&a.reply)), a.delay)
	} else {
		data := compact(x.protocol.whole(&a.reply))
		x.w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		x.begin(kind, a.fault.headers)
		x.w.Write(data[:len(data)/2]) //nolint:errcheck // the client has left
		x.flush()
	}
	switch a.fault.kind {
	case faultStall:
		<-x.req.Context().Done()
		x.abort()
	case faultReset:
		x.reset()
	}
}

// resetPause is how long a client has to read the half answer before the reset,
// which may take from it what it has not read.
const resetPause = 100 * time.Millisecond

// reset closes the connection so that the client sees a TCP reset, not an end.
func (x *exchange) reset() {
	x.wait(resetPause)
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		x.abort()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0) //nolint:errcheck // the close that follows is all that can be done
	}
	conn.Close()
}
