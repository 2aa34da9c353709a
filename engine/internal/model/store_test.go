package model

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/wire"
)

func chatAPI() api { return apis()[3] }

// ended is the broker's session of another trial, run or use.
func (b *bench) other(run string, repeat int) *Session {
	return b.Session(SessionOptions{Run: run, Trial: eval.Trial{Story: "s", Host: "h", Repeat: repeat},
		Granted: map[string][]string{"judge/x": {"judge"}, "judge/x#2": {"judge"}}, Log: &b.log})
}

func TestStoredAnswers(t *testing.T) {
	type asks struct {
		run    string
		repeat int
		use    string
		text   string
	}
	first := asks{"r1", 1, "judge/x", "grade"}
	for _, tt := range []struct {
		name, cache string
		then        asks
		cached      bool
	}{
		{"the same score of the same trial", "trial", first, true},
		{"another repeat", "trial", asks{"r1", 2, "judge/x", "grade"}, false},
		{"another run", "trial", asks{"r2", 1, "judge/x", "grade"}, false},
		{"another score", "trial", asks{"r1", 1, "judge/x#2", "grade"}, false},
		{"another request", "trial", asks{"r1", 1, "judge/x", "grade it"}, false},
		{"off", "off", first, false},
		{"shared with another repeat", "shared", asks{"r2", 2, "judge/x#2", "grade"}, true},
		{"shared, another request", "shared", asks{"r1", 1, "judge/x", "grade it"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := chatAPI()
			e := serve(t, jsonly(200, a.whole("ok", "stop")))
			b := newBench(t, a, e.URL, `,"cache":"`+tt.cache+`","price":{"input":1,"output":1}`, func(o *Options) { o.Cache = t.TempDir() })
			var r *eval.ModelReply
			var s *Session
			for _, q := range []asks{first, tt.then} {
				s = b.other(q.run, q.repeat)
				out, err := s.Call(t.Context(), q.use, wire.OpComplete, wire.AppendModelRequest(nil, ask1(q.text)))
				if err != nil {
					t.Fatal(err)
				}
				r, _ = wire.DecodeModelReply(out)
			}
			if r.Failure != "" || r.Samples[0].Cached != tt.cached || r.Samples[0].Text != "ok" {
				t.Errorf("reply = %+v; want cached %v", r, tt.cached)
			}
			use := s.Use(tt.then.use)
			if use.Cached != tt.cached || (use.Usage.InputTokens == 0) != tt.cached || use.Usage.CostUSD == nil || (*use.Usage.CostUSD == 0) != tt.cached {
				t.Errorf("use = %+v", use)
			}
			want := 2
			if tt.cached {
				want = 1
			}
			if e.requests() != want {
				t.Errorf("%d requests; want %d", e.requests(), want)
			}
		})
	}
}

// TestOwnAnswersAreNotShared has a judgement that is repeated on purpose, with a
// model block that shares answers.
func TestOwnAnswersAreNotShared(t *testing.T) {
	a := chatAPI()
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, `,"cache":"shared","price":{"input":1,"output":1}`, func(o *Options) { o.Cache = t.TempDir() })
	for _, tt := range []struct {
		repeat int
		cached bool
	}{{1, false}, {2, false}, {1, true}} {
		s := b.Session(SessionOptions{Run: "gold", Trial: eval.Trial{Story: "s", Host: "h", Repeat: tt.repeat}, Own: true,
			Granted: map[string][]string{"judge/x": {"judge"}}})
		out, err := s.Call(t.Context(), "judge/x", wire.OpComplete, wire.AppendModelRequest(nil, ask1("grade")))
		if err != nil {
			t.Fatal(err)
		}
		r, err := wire.DecodeModelReply(out)
		if err != nil || len(r.Samples) != 1 || r.Samples[0].Cached != tt.cached {
			t.Errorf("repeat %d: %+v, %v; want cached %v", tt.repeat, r, err, tt.cached)
		}
	}
}

func TestSamplesAreNotOneAnswer(t *testing.T) {
	a := chatAPI()
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, `,"cache":"shared"`, func(o *Options) { o.Cache = t.TempDir() })
	q := ask1("grade")
	q.Samples = 5
	if r := call(t, b.session(), q); len(r.Samples) != 5 || e.requests() != 5 {
		t.Errorf("%d samples of %d requests; want 5 of 5", len(r.Samples), e.requests())
	}
	if r := call(t, b.session(), q); len(r.Samples) != 5 || e.requests() != 5 || !r.Samples[4].Cached {
		t.Errorf("again: %d samples after %d requests", len(r.Samples), e.requests())
	}
}

func TestSameRequestAtOnceIsSentOnce(t *testing.T) {
	a := chatAPI()
	e := serve(t, jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, `,"cache":"shared"`, func(o *Options) { o.Cache = t.TempDir() })
	var wg sync.WaitGroup
	q := wire.AppendModelRequest(nil, ask1("grade"))
	for i := range 10 {
		s := b.Session(SessionOptions{Run: "r", Trial: eval.Trial{Repeat: i}, Granted: map[string][]string{"judge/x": {"judge"}}})
		wg.Go(func() {
			if _, err := s.Call(t.Context(), "judge/x", wire.OpComplete, q); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if e.requests() != 1 {
		t.Errorf("%d requests; want 1", e.requests())
	}
}

func TestWhatIsNotStored(t *testing.T) {
	a := chatAPI()
	e := serve(t, jsonly(200, a.whole(`{"score": 0.9, "rea`, "length")), jsonly(200, a.whole("ok", "stop")))
	b := newBench(t, a, e.URL, "", func(o *Options) { o.Cache = t.TempDir() })
	call(t, b.session(), ask1("grade"))
	if r := call(t, b.session(), ask1("grade")); r.Samples[0].Cached || r.Samples[0].Text != "ok" {
		t.Errorf("a cut answer was stored: %+v", r)
	}
}

func TestBrokenEntryIsNone(t *testing.T) {
	dir := t.TempDir()
	s := newStore(dir)
	key := strings.Repeat("ab", 32)
	good := &eval.ModelAnswer{Text: "ok", Stop: eval.StopEnd}
	if err := s.put(key, good); err != nil {
		t.Fatal(err)
	}
	if got := s.get(key); got == nil || got.Text != "ok" {
		t.Fatalf("get = %+v", got)
	}
	path := filepath.Join(dir, "ab", key+".json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := json.Marshal(entry{strings.Repeat("cd", 32), good})
	for _, b := range [][]byte{nil, whole[:len(whole)/2], []byte("garbage"), []byte("null"), []byte(`{"key":"` + key + `"}`), other, bytes.Repeat([]byte(" "), maxEntry+1)} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := s.get(key); got != nil {
			t.Errorf("%.40q gives %+v", b, got)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "ab", ".new-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func FuzzReadEntry(f *testing.F) {
	key := strings.Repeat("ab", 32)
	b, _ := json.Marshal(entry{key, &eval.ModelAnswer{Text: "ok", Stop: eval.StopEnd}})
	f.Add(b)
	f.Add([]byte(`{"key":"` + key + `","answer":{"text":1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a := readEntry(key, b); a != nil && a.Stop != eval.StopEnd {
			t.Errorf("an answer that is not whole: %+v", a)
		}
	})
}
