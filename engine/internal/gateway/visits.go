package gateway

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// visits are the HTTP requests under way in a room, so that closing the room
// ends them and waits for them.
type visits struct {
	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

func newVisits() *visits {
	v := &visits{}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// begin binds a request to the room: its context ends with the room, and reads
// and writes that wait for the client end too. The caller must call end.
func (v *visits) begin(w http.ResponseWriter, r *http.Request) (_ *http.Request, end func(), ok bool) {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return r, nil, false
	}
	v.wg.Add(1)
	v.mu.Unlock()
	ctx, cancel := context.WithCancel(r.Context())
	done := make(chan struct{})
	stop := context.AfterFunc(v.ctx, func() {
		defer close(done)
		rc := http.NewResponseController(w)
		past := time.Unix(1, 0)
		rc.SetReadDeadline(past)
		rc.SetWriteDeadline(past)
		cancel()
	})
	return r.WithContext(ctx), func() {
		if !stop() {
			<-done
		}
		cancel()
		v.wg.Done()
	}, true
}

// close ends all visits and waits for them.
func (v *visits) close() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.cancel()
	v.wg.Wait()
}
