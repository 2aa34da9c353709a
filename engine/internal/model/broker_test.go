package model

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/wire"
)

// Every protocol, streamed and not, with every way that an answer can stop.
func TestAnswers(t *testing.T) {
	stops := [4]eval.ModelStop{eval.StopEnd, eval.StopMaxTokens, eval.StopRefusal, eval.StopOther}
	for _, a := range apis() {
		for _, stream := range []bool{false, true} {
			for i, word := range a.stops {
				if stream && word == "cancelled" {
					continue // has no event of its own
				}
				name, more, reply := a.name+"/"+word, "", jsonly(200, a.whole(`{"score":3}`, word))
				if stream {
					name, more, reply = name+"/stream", `,"stream":true`, said(200, "text/event-stream", a.stream(`{"score":3}`, word))
				}
				t.Run(name, func(t *testing.T) {
					e := serve(t, reply)
					b := newBench(t, a, e.URL, more, nil)
					s := b.session()
					r := call(t, s, ask1("grade"))
					if r.Failure != "" || len(r.Samples) != 1 {
						t.Fatalf("reply = %+v", r)
					}
					got := r.Samples[0]
					if got.Text != `{"score":3}` || got.Stop != stops[i] || got.Model != "m-told" || got.Request != "j1" {
						t.Errorf("answer = %+v; want stop %s", got, stops[i])
					}
					u := got.Usage
					if u.InputTokens != 100 || u.CacheReadTokens != 40 || u.OutputTokens != 20 || u.Requests != 1 || u.LowerBound {
						t.Errorf("usage = %+v", u)
					}
					if e.paths[0] != a.path {
						t.Errorf("path = %s; want %s", e.paths[0], a.path)
					}
					if k := e.heads[0].Get("X-Api-Key") + e.heads[0].Get("Authorization"); k != canary && k != "Bearer "+canary {
						t.Errorf("key = %q", k)
					}
					if l := b.lines(t); len(l) != 1 || l[0].Answer == nil || l[0].Attempts != 1 || l[0].Score != "judge/x" || l[0].Model != "judge" {
						t.Errorf("judge.jsonl = %+v", l)
					}
				})
			}
		}
	}
}

func TestFailures(t *testing.T) {
	reset := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"id":"x",`))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	for _, a := range apis() {
		e401 := `{"error":{"type":"authentication_error","message":"bad key ` + canary + `"}}`
		for _, tt := range []struct {
			name    string
			reply   http.HandlerFunc
			failure string
			cause   string
			sent    int
		}{
			{"too long", jsonly(400, a.long), eval.FailureTooLarge, eval.CauseTooLarge, 1},
			{"413", said(413, "text/html", "<h1>too big</h1>"), eval.FailureTooLarge, eval.CauseTooLarge, 1},
			{"401", jsonly(401, e401), eval.FailureAuth, eval.CauseAuth, 1},
			{"403", jsonly(403, `{"error":{"type":"permission_error","message":"no"}}`), eval.FailureAuth, eval.CauseAuth, 1},
			{"404 model", jsonly(404, `{"error":{"type":"not_found_error","message":"model: nope"}}`), eval.FailureOther, eval.CauseModel, 1},
			{"404 page", said(404, "text/html", "<h1>nothing here</h1>"), eval.FailureOther, eval.CauseBadRequest, 1},
			{"400", jsonly(400, `{"error":{"type":"invalid_request_error","message":"messages: bad"}}`), eval.FailureOther, eval.CauseBadRequest, 1},
			{"redirect", said(302, "text/html", "", "Location", "http://127.0.0.1:1/"), eval.FailureOther, eval.CauseBadRequest, 1},
			{"429", jsonly(429, `{"error":{"type":"rate_limit_error","message":"slow"}}`), eval.FailureBusy, eval.CauseRateLimit, 3},
			{"500", jsonly(500, `{"error":{"message":"oops"}}`), eval.FailureOther, eval.CauseServer, 3},
			{"502 html", said(502, "text/html", "<h1>bad gateway</h1>"), eval.FailureOther, eval.CauseServer, 3},
			{"503", jsonly(503, `{}`), eval.FailureBusy, eval.CauseOverloaded, 3},
			{"529", jsonly(529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`), eval.FailureBusy, eval.CauseOverloaded, 3},
			{"reset", reset, eval.FailureOther, eval.CauseStream, 3},
			{"garbage", jsonly(200, `{"id":`), eval.FailureOther, eval.CauseStream, 3},
			{"html", said(200, "text/html", "<html>sign in</html>"), eval.FailureOther, eval.CauseStream, 3},
			{"empty", jsonly(200, ``), eval.FailureOther, eval.CauseStream, 3},
			{"error in 200", jsonly(200, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), eval.FailureBusy, eval.CauseOverloaded, 3},
		} {
			for _, stream := range []string{"false", "true"} {
				t.Run(a.name+"/"+tt.name+"/stream="+stream, func(t *testing.T) {
					e := serve(t, tt.reply)
					b := newBench(t, a, e.URL, `,"retries":2,"stream":`+stream, nil)
					s := b.session()
					r := call(t, s, ask1("grade"))
					if r.Failure != tt.failure || len(r.Samples) != 0 || r.Detail == "" {
						t.Errorf("reply = %+v; want failure %s", r, tt.failure)
					}
					if n := e.requests(); n != tt.sent {
						t.Errorf("%d requests; want %d", n, tt.sent)
					}
					l := b.lines(t)
					if len(l) != 1 || l[0].Fault == nil || l[0].Fault.Cause != tt.cause || l[0].Answer != nil || l[0].Attempts != tt.sent {
						t.Fatalf("judge.jsonl = %+v; want cause %s", l[0].Fault, tt.cause)
					}
					if u := s.Use("judge/x"); u.Usage.Requests != tt.sent || len(u.Requests) != 1 {
						t.Errorf("use = %+v", u)
					}
				})
			}
		}
	}
}

// A stream that ends before its last event is no answer, whatever came of it.
func TestCutStream(t *testing.T) {
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			whole := a.stream("grade: 3", a.stops[0])
			e := serve(t, said(200, "text/event-stream", whole[:len(whole)/2]), said(200, "text/event-stream", whole))
			b := newBench(t, a, e.URL, `,"stream":true`, nil)
			s := b.session()
			r := call(t, s, ask1("grade"))
			if r.Failure != "" || r.Samples[0].Text != "grade: 3" || e.requests() != 2 {
				t.Errorf("reply = %+v after %d requests", r, e.requests())
			}
			if u := s.Use("judge/x").Usage; !u.LowerBound || u.Requests != 2 || u.Turns != 1 {
				t.Errorf("usage = %+v; what the cut answer took is not known", u)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	for _, a := range apis() {
		for _, stream := range []string{"false", "true"} {
			t.Run(a.name+"/stream="+stream, func(t *testing.T) {
				e := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					w.WriteHeader(200)
					w.(http.Flusher).Flush()
					<-r.Context().Done()
				})
				b := newBench(t, a, e.URL, `,"timeout":"50ms","stream":`+stream, nil)
				r := call(t, b.session(), ask1("grade"))
				if r.Failure != eval.FailureTimeout || e.requests() != 2 {
					t.Errorf("reply = %+v after %d requests; want a timeout after one retry", r, e.requests())
				}
			})
		}
	}
}

func TestRetryAfterHoldsTheProvider(t *testing.T) {
	at := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	for _, tt := range []struct {
		name, value string
		least, most time.Duration
	}{
		{"seconds", "7", 7 * time.Second, 7 * time.Second},
		{"date", at, longestHold, longestHold},
	} {
		for _, a := range apis() {
			t.Run(tt.name+"/"+a.name, func(t *testing.T) {
				e := serve(t, jsonly(429, `{"error":{"type":"rate_limit_error","message":"slow"}}`, "Retry-After", tt.value),
					jsonly(200, a.whole("ok", a.stops[0])))
				b := newBench(t, a, e.URL, "", nil)
				r := call(t, b.session(), ask1("grade"))
				if r.Failure != "" || e.requests() != 2 {
					t.Fatalf("reply = %+v", r)
				}
				if len(b.slept) != 1 || b.slept[0] < tt.least || b.slept[0] > tt.most {
					t.Errorf("waited %v; want once, %v to %v", b.slept, tt.least, tt.most)
				}
			})
		}
	}
}

func TestBackoff(t *testing.T) {
	var got []time.Duration
	for n := range 8 {
		got = append(got, backoff(n+1, 0))
	}
	want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := backoff(1, 1); d != 250*time.Millisecond {
		t.Errorf("with jitter: %v", d)
	}
}

func TestGrants(t *testing.T) {
	a := apis()[3]
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, "", nil)
	s := b.Session(SessionOptions{Granted: map[string][]string{"judge/x": {"judge"}, "judge/none": {}}})
	q := wire.AppendModelRequest(nil, ask1("x"))
	if _, err := s.Call(t.Context(), "judge/x", "model.complete/2", q); !errors.Is(err, ErrUnknown) {
		t.Errorf("other capability: %v", err)
	}
	if _, err := s.Call(t.Context(), "assert/y", wire.OpComplete, q); !errors.Is(err, ErrDenied) {
		t.Errorf("use without grant: %v", err)
	}
	other := ask1("x")
	other.Model = "dear"
	if _, err := s.Call(t.Context(), "judge/x", wire.OpComplete, wire.AppendModelRequest(nil, other)); !errors.Is(err, ErrDenied) {
		t.Errorf("other model: %v", err)
	}
	if _, err := s.Call(t.Context(), "judge/x", wire.OpComplete, []byte{0xff}); err == nil {
		t.Error("a malformed request is answered")
	}
	b1, err := s.Call(t.Context(), "judge/none", wire.OpComplete, q)
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := wire.DecodeModelReply(b1); r.Failure != eval.FailureNoModel {
		t.Errorf("no model: %+v", r)
	}
	if e.requests() != 0 || s.Use("judge/x") != nil {
		t.Error("something was asked")
	}
}

func TestNoKey(t *testing.T) {
	a := apis()[3]
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, "", func(o *Options) { o.Environ = nil })
	if r := call(t, b.session(), ask1("x")); r.Failure != eval.FailureNoModel || e.requests() != 0 {
		t.Errorf("reply = %+v", r)
	}
	a.config = `"max_tokens":10`
	b = newBench(t, a, e.URL, "", nil)
	if r := call(t, b.session(), ask1("x")); r.Failure != "" || e.heads[0].Get("Authorization") != "" {
		t.Errorf("reply = %+v, key %q", r, e.heads[0].Get("Authorization"))
	}
}
