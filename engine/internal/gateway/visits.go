package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// maxVisits is how many requests a room has under way: far more than any agent
// program makes at a time, far fewer than the files that a process may have open.
const maxVisits = 1000

// stall is how long a client may take nothing of its answer before it counts as
// gone. What waits behind it, such as other sessions of one server, goes on then.
const stall = 2 * time.Minute

var errBusy = errors.New("too many requests at once")

// visits are the HTTP requests under way in a room, so that closing the room
// ends them and waits for them.
type visits struct {
	stall  time.Duration
	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	closed bool
	n      int
	wg     sync.WaitGroup
}

func newVisits() *visits {
	v := &visits{stall: stall}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// begin binds a request to the room: its context ends with the room, and reads
// and writes that wait for the client end too. The caller must call end.
func (v *visits) begin(w http.ResponseWriter, r *http.Request) (_ *http.Request, end func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
		return r, nil, errEnded
	case v.n >= maxVisits:
		return r, nil, errBusy
	}
	v.n++
	v.wg.Add(1)
	ctx, cancel := context.WithCancel(r.Context())
	done := make(chan struct{})
	stop := context.AfterFunc(v.ctx, func() {
		defer close(done)
		cancel() // before the deadlines, so that [steadyWriter] leaves them
		expire(http.NewResponseController(w))
	})
	return r.WithContext(ctx), func() {
		if !stop() {
			<-done
		}
		cancel()
		v.mu.Lock()
		v.n--
		v.mu.Unlock()
		v.wg.Done()
	}, nil
}

// refuseVisit answers a request that the room does not take.
func refuseVisit(w http.ResponseWriter, err error) {
	status := http.StatusGone
	if errors.Is(err, errBusy) {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, err.Error(), status)
}

// close ends all visits and waits for them.
func (v *visits) close() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.cancel()
	v.wg.Wait()
}

// expire ends reads and writes that wait for the client.
func expire(rc *http.ResponseController) {
	past := time.Unix(1, 0)
	rc.SetReadDeadline(past)
	rc.SetWriteDeadline(past)
}

// steadyWriter gives up on a client that takes nothing for a while.
type steadyWriter struct {
	http.ResponseWriter
	rc    *http.ResponseController
	ctx   context.Context
	stall time.Duration
}

func (v *visits) steady(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	return &steadyWriter{ResponseWriter: w, rc: http.NewResponseController(w), ctx: r.Context(), stall: v.stall}
}

func (s *steadyWriter) Write(p []byte) (int, error) {
	s.extend()
	return s.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (s *steadyWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// FlushError is for [http.ResponseController].
func (s *steadyWriter) FlushError() error {
	s.extend()
	return s.rc.Flush()
}

// extend moves the deadline on. The room's end comes before it in any case.
func (s *steadyWriter) extend() {
	s.rc.SetWriteDeadline(time.Now().Add(s.stall))
	if s.ctx.Err() != nil {
		expire(s.rc)
	}
}
