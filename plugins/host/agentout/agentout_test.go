package agentout

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestDecode(t *testing.T) {
	type line struct {
		A Text  `json:"a"`
		N Count `json:"n"`
		B bool  `json:"b"`
	}
	for _, c := range []struct {
		in   string
		want line
		ok   bool
	}{
		{`{"a":"x","n":3,"b":true}`, line{"x", 3, true}, true},
		{"\xef\xbb\xbf{\"a\":\"x\"}\r\n", line{A: "x"}, true},
		{"\x00\x00{\"a\":\"x\"}\x00", line{A: "x"}, true},
		{`{"a":{"k": [1, 2]}}`, line{A: `{"k":[1,2]}`}, true},
		{`{"a":null,"n":null}`, line{}, true},
		{`{"a":5,"n":"7"}`, line{"5", 7, false}, true},
		{`{"n":0}`, line{}, true},
		{`{"n":-4}`, line{N: Unknown}, true},
		{`{"n":1e300}`, line{N: Unknown}, true},
		{`{"n":17179869185}`, line{N: Unknown}, true},
		{`{"n":17179869184}`, line{N: 17179869184}, true},
		{`{"n":"many"}`, line{N: Unknown}, true},
		{`{"n":"NaN"}`, line{N: Unknown}, true},
		{`{"n":[1],"a":"still read"}`, line{A: "still read", N: Unknown}, true},
		{`{"b":"yes","a":"still read"}`, line{A: "still read"}, true},
		{"{\"a\":\"tab\there\x00\"}", line{A: "tab\there\x00"}, true},
		{"{\"a\":\"back\\\\\there\"}", line{A: "back\\\there"}, true},
		{`{"a":"cut \ud83d"}`, line{A: "cut \uFFFD"}, true},
		{`{"a":"\udcb2"}`, line{A: "\uFFFD"}, true},
		{"{\"a\":\"bad \xff byte\"}", line{A: "bad \uFFFD byte"}, true},
		{"{\"a\":\"one\u2028line\\r\\n\"}", line{A: "one\u2028line\r\n"}, true},
		{`(node:9) [DEP0040] DeprecationWarning: x`, line{}, false},
		{`["a"]`, line{}, false},
		{`{"a":"half`, line{}, false},
		{`{"a":"x"} {"a":"y"}`, line{}, false},
		{``, line{}, false},
	} {
		var got line
		err := Decode([]byte(c.in), &got)
		if (err == nil) != c.ok || got != c.want {
			t.Errorf("Decode(%q) = %+v, %v; want %+v, ok %v", c.in, got, err, c.want, c.ok)
		}
	}
}

func TestSalvage(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"type":"user","content":[{"id":"t1","text":"AAAA`, `{"type":"user","content":[{"id":"t1","text":"AAAA"}]}`},
		{`{"a":"x","b`, `{"a":"x"}`},
		{`{"a":"x","b":`, `{"a":"x"}`},
		{`{"a":"x","b":12`, `{"a":"x"}`},
		{`{"a":"x","b":tru`, `{"a":"x"}`},
		{`{"a":[1,2,`, `{"a":[1,2]}`},
		{`{"a":{}`, `{"a":{}}`},
		{`{"a":"end\`, `{"a":"end"}`},
		{`{"a":"end\u00`, `{"a":"end"}`},
		{"{\"a\":\"k\xc3", `{"a":"k"}`},
		{`{"a":"x"}`, `{"a":"x"}`},
		{`{`, `{}`},
		{`"text`, `"text"`},
		{``, ``},
		{`nul`, ``},
	} {
		got := string(Salvage([]byte(c.in)))
		if got != c.want {
			t.Errorf("Salvage(%q) = %q; want %q", c.in, got, c.want)
		}
	}
}

func TestSalvageDeep(t *testing.T) {
	in := strings.Repeat(`[1,`, 1_000_000)
	if got := Salvage([]byte(in)); !json.Valid(got) || len(got) < maxDepth {
		t.Errorf("Salvage of a deep list = %d bytes, valid %v", len(got), json.Valid(got))
	}
}

func FuzzSalvage(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"content":[{"text":"a\"b\u00e4\ud83d","n":-1.5e3,"t":true}]},"x":null}`), 40)
	f.Add([]byte(`[[[{"a":[]}]]]`), 5)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		Salvage(b)
		if !json.Valid(b) || len(b) == 0 {
			return
		}
		// Any beginning of a valid object or list can be made whole.
		cut := b[:uint(n)%uint(len(b))]
		got := Salvage(cut)
		if s := strings.TrimSpace(string(cut)); s == "" || (s[0] != '{' && s[0] != '[') {
			return
		}
		if !json.Valid(got) {
			t.Errorf("Salvage(%q) = %q, which is not JSON", cut, got)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("{\"a\":\"x\x01\",\"n\":1e9}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v struct {
			A Text   `json:"a"`
			N Count  `json:"n"`
			S Status `json:"s"`
		}
		if Decode(b, &v) == nil && (v.N < Unknown || v.N > maxCount || v.S < 0 || v.S > 599) {
			t.Errorf("Decode(%q) = %+v", b, v)
		}
	})
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		in, want string
		bad      bool
	}{
		{`{"a":1}`, `{"a":1}`, false},
		{`{"a":1}{"b":2}`, `"{\"a\":1}{\"b\":2}"`, true},
		{`{"a":`, `"{\"a\":"`, true},
		{`"{\"a\":1}"`, `"{\"a\":1}"`, false},
		{`null`, `null`, false},
		{`[]`, `[]`, false},
		{``, `""`, true},
	} {
		got, bad := Arguments(c.in)
		if string(got) != c.want || bad != c.bad {
			t.Errorf("Arguments(%q) = %s, %v; want %s, %v", c.in, got, bad, c.want, c.bad)
		}
	}
}

func TestStatusFault(t *testing.T) {
	for _, c := range []struct {
		status int
		detail string
		want   eval.Fault
	}{
		{401, "no", eval.Fault{Cause: eval.CauseAuth, Retry: eval.RetryStop}},
		{403, "no", eval.Fault{Cause: eval.CauseAuth, Retry: eval.RetryStop}},
		{404, "no", eval.Fault{Cause: eval.CauseModel, Retry: eval.RetryStop}},
		{400, "bad", eval.Fault{Cause: eval.CauseBadRequest, Retry: eval.RetryStop}},
		{400, "Your credit balance is too low", eval.Fault{Cause: eval.CauseBilling, Retry: eval.RetryStop}},
		{429, "You have reached your specified API usage limits.", eval.Fault{Cause: eval.CauseBilling, Retry: eval.RetryStop}},
		{402, "pay", eval.Fault{Cause: eval.CauseBilling, Retry: eval.RetryStop}},
		{422, "bad", eval.Fault{Cause: eval.CauseBadRequest, Retry: eval.RetryStop}},
		{429, "Please try again in 1.2s.", eval.Fault{Cause: eval.CauseRateLimit, Retry: eval.RetryTrial, RetryAfter: 1200 * time.Millisecond}},
		{429, "insufficient_quota", eval.Fault{Cause: eval.CauseBilling, Retry: eval.RetryStop}},
		{500, "", eval.Fault{Cause: eval.CauseServer, Retry: eval.RetryTrial}},
		{502, "", eval.Fault{Cause: eval.CauseServer, Retry: eval.RetryTrial}},
		{503, "", eval.Fault{Cause: eval.CauseOverloaded, Retry: eval.RetryTrial}},
		{529, "", eval.Fault{Cause: eval.CauseOverloaded, Retry: eval.RetryTrial}},
	} {
		c.want.Status, c.want.Detail = c.status, c.detail
		if got := *StatusFault(c.status, c.detail); got != c.want {
			t.Errorf("StatusFault(%d, %q) = %+v; want %+v", c.status, c.detail, got, c.want)
		}
	}
}

func TestStatusIn(t *testing.T) {
	for text, want := range map[string]int{
		"API call failed after 3 retries: HTTP 429 Too Many":          429,
		"unexpected status 401 Unauthorized: no, url: http://x:500/v": 401,
		"exceeded retry limit, last status: 429 Too Many Requests":    429,
		"API Error: 529 Overloaded.":                                  529,
		"API Error: Request rejected (429) · Number of tokens":        429,
		"There are 404 recipes in the collection":                     0,
		"API Error: Overloaded":                                       0,
		"":                                                            0,
	} {
		if got := StatusIn(text); got != want {
			t.Errorf("StatusIn(%q) = %d; want %d", text, got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Please try again in 250ms.":      250 * time.Millisecond,
		"try again in 20s":                20 * time.Second,
		"Retry after 2 minutes":           2 * time.Minute,
		"try again in a moment":           0,
		"try again in 99999999999999999s": 0,
	} {
		if got := RetryAfter(text); got != want {
			t.Errorf("RetryAfter(%q) = %v; want %v", text, got, want)
		}
	}
}

func TestNotes(t *testing.T) {
	var got []string
	n := NewNotes(func(e eval.Event) { got = append(got, e.Warning) })
	n.Add("same")
	n.Add("same")
	for i := range MaxNotes + 4 {
		n.Add("note %d %s", i, strings.Repeat("x", 2*MaxNote))
	}
	n.Close()
	if len(got) != MaxNotes+1 || got[MaxNotes] != "5 more warnings of this turn are left out" {
		t.Errorf("%d notes, last %q", len(got), got[len(got)-1])
	}
	if i := slices.IndexFunc(got, func(s string) bool { return len(s) > MaxNote+len("…") }); i >= 0 {
		t.Errorf("note %d has %d bytes", i, len(got[i]))
	}
}

func TestSeen(t *testing.T) {
	var s Seen
	got := fmt.Sprint(s.Again("a", "b"), s.Again("ab", ""), s.Again("a", "b"), s.Again("", ""), s.Again("", ""))
	if got != "false false true false false" {
		t.Errorf("Again = %s", got)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aä", 2, "a…"}, {"🧑‍🚀", 5, "🧑…"}} {
		if got := Cut(c.in, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q; want %q", c.in, c.n, got, c.want)
		}
	}
}
