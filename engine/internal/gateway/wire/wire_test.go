package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

func build(l Limits, text string, step int) *Message {
	b := NewBuilder(l)
	for i := 0; i < len(text); i += step {
		b.Write([]byte(text[i:min(i+step, len(text))]))
	}
	return b.Done()
}

func TestEnvelope(t *testing.T) {
	tests := []struct {
		name, in string
		kind     string
		check    func(m *Message, e *Envelope) string
		want     string
	}{
		{"request", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\u0062c","arguments":{"x":[1,{"name":"no"}]},"_meta":{"progressToken":"p\"1"}}}`, "request",
			func(m *Message, e *Envelope) string {
				return e.ID.Raw + " " + e.Method + " " + e.Name + " " + string(m.Slice(e.Arguments, 99)) + " " + e.Token.Raw
			}, `7 tools/call abc {"x":[1,{"name":"no"}]} "p\"1"`},
		{"id last", `{"result":{"content":[{"type":"text","text":"{\"id\":9}"}],"isError":true},"jsonrpc":"2.0","id":"z"}`, "response",
			func(m *Message, e *Envelope) string {
				return e.ID.Raw + " " + string(m.Slice(e.ID.Range, 99)) + " " + string(m.Slice(e.Result, 12))
			}, `"z" "z" {"content":[`},
		{"error", ` { "id" : 1 , "error" : { "code" : -32602 , "message" : "x" } } `, "response",
			func(m *Message, e *Envelope) string { return string(m.Slice(e.Error, 99)) }, `{ "code" : -32602 , "message" : "x" }`},
		{"notification", `{"method":"notifications/progress","params":{"progressToken":3,"progress":0.5}}`, "notification",
			func(m *Message, e *Envelope) string { return e.Progress.Raw }, `3`},
		{"cancel", `{"method":"notifications/cancelled","params":{"requestId":"a"}}`, "notification",
			func(m *Message, e *Envelope) string { return e.Cancels.Raw }, `"a"`},
		{"null id", `{"id":null,"method":"x"}`, "notification", nil, ""},
		{"stateless", `{"id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, "request",
			func(m *Message, e *Envelope) string {
				return e.Version + map[bool]string{true: " stateless"}[e.Stateless]
			}, "2026-07-28 stateless"},
		{"more pages", `{"id":1,"result":{"tools":[],"nextCursor":"c","resultType":"complete"}}`, "response",
			func(m *Message, e *Envelope) string {
				return string(m.Slice(e.Tools, 9)) + " " + e.ResultType + map[bool]string{true: " more"}[e.More]
			}, "[] complete more"},
		{"surrogate", `{"id":1,"method":"\ud83d","params":null}`, "request",
			func(m *Message, e *Envelope) string { return e.Method }, "\uFFFD"},
		{"not rpc", `{"level":"info"}`, "other", nil, ""},
	}
	for _, tt := range tests {
		for _, step := range []int{1, 3, 1000} {
			m := build(Limits{}, tt.in, step)
			if m.Err != nil || len(m.List) != 1 {
				t.Fatalf("%s/%d: err %v, %d envelopes", tt.name, step, m.Err, len(m.List))
			}
			e := &m.List[0]
			if e.Kind() != tt.kind {
				t.Errorf("%s/%d: Kind = %q; want %q", tt.name, step, e.Kind(), tt.kind)
			}
			if tt.check != nil {
				if got := tt.check(m, e); got != tt.want {
					t.Errorf("%s/%d: got %q; want %q", tt.name, step, got, tt.want)
				}
			}
		}
	}
}

func TestBatch(t *testing.T) {
	in := `[{"id":1,"method":"a"}, {"method":"b"},{"id":2,"result":[]}]`
	m := build(Limits{}, in, 2)
	if !m.Batch || len(m.List) != 3 || !m.IsRPC() {
		t.Fatalf("batch %v, %d envelopes, rpc %v", m.Batch, len(m.List), m.IsRPC())
	}
	var got []string
	for _, e := range m.List {
		got = append(got, e.Kind()+":"+string(m.Slice(e.Range, 99)))
	}
	want := `request:{"id":1,"method":"a"} notification:{"method":"b"} response:{"id":2,"result":[]}`
	if strings.Join(got, " ") != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

func TestNotMessages(t *testing.T) {
	for _, in := range []string{``, `Listening on 3000`, `{"id":1`, `{"id":1}}`, `{"a" 1}`, `[1,]`, `{"a":1,}`, `nul`, `{"a":01}`,
		`{"id":1,"method":"x"}{"id":2}`, `{]`, `"open`, strings.Repeat("[", maxDepth+1)} {
		if m := build(Limits{}, in, 1); m.Err == nil || m.IsRPC() {
			t.Errorf("%.40q: err %v, rpc %v; want an error", in, m.Err, m.IsRPC())
		}
	}
	for _, in := range []string{`42`, `"x"`, `[]`, `[1]`, `null`, `{}`} {
		if m := build(Limits{}, in, 1); m.IsRPC() {
			t.Errorf("%q is taken for JSON-RPC", in)
		}
	}
}

func TestSpoolAndLimit(t *testing.T) {
	dir := t.TempDir()
	text := `{"result":{"content":"` + strings.Repeat("é", 5000) + `"},"id":5}`
	m := build(Limits{Memory: 100, Dir: dir}, text, 64)
	if m.InMemory() || m.Err != nil || m.List[0].ID.Raw != "5" {
		t.Fatalf("in memory %v, err %v, id %q", m.InMemory(), m.Err, m.List[0].ID.Raw)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("the spool folder holds %v", left)
	}
	m.Edit(m.List[0].ID.Range, []byte(`"other"`))
	if got, want := string(m.Bytes()), strings.TrimSuffix(text, "5}")+`"other"}`; got != want || m.Len() != int64(len(want)) {
		t.Errorf("edited message is %d bytes (Len %d); want %d", len(got), m.Len(), len(want))
	}
	m.Release()

	m = build(Limits{Memory: 100, Max: 1000, Dir: dir}, text, 64)
	defer m.Release()
	if !errors.Is(m.Err, ErrTooLarge) || m.Kept() || m.Size != int64(len(text)) || m.List[0].ID.Raw != "5" || !m.IsRPC() {
		t.Errorf("over the limit: err %v, kept %v, size %d, id %q", m.Err, m.Kept(), m.Size, m.List[0].ID.Raw)
	}
}

func TestEdits(t *testing.T) {
	m := Parse([]byte(`{"id":1,"method":"m","params":{"_meta":{"progressToken":2}}}`))
	m.Edit(m.List[0].Token.Range, []byte("22"))
	m.Edit(m.List[0].ID.Range, []byte("11"))
	if got, want := string(m.Bytes()), `{"id":11,"method":"m","params":{"_meta":{"progressToken":22}}}`; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

func TestElementsAndMembers(t *testing.T) {
	b := []byte(` [ {"name":"a","x":{"y":[1]}} , "s,]" ,3,null]`)
	var got []string
	for _, r := range Elements(b, Range{0, int64(len(b))}) {
		got = append(got, string(b[r.Start:r.End]))
	}
	if want := `{"name":"a","x":{"y":[1]}}|"s,]"|3|null`; strings.Join(got, "|") != want {
		t.Errorf("Elements = %q; want %s", got, want)
	}
	b = []byte(`{"a":1, "b\u0063" : {"d":"}"},"e":[] }`)
	m := Members(b, Range{0, int64(len(b))})
	for name, want := range map[string]string{"a": "1", "bc": `{"d":"}"}`, "e": "[]"} {
		if r := m[name]; string(b[r.Start:r.End]) != want {
			t.Errorf("member %q = %q; want %q", name, b[r.Start:r.End], want)
		}
	}
}

func TestCut(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"content":[{"type":"text","text":"hello wor`, `{"content":[{"type":"text","text":"hello wor"}]}`},
		{`{"a":1,"b`, `{"a":1}`},
		{`{"a":1,"b"`, `{"a":1}`},
		{`{"a":1,"b":`, `{"a":1}`},
		{`{"a":1,"b":tr`, `{"a":1}`},
		{`{"a":12`, `{}`},
		{`["a\`, `["a"]`},
		{`["a\\`, `["a\\"]`},
		{`["a\"`, `["a\""]`},
		{`["a\u12`, `["a"]`},
		{`["a\ud83d`, `["a"]`},
		{`["a\ud83d\udd`, `["a"]`},
		{`["a\ud83dx`, `["a\ud83dx"]`},
		{"[\"a\xf0\x9f\xa7", `["a"]`},
		{`"te`, `"te"`},
		{``, `null`},
		{`12`, `null`},
		{`{"a":{"b":[1,2]}}`, `{"a":{"b":[1,2]}}`},
	}
	for _, tt := range tests {
		if got := string(Cut([]byte(tt.in))); got != tt.want {
			t.Errorf("Cut(%q) = %q; want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}`,
		`[{"id":"a","result":{"tools":[{"name":"x","description":"y"}]}},{"method":"n"}]`, `{"a":"\ud83d\\"}`, `[[[{}]]]`, `{"id":-1.5e3,"error":{}}`, "\x00"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, step int) {
		step = max(1, step%64)
		whole := Parse(bytes.Clone(in))
		parts := build(Limits{}, string(in), step)
		if (whole.Err == nil) != (parts.Err == nil) || len(whole.List) != len(parts.List) {
			t.Fatalf("steps of %d differ: %v %v", step, whole.Err, parts.Err)
		}
		if json.Valid(in) && whole.Err != nil && !errors.Is(whole.Err, errDepth) && !errors.Is(whole.Err, errBatch) && len(in) < maxScalar {
			t.Fatalf("valid JSON refused: %v", whole.Err)
		}
		if !json.Valid(in) {
			return
		}
		for i := range whole.List {
			e := &whole.List[i]
			for _, r := range []Range{e.Range, e.ID.Range, e.Params, e.Result, e.Error, e.Arguments, e.Tools} {
				if r.Present() && !json.Valid(whole.Slice(r, 1<<30)) {
					t.Fatalf("range %v is %q", r, whole.Slice(r, 1<<30))
				}
			}
			Elements(in, e.Tools)
			Members(in, e.Range)
		}
		for n := range min(len(in), 500) {
			if cut := Cut(in[:n]); !json.Valid(cut) {
				t.Fatalf("Cut(%q) = %q", in[:n], cut)
			}
		}
	})
}

func BenchmarkParse10KB(b *testing.B) {
	text := []byte(`{"result":{"content":[{"type":"text","text":"` + strings.Repeat(`line of text\n`, 750) + `"}]},"jsonrpc":"2.0","id":5}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Parse(text)
	}
}
