package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evalengine/evalengine/engine/eval"
)

// A judged trial is judged again from its judge.jsonl, with no model there.
func TestReplay(t *testing.T) {
	a := chatAPI()
	e := serve(t, jsonly(200, a.whole("first", "stop")), jsonly(200, a.whole("second", "stop")),
		jsonly(401, `{"error":{"type":"authentication_error","message":"no"}}`))
	b := newBench(t, a, e.URL, "", nil)
	s := b.session()
	var want []*eval.ModelReply
	for _, text := range []string{"a", "b", "c"} {
		want = append(want, call(t, s, ask1(text)))
	}
	p, err := ReadReplay(strings.NewReader(b.log.String()))
	if err != nil {
		t.Fatal(err)
	}
	sent := e.requests()
	// Another address, another run and no key: nothing of it is needed.
	b = newBench(t, a, "http://127.0.0.1:1", "", func(o *Options) { o.Environ = nil })
	s = b.Session(SessionOptions{Run: "other", Trial: trial, Granted: map[string][]string{"judge/x": {"judge"}}, Log: &b.log, Replay: p})
	for i, text := range []string{"a", "b", "c"} {
		got := call(t, s, ask1(text))
		d := cmp.Diff(want[i], got, cmpopts.IgnoreFields(eval.ModelAnswer{}, "Usage", "Cached"), cmpopts.IgnoreFields(eval.ModelReply{}, "Detail"))
		if d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
	if r := call(t, s, ask1("d")); r.Failure != eval.FailureNoReplay {
		t.Errorf("a request that was never asked: %+v", r)
	}
	if e.requests() != sent {
		t.Error("the replay asked a model")
	}
	if l := b.lines(t); len(l) != 3 || !l[0].Cached || l[2].Fault == nil {
		t.Errorf("judge.jsonl of the replay = %+v", l)
	}
	if u := s.Use("judge/x"); !u.Cached || u.Usage.InputTokens != 0 {
		t.Errorf("use = %+v", u)
	}
}

func TestReadReplayRefuses(t *testing.T) {
	for _, text := range []string{"{", `{"key":"k"}`, `{"id":"j1","answer":{"text":"x"}}`, `{"key":"k","answer":{},"fault":{}}`} {
		if _, err := ReadReplay(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("ReadReplay(%q) = %v; want an error that names the line", text, err)
		}
	}
}

func FuzzReadReplay(f *testing.F) {
	f.Add(`{"id":"j1","score":"judge/x","model":"judge","key":"k","at":"2026-11-30T12:00:00Z","seconds":1,"answer":{"text":"x","stop":"end","usage":{}}}` + "\n")
	f.Add("\n\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadReplay(strings.NewReader(text))
		if err != nil {
			return
		}
		for k := range p.calls {
			if c, ok := p.take(k.score, k.key); !ok || (c.Answer == nil) == (c.Fault == nil) {
				t.Errorf("take gives %+v", c)
			}
		}
	})
}
