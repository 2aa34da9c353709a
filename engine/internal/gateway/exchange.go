package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/internal/gateway/model"
	"github.com/evalengine/evalengine/engine/internal/gateway/sse"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// maxParsed bounds how much of an answer is read for its usage: one event of a
// stream, or a whole document. A larger one passes uncounted.
const maxParsed = 16 << 20

// longestWait bounds what a provider can ask for.
const longestWait = time.Hour

// exchange is one request of the agent's to its model.
type exchange struct {
	m         *Model
	w         http.ResponseWriter
	r         *http.Request
	keyHeader string
	began     time.Time
	counts    bool // it asks for an answer, and is not about anything else
	reading   model.Reading
	facts     *Request
	ended     bool
	kept      []byte // of the request's body
	reply     capped // of the answer's
}

func (x *exchange) run() {
	b := wire.NewBuilder(x.m.hub.o.limits())
	_, err := io.Copy(b, io.LimitReader(x.r.Body, x.m.hub.o.MaxMessageBytes+1))
	body := b.Done()
	defer body.Release()
	if err != nil {
		return // the agent went away before it had asked
	}
	x.facts = &Request{RequestBytes: body.Size, At: x.m.since()}
	if len(body.List) == 1 {
		x.facts.Model = body.List[0].Model
	}
	if x.m.o.Bodies {
		x.kept = body.Slice(body.All(), x.m.hub.o.MaxRecordBytes)
		x.reply.max = x.m.hub.o.MaxRecordBytes
	}
	if body.Size > x.m.hub.o.MaxMessageBytes || !body.Kept() && body.Size > 0 {
		x.m.refuse(x.w, http.StatusRequestEntityTooLarge, "request_too_large", "request_too_large", "the request passes the proxy's limit")
		return
	}
	if x.counts && !x.m.begin(x.facts) {
		x.m.record(*x.facts, x.r.Method, x.path(), x.kept, nil)
		x.m.refuse(x.w, http.StatusBadRequest, "invalid_request_error", string(x.facts.Limit), x.m.refusal(x.facts.Limit))
		return
	}
	defer func() { x.end(model.ClientGone) }() // whatever is not ended by then
	x.forward(body)
}

func (x *exchange) path() string {
	return strings.TrimPrefix(x.r.URL.Path, "/"+x.m.path)
}

// forward sends the request and passes its answer back.
func (x *exchange) forward(body *wire.Message) {
	ctx, cancel := context.WithCancelCause(x.r.Context())
	defer cancel(nil)
	began := func() bool { return true }
	req, err := x.request(ctx, body)
	if err != nil {
		x.m.refuse(x.w, http.StatusBadRequest, "invalid_request_error", "bad_path", "the request's path is not valid")
		x.end(model.Failed)
		return
	}
	if d := x.m.o.HeaderTimeout; d > 0 {
		late := time.AfterFunc(d, func() { cancel(errHeaders) })
		defer late.Stop()
		began = func() bool { return late.Stop() }
	}
	resp, err := x.m.client.RoundTrip(req)
	if !began() {
		if err == nil {
			resp.Body.Close()
		}
		x.fail(http.StatusGatewayTimeout, model.ErrorHang, errHeaders.Error())
		return
	}
	if err != nil {
		if x.r.Context().Err() == nil {
			x.fail(http.StatusBadGateway, model.ErrorNetwork, plain(err))
		}
		return
	}
	defer resp.Body.Close()
	x.headers(resp)
	answer := io.Reader(&watched{r: resp.Body, d: x.m.o.IdleTimeout, late: func() { cancel(errIdle) }})
	switch kind := resp.Header.Get("Content-Type"); {
	case x.counts && resp.StatusCode < 300 && strings.HasPrefix(kind, streamType) && plainBody(resp):
		x.stream(ctx, resp, answer)
	default:
		x.document(ctx, resp, answer)
	}
}

func plainBody(resp *http.Response) bool {
	e := resp.Header.Get("Content-Encoding")
	return e == "" || e == "identity"
}

func (x *exchange) request(ctx context.Context, body *wire.Message) (*http.Request, error) {
	target, err := x.m.target(x.r.URL)
	if err != nil {
		return nil, err
	}
	req := &http.Request{Method: x.r.Method, URL: target, Header: http.Header{}, Host: target.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	copyHeaders(req.Header, x.r.Header)
	req.Header.Del("X-Api-Key")
	req.Header.Set("Accept-Encoding", "identity")
	if body.Size > 0 {
		req.Body, req.ContentLength = io.NopCloser(body.Reader()), body.Size
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(body.Reader()), nil }
	}
	if x.m.o.Key != "" {
		x.authorize(req)
	}
	return req.WithContext(ctx), nil
}

// authorize puts the real key where the stand-in was.
func (x *exchange) authorize(req *http.Request) {
	header := x.m.o.KeyHeader
	if header == "" {
		header = x.keyHeader
	}
	if strings.EqualFold(header, "Authorization") {
		req.Header.Set("Authorization", "Bearer "+x.m.o.Key)
		return
	}
	req.Header.Set(header, x.m.o.Key)
}

// headers passes the answer's headers on and notes what they say.
func (x *exchange) headers(resp *http.Response) {
	copyHeaders(x.w.Header(), resp.Header)
	for _, values := range x.w.Header() {
		for i := range values {
			values[i] = x.m.hide(values[i])
		}
	}
	x.note(func(r *Request) {
		r.Status = resp.StatusCode
		r.RetryAfter = retryAfter(resp.Header, time.Now())
	})
}

// retryAfter is how long the provider asks to wait, 0 where it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if n, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && n > 0 {
		return min(time.Duration(min(n, 1e9)*float64(time.Millisecond)), longestWait)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseFloat(v, 64); err == nil && n > 0 {
		return min(time.Duration(min(n, 1e6)*float64(time.Second)), longestWait)
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return min(at.Sub(now), longestWait)
	}
	return 0
}

// note changes the facts of this request.
func (x *exchange) note(f func(*Request)) {
	x.m.mu.Lock()
	defer x.m.mu.Unlock()
	f(x.facts)
}

// read copies what is known of the answer into the facts.
func (x *exchange) read() {
	x.note(func(r *Request) {
		d := &x.reading
		if d.Model != "" {
			r.Model = d.Model
		}
		r.Usage, r.Counted, r.StopReason = d.Usage, d.Final(), d.StopReason
		r.ErrorType, r.ErrorCode = d.ErrorType, d.ErrorCode
		r.ErrorMessage = x.m.hide(d.ErrorMessage)
		if d.Closed && r.Status < 300 {
			r.StreamEnd = model.Complete
			r.Duration = time.Since(x.began)
		}
	})
}

// end closes the facts of this request. Only the first end counts.
func (x *exchange) end(how model.End) {
	if x.ended {
		return
	}
	x.ended = true
	x.m.mu.Lock()
	r := x.facts
	r.Duration = time.Since(x.began)
	r.StreamEnd = how
	if x.counts {
		x.m.flying--
		if r.Status < 300 && how == model.Complete && r.ErrorType == "" {
			x.m.turns++
		}
	}
	done := x.m.priced(*r)
	x.m.mu.Unlock()
	if x.counts && x.m.o.Answered != nil {
		x.m.o.Answered(done.Status, done.RetryAfter)
	}
	x.m.record(done, x.r.Method, x.path(), x.kept, x.reply.b)
}

// fail answers in the provider's place.
func (x *exchange) fail(status int, kind, text string) {
	x.note(func(r *Request) {
		r.Status, r.ErrorType, r.ErrorMessage = status, kind, x.m.hide(text)
	})
	x.end(model.Failed)
	x.m.refuseRetry(x.w, status, kind, x.m.hide(text))
}

// refuseRetry is refuse for what the agent may try again.
func (m *Model) refuseRetry(w http.ResponseWriter, status int, kind, text string) {
	b, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text, "code": kind}})
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	w.Write(b)
}

// stream passes events on. Each is read before it goes, so that the facts are
// never behind what the agent knows.
func (x *exchange) stream(ctx context.Context, resp *http.Response, body io.Reader) {
	x.w.WriteHeader(resp.StatusCode)
	out := &onward{x: x, to: newHiding(x.w, x.m.secret()), flush: http.NewResponseController(x.w).Flush}
	out.flush()
	r := sse.NewReader(&behind{r: body, w: out})
	var err error
	for err == nil {
		data := capped{max: maxParsed}
		var e sse.Event
		e, err = r.Next(&data)
		if e.HasData && !data.over && (!e.Partial || json.Valid(data.b)) {
			x.reading.Event(data.b)
			x.read()
		}
	}
	switch {
	case out.err != nil || x.r.Context().Err() != nil && !x.reading.Closed:
		x.end(model.ClientGone)
		return
	case errors.Is(err, io.EOF) || x.reading.Closed:
		x.end(x.reading.End())
	case context.Cause(ctx) == errIdle:
		x.end(model.Stalled)
	default:
		x.end(model.Cut)
	}
	if out.finish(); !errors.Is(err, io.EOF) {
		panic(http.ErrAbortHandler) // the agent must see that the answer was cut
	}
}

// document passes a whole answer on, after it is read.
func (x *exchange) document(ctx context.Context, resp *http.Response, body io.Reader) {
	out := newHiding(x.w, x.m.secret())
	head, err := io.ReadAll(io.LimitReader(body, maxParsed))
	x.note(func(r *Request) { r.ResponseBytes = int64(len(head)) })
	x.reply.Write(head)
	if x.counts && plainBody(resp) {
		x.reading.Document(head)
		if resp.StatusCode >= 300 && x.reading.ErrorMessage == "" {
			x.reading.ErrorMessage = quote(string(bytes.TrimSpace(head)))
		}
		x.read()
	}
	x.end(x.howEnded(ctx, resp, err))
	if err == nil && len(head) < maxParsed {
		x.w.Header().Set("Content-Length", strconv.Itoa(len(head)))
	}
	x.w.WriteHeader(resp.StatusCode)
	_, werr := out.Write(head)
	if err == nil && werr == nil && len(head) == maxParsed {
		_, err = io.Copy(out, body)
	}
	out.Flush()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (x *exchange) howEnded(ctx context.Context, resp *http.Response, err error) model.End {
	switch {
	case x.r.Context().Err() != nil:
		return model.ClientGone
	case context.Cause(ctx) == errIdle:
		return model.Stalled
	case resp.StatusCode >= 300:
		return model.Failed
	case err != nil:
		return model.Cut
	case !x.counts || !plainBody(resp) || x.facts.ResponseBytes == maxParsed:
		return model.Complete
	}
	return x.reading.End()
}

// watched calls late when a read waits too long.
type watched struct {
	r    io.Reader
	d    time.Duration
	late func()
}

func (w *watched) Read(p []byte) (int, error) {
	if w.d <= 0 {
		return w.r.Read(p)
	}
	t := time.AfterFunc(w.d, w.late)
	defer t.Stop()
	return w.r.Read(p)
}

// behind writes what was read when more is asked for: by then it is known what
// it says.
type behind struct {
	r    io.Reader
	w    io.Writer
	last []byte
}

func (b *behind) Read(p []byte) (int, error) {
	if len(b.last) > 0 {
		if _, err := b.w.Write(b.last); err != nil {
			return 0, err
		}
		b.last = b.last[:0]
	}
	n, err := b.r.Read(p)
	b.last = append(b.last, p[:n]...)
	if err != nil && len(b.last) > 0 {
		// The end is told only after what came before it.
		b.r = &failing{err}
		err = nil
	}
	return n, err
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// onward sends bytes to the agent at once.
type onward struct {
	x     *exchange
	to    *hiding
	flush func() error
	err   error
}

func (o *onward) Write(p []byte) (int, error) {
	o.x.note(func(r *Request) { r.ResponseBytes += int64(len(p)) })
	o.x.reply.Write(p)
	if _, o.err = o.to.Write(p); o.err == nil {
		o.err = o.flush()
	}
	return len(p), o.err
}

func (o *onward) finish() {
	o.to.Flush()
	o.flush()
}

// capped keeps the first bytes written, and says whether there were more.
type capped struct {
	b    []byte
	max  int64
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.max - int64(len(c.b))
	if int64(len(p)) > room {
		c.over = true
		c.b = append(c.b, p[:max(0, room)]...)
		return len(p), nil
	}
	c.b = append(c.b, p...)
	return len(p), nil
}

// plain is an error without the URL, which may hold a key.
func plain(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}
