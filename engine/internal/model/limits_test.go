package model

import (
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/wire"
)

// A request that could pass the budget is not sent.
func TestBudget(t *testing.T) {
	a := chatAPI()
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	purse := NewPurse(0.0025, 0)
	// At most 1000 + some input and 100 output tokens: about $0.0012; really 120
	// tokens, $0.00012.
	b := newBench(t, a, e.URL, `,"max_tokens":100,"price":{"input":1,"output":1}`, func(o *Options) { o.Budget = purse })
	s := b.session()
	n := 0
	for ; n < 100; n++ {
		if r := call(t, s, ask1("grade")); r.Failure != "" {
			if r.Failure != eval.FailureBudget {
				t.Fatalf("reply = %+v", r)
			}
			break
		}
	}
	if n < 5 || n > 15 || e.requests() != n || purse.Spent() > 0.0025 {
		t.Errorf("%d answers of %d requests, $%.5f spent", n, e.requests(), purse.Spent())
	}
	u := s.Use("judge/x").Usage
	if u.CostUSD == nil || *u.CostUSD < 0.00012*float64(n)-1e-9 || *u.CostUSD > 0.00012*float64(n)+1e-9 {
		t.Errorf("usage = %+v", u)
	}
}

// What requests under way do not use is there for those that wait.
func TestBudgetWaitsForRequestsUnderWay(t *testing.T) {
	a := chatAPI()
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, `,"max_tokens":100,"price":{"input":1,"output":1}`, func(o *Options) { o.Budget = NewPurse(0.005, 0) })
	q := ask1("grade")
	q.Samples = 20
	if r := call(t, b.session(), q); r.Failure != "" || len(r.Samples) != 20 {
		t.Errorf("%d samples, %s", len(r.Samples), r.Detail)
	}
}

func TestUnknownPriceIsAllowed(t *testing.T) {
	a := chatAPI()
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, "", func(o *Options) { o.Budget = NewPurse(0.000001, 0) })
	s := b.session()
	if r := call(t, s, ask1("grade")); r.Failure != "" {
		t.Errorf("reply = %+v", r)
	}
	if u := s.Use("judge/x").Usage; u.CostUSD != nil {
		t.Errorf("cost = %v; want unknown", *u.CostUSD)
	}
}

func TestListPriceOfVendors(t *testing.T) {
	a := apis()[2] // OpenAI's own, model gpt-5: 1.25, 0.125, 10
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, "", nil)
	s := b.session()
	call(t, s, ask1("grade"))
	want := (60*1.25 + 40*0.125 + 20*10) / 1e6
	if u := s.Use("judge/x").Usage; u.CostUSD == nil || *u.CostUSD < want-1e-12 || *u.CostUSD > want+1e-12 {
		t.Errorf("usage = %+v; want $%v", u, want)
	}
}

// crowd sends n requests at once from as many trials and returns how many were at
// the model at once.
func crowd(t testing.TB, b *Broker, n int, most *atomic.Int64) int64 {
	var wg sync.WaitGroup
	q := wire.AppendModelRequest(nil, ask1("grade"))
	for i := range n {
		s := b.Session(SessionOptions{Run: "r", Trial: eval.Trial{Repeat: i}, Granted: map[string][]string{"judge/x": {"judge"}}})
		wg.Go(func() {
			out, err := s.Call(t.Context(), "judge/x", wire.OpComplete, q)
			if r, derr := wire.DecodeModelReply(out); err != nil || derr != nil || r.Failure != "" {
				t.Errorf("call: %v %v %+v", err, derr, r)
			}
		})
	}
	wg.Wait()
	return most.Load()
}

// counted answers when open says so, and counts how many wait.
func counted(answer http.HandlerFunc, most *atomic.Int64, pause func(now int64)) http.HandlerFunc {
	var now atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		pause(n)
		now.Add(-1)
		answer(w, r)
	}
}

func TestConcurrency(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int
		want  int64
	}{{"default", 0, defaultConcurrency}, {"provider block", 3, 3}} {
		t.Run(tt.name, func(t *testing.T) {
			a := chatAPI()
			var most atomic.Int64
			full := make(chan struct{})
			var once sync.Once
			e := serve(t, counted(jsonly(200, a.whole("ok", "stop")), &most, func(n int64) {
				if n == tt.want {
					once.Do(func() { close(full) })
				}
				<-full // all places are taken once
			}))
			b := newBench(t, a, e.URL, "", func(o *Options) {
				o.Limits = []eval.ProviderConfig{{Name: eval.ProviderOf(e.URL), Concurrency: tt.limit}}
			})
			if got := crowd(t, b.Broker, 40, &most); got != tt.want {
				t.Errorf("%d at once; want %d", got, tt.want)
			}
		})
	}
}

func TestRequestsPerMinute(t *testing.T) {
	a := chatAPI()
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, "", func(o *Options) {
		o.Limits = []eval.ProviderConfig{{Name: eval.ProviderOf(e.URL), RequestsPerMinute: 4}}
	})
	s := b.session()
	for range 10 {
		call(t, s, ask1("grade"))
	}
	if len(b.slept) != 2 || b.now.Sub(noon) != 2*time.Minute {
		t.Errorf("waited %v for ten requests, four a minute; want two minutes in two waits", b.slept)
	}
}

func TestPicturesArriveAsTheyAre(t *testing.T) {
	png := []byte("\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\xff\x10pixels", 5000))
	gold := []byte("\x89PNG\r\n\x1a\ngold")
	page := func(b []byte) []eval.Page {
		return []eval.Page{{Name: "home", Shots: []eval.Shot{{Tiles: []eval.Tile{{}, {PNG: b}}}}}}
	}
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			e := serve(t, jsonly(200, a.whole("ok", a.stops[0])))
			b := newBench(t, a, e.URL, "", nil)
			s := b.Session(SessionOptions{Pages: page(png), Gold: page(gold), Granted: map[string][]string{"judge/x": {"judge"}}, Log: &b.log})
			q := ask1("look")
			q.Messages[0].Parts = append(q.Messages[0].Parts,
				eval.ModelPart{Image: &eval.ModelImage{Page: "home", Tile: 1}}, eval.ModelPart{Image: &eval.ModelImage{Page: "home", Tile: 1, Gold: true}})
			if r := call(t, s, q); r.Failure != "" {
				t.Fatalf("reply = %+v", r)
			}
			for _, want := range [][]byte{png, gold} {
				if text := base64.StdEncoding.EncodeToString(want); !strings.Contains(string(e.bodies[0]), text) {
					t.Errorf("the picture is not in the request")
				}
				if strings.Contains(b.log.String(), base64.StdEncoding.EncodeToString(want)[:12]) {
					t.Error("the picture is in judge.jsonl")
				}
			}
			l := b.lines(t)
			if got := l[0].Request.Messages[0].Parts[1].Image.SHA256; len(got) != 64 {
				t.Errorf("digest = %q", got)
			}
		})
	}
}

func TestPicturesThatAreNotThere(t *testing.T) {
	a := chatAPI()
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, "", nil)
	for _, i := range []eval.ModelImage{{Page: "home"}, {}, {Page: "home", Gold: true}, {Page: "home", Shot: -1}} {
		q := ask1("look")
		q.Messages[0].Parts = append(q.Messages[0].Parts, eval.ModelPart{Image: &i})
		if r := call(t, b.session(), q); r.Failure != eval.FailureOther || r.Detail == "" {
			t.Errorf("%+v: %+v", i, r)
		}
	}
	if e.requests() != 0 {
		t.Error("something was sent")
	}
}

func TestHugeAnswer(t *testing.T) {
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"id":"`))
				chunk := []byte(strings.Repeat("x", 1<<20))
				for range 40 {
					if _, err := w.Write(chunk); err != nil {
						return
					}
				}
			})
			b := newBench(t, a, e.URL, "", nil)
			if r := call(t, b.session(), ask1("x")); r.Failure != eval.FailureOther || !strings.Contains(r.Detail, "larger than") || e.requests() != 1 {
				t.Errorf("reply = %+v", r)
			}
		})
	}
}

// BenchmarkJudging is 200 requests, 16 at once, of a model that takes 200 ms; the
// ideal is 13 rounds, 2.6 s.
func BenchmarkJudging(b *testing.B) {
	a := chatAPI()
	var most atomic.Int64
	e := &endpoint{}
	srv := http.HandlerFunc(counted(jsonly(200, a.whole("ok", "stop")), &most, func(int64) { time.Sleep(200 * time.Millisecond) }))
	e.Server = newServer(srv)
	defer e.Close()
	broker, err := New(Options{Models: []eval.ModelConfig{{Name: "judge", Provider: a.provider, Model: "m", Config: eval.JSON(`{"base_url":"` + e.URL + `"}`)}}})
	if err != nil {
		b.Fatal(err)
	}
	defer broker.Close()
	for b.Loop() {
		crowd(b, broker, 200, &most)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/2.6, "x-ideal")
}
