// Package exchange watches the one HTTP request that a model client makes for an
// answer, and says what went wrong with it. The official SDKs tell errors in
// their own ways; what is judged here is the answer itself, by the same reading
// that the engine has of an agent's model traffic.
package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/model"
	"github.com/evalengine/evalengine/engine/internal/gateway/sse"
)

// MaxAnswer bounds the body of one answer.
const MaxAnswer = 32 << 20

// Exchange is one request with its answer. It is an [http.RoundTripper] for one
// use, not safe for concurrent use.
type Exchange struct {
	next http.RoundTripper
	api  string

	sent   bool
	status int
	header http.Header
	body   bytes.Buffer
	broken error // how the answer ended, nil where it ended well
	large  bool
}

// New returns an exchange over next of the wire protocol api, one of the gateway's
// names for them.
func New(next http.RoundTripper, api string) *Exchange { return &Exchange{next: next, api: api} }

// Client is an HTTP client that makes the exchange. It follows no redirect: the
// key would go with it.
func (x *Exchange) Client() *http.Client {
	return &http.Client{Transport: x, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// RoundTrip sends the request. A second one is refused: retries are the
// broker's.
func (x *Exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	if x.sent {
		return nil, errors.New("a second request for one answer")
	}
	x.sent = true
	res, err := x.next.RoundTrip(req)
	if err != nil {
		x.broken = err
		return nil, err
	}
	x.status, x.header = res.StatusCode, res.Header
	b := &body{x: x, from: res.Body}
	res.Body = b
	if !x.streamed() { // a client that expects another type would not read it
		read, err := io.ReadAll(b)
		_ = b.Close()
		res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(read), failing{err}))
	}
	return res, nil
}

// failing is a reader with nothing but an error; nil is the end.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// body keeps what is read of an answer.
type body struct {
	x    *Exchange
	from io.ReadCloser
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.x.body.Len()+n > MaxAnswer {
		b.x.large = true
		return 0, fmt.Errorf("the answer is larger than %d MiB", MaxAnswer>>20)
	}
	b.x.body.Write(p[:n])
	if err != nil && !errors.Is(err, io.EOF) && b.x.broken == nil {
		b.x.broken = err
	}
	return n, err
}

func (b *body) Close() error { return b.from.Close() }

func (x *Exchange) streamed() bool {
	return strings.HasPrefix(strings.ToLower(x.header.Get("Content-Type")), "text/event-stream")
}

// reading is what the answer says.
func (x *Exchange) reading() model.Reading {
	r := model.Reading{API: x.api}
	if x.status >= 300 || !x.streamed() {
		r.Document(x.body.Bytes())
		return r
	}
	events(&r, x.body.Bytes())
	return r
}

// events reads a stream. An event that the stream's end cut did not come.
func events(r *model.Reading, stream []byte) {
	in := sse.NewReader(bytes.NewReader(stream))
	for {
		var data bytes.Buffer
		e, err := in.Next(&data)
		if err != nil || e.Partial {
			return
		}
		if e.HasData {
			r.Event(data.Bytes())
		}
	}
}

// Result is what the exchange came to: usage and model by the answer, and a fault
// where it is not a whole answer. err is the client's.
func (x *Exchange) Result(ctx context.Context, err error) (model.Reading, *eval.Fault) {
	if !x.sent {
		return model.Reading{}, fault(eval.CauseBadRequest, eval.RetryNever, "nothing was sent: %v", err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return x.partial(), fault(eval.CauseModelHang, eval.RetryTrial, "no whole answer in time")
	}
	if x.status == 0 {
		return model.Reading{}, fault(eval.CauseNetwork, eval.RetryTrial, "%v", x.broken)
	}
	r := x.reading()
	f := x.fault(&r)
	if f == nil && err != nil {
		f = fault(eval.CauseStream, eval.RetryTrial, "the answer cannot be read: %v", err)
	}
	if f != nil {
		f.RetryAfter = RetryAfter(x.header, time.Now())
		if x.status >= 300 {
			f.Status = x.status
		}
	}
	return r, f
}

// partial is the reading of an answer that may not have begun.
func (x *Exchange) partial() model.Reading {
	if x.status == 0 {
		return model.Reading{}
	}
	return x.reading()
}

func fault(cause string, retry eval.Retry, format string, args ...any) *eval.Fault {
	return &eval.Fault{Cause: cause, Retry: retry, Detail: fmt.Sprintf(format, args...)}
}
