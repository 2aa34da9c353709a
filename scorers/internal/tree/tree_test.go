package tree

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

func parse(t testing.TB, s string) Value {
	t.Helper()
	v, err := Parse([]byte(s))
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return v
}

const sample = ` { "a" : [1, {"b/c": "x\ny", "~": null}, [] ], "é\u0041":true, "n": -1.5e3 } `

func TestWalk(t *testing.T) {
	root := parse(t, sample)
	var got []string
	for v := range root.Walk {
		got = append(got, v.Pointer(root)+" "+v.Kind().String()+" "+v.Key())
	}
	want := []string{
		" object ",
		"/a array a",
		"/a/0 number ",
		"/a/1 object ",
		"/a/1/b~1c string b/c",
		"/a/1/~0 null ~",
		"/a/2 array ",
		"/éA bool éA",
		"/n number n",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Walk = %q; want %q", got, want)
	}
	if n := root.Size(); n != 9 {
		t.Errorf("Size = %d; want 9", n)
	}
}

func TestLookup(t *testing.T) {
	root := parse(t, sample)
	tests := []struct {
		got  Value
		want string
	}{
		{root.Get("a").At(0), "1"},
		{root.Get("a").At(-1), "[]"},
		{root.Get("a").At(-3), "1"},
		{root.Get("a").At(-4), ""},
		{root.Get("a").At(3), ""},
		{root.Get("éA"), "true"},
		{root.Get("e"), ""},
		{root.Get("a").Get("a"), ""},
		{root.At(0), ""},
		{parse(t, `{"a":1,"a":2}`).Get("a"), "2"},
		{parse(t, `{"":1}`).Get(""), "1"},
		{parse(t, `{"ab":1,"a":2}`).Get("a"), "2"},
		{Value{}.Get("a").At(1), ""},
	}
	for i, tt := range tests {
		if got := string(tt.got.Raw()); got != tt.want {
			t.Errorf("%d: got %q; want %q", i, got, tt.want)
		}
	}
	if got := root.Get("a").At(1).Get("b/c").Text(); got != "x\ny" {
		t.Errorf("Text = %q", got)
	}
}

func TestAbsent(t *testing.T) {
	var v Value
	for range v.Each {
		t.Error("an absent value has a child")
	}
	for range v.Walk {
		t.Error("an absent value walks")
	}
	if v.Exists() || v.Kind() != jsonv.Absent || v.Len() != 0 || v.Size() != 0 || v.Raw() != nil ||
		v.Text() != "" || v.Key() != "" || v.Show(9) != "nothing" || v.JSON().Exists() || Of(jsonv.Value{}).Exists() {
		t.Error("an absent value is not empty")
	}
	if _, err := Parse([]byte("{")); err == nil {
		t.Error("Parse({) has no error")
	}
}

func TestEqual(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`100`, `1e2`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`1`, `"1"`, false},
		{`"\u0041"`, `"A"`, true},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`{"a":1,"b":2}`, `{"a":1}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":[1,2]}`, `{ "a" : [ 1 , 2 ] }`, true},
		{`[1,2]`, `[2,1]`, false},
		{`[1,2]`, `[1,2,3]`, false},
		{`[]`, `{}`, false},
		{`null`, `false`, false},
		{`"\ud83d"`, `"\udcb2"`, true}, // both are U+FFFD
	}
	for _, tt := range tests {
		a, b := parse(t, tt.a), parse(t, tt.b)
		if got := Equal(a, b); got != tt.want {
			t.Errorf("Equal(%s, %s) = %v; want %v", tt.a, tt.b, got, tt.want)
		}
		if got := Differs(a, b) == nil; got != tt.want {
			t.Errorf("Differs(%s, %s) == nil is %v; want %v", tt.a, tt.b, got, tt.want)
		}
		if got := len(changes(a, b, nil, 9)) == 0; got != tt.want {
			t.Errorf("Changes(%s, %s) is empty: %v; want %v", tt.a, tt.b, got, tt.want)
		}
	}
	if !Equal(Value{}, Value{}) || Equal(Value{}, parse(t, "null")) {
		t.Error("absent equals absent and nothing else")
	}
}

func TestMismatch(t *testing.T) {
	tests := []struct {
		got, want, differs, lacks string
	}{
		{`{"a":1}`, `{"a":2}`, "got 1 at /a, want 2", "got 1 at /a, want 2"},
		{`{"a":1,"b":2}`, `{"a":1}`, "got 2 at /b, want nothing", ""},
		{`{}`, `{"a":null}`, "got nothing at /a, want null", "got nothing at /a, want null"},
		{`[1,2,3]`, `[1,3]`, "got 2 at /1, want 3", ""},
		{`[1,2,3]`, `[3,1]`, "got 1 at /0, want 3", "got nothing at /1, want 1"},
		{`[{"a":1,"b":1},{"a":2,"b":2}]`, `[{"b":2}]`, "got 1 at /0/b, want 2", ""},
		{`[1]`, `[1,1]`, "got nothing at /1, want 1", "got nothing at /1, want 1"},
		{`[1,1]`, `[1]`, "got 1 at /1, want nothing", ""},
		{`{"x/y":"` + strings.Repeat("z", 200) + `"}`, `{"x/y":[]}`,
			`got "` + strings.Repeat("z", 119) + "… at /x~1y, want []",
			`got "` + strings.Repeat("z", 119) + "… at /x~1y, want []"},
		{`3`, `"3"`, `got 3, want "3"`, `got 3, want "3"`},
	}
	for _, tt := range tests {
		text := func(m *Mismatch) string {
			if m == nil {
				return ""
			}
			return m.String()
		}
		got, want := parse(t, tt.got), parse(t, tt.want)
		if s := text(Differs(got, want)); s != tt.differs {
			t.Errorf("Differs(%s, %s) = %q; want %q", tt.got, tt.want, s, tt.differs)
		}
		if s := text(Lacks(got, want)); s != tt.lacks {
			t.Errorf("Lacks(%s, %s) = %q; want %q", tt.got, tt.want, s, tt.lacks)
		}
	}
}

func TestChanges(t *testing.T) {
	tests := []struct {
		name, before, after, skip string
		want                      string
	}{
		{"nothing", `{"a":1}`, `{"a":1.0}`, "", ""},
		{"value", `{"a":1}`, `{"a":2}`, "", "/a:1>2"},
		{"kind", `{"a":{}}`, `{"a":[]}`, "", "/a:{}>[]"},
		{"removed and added", `{"a":1}`, `{"b":1}`, "", "-/a:1 +/b:1"},
		{"inserted in front", `[1,2,3]`, `[0,1,2,3]`, "", "+/0:0"},
		{"inserted in the middle", `[1,2,3]`, `[1,9,2,3]`, "", "+/1:9"},
		{"removed at the end", `[1,2,3]`, `[1,2]`, "", "-/2:3"},
		{"changed in the middle", `[1,{"x":2,"y":3},4]`, `[1,{"x":2,"y":9},4]`, "", "/1/y:3>9"},
		{"root", `1`, `2`, "", ":1>2"},
		{"skipped member", `{"a":1,"t":1}`, `{"a":1,"t":2}`, "t", ""},
		{"skipped added", `{"a":1}`, `{"a":1,"t":2}`, "t", ""},
		{"skipped removed", `{"a":1,"t":2}`, `{"a":1}`, "t", ""},
		{"skipped below", `[{"t":1,"a":1},{"t":1,"a":2}]`, `[{"t":2,"a":1},{"t":3,"a":3}]`, "t", "/1/a:2>3"},
		{"null is a value", `{"a":null}`, `{}`, "", "-/a:null"},
		{"last of a name counts", `{"a":1,"a":2}`, `{"a":2}`, "", ""},
	}
	for _, tt := range tests {
		before, after := parse(t, tt.before), parse(t, tt.after)
		var skip func(Value) bool
		if tt.skip != "" {
			skip = func(v Value) bool { return v.Key() == tt.skip }
		}
		var got []string
		for _, c := range changes(before, after, skip, 10) {
			switch {
			case !c.Before.Exists():
				got = append(got, "+"+c.After.Pointer(after)+":"+c.After.Show(9))
			case !c.After.Exists():
				got = append(got, "-"+c.Before.Pointer(before)+":"+c.Before.Show(9))
			default:
				got = append(got, c.After.Pointer(after)+":"+c.Before.Show(9)+">"+c.After.Show(9))
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: Changes = %q; want %q", tt.name, s, tt.want)
		}
	}
	if n := len(changes(parse(t, `[]`), parse(t, `[1,2,3]`), nil, 2)); n != 2 {
		t.Errorf("Changes passed its limit: %d", n)
	}
}

func changes(before, after Value, skip func(Value) bool, limit int) []Change {
	return Compare(before, after, skip, skip).Changes(before, after, limit)
}

func TestListChanges(t *testing.T) {
	before, after := parse(t, `[1,[2,3]]`), parse(t, `[1,9,[2,4]]`)
	c := Compare(before, after, nil, nil)
	got := c.ListChanges([]Value{before.At(0), before.At(1)}, []Value{after.At(0), after.At(1), after.At(2)}, 9)
	if len(got) != 2 || got[0].After.Pointer(after) != "/1" || got[1].After.Pointer(after) != "/2" {
		t.Errorf("ListChanges = %d changes", len(got))
	}
	if got := c.ListChanges(nil, nil, 9); len(got) != 0 {
		t.Errorf("ListChanges of nothing = %d changes", len(got))
	}
}

func TestDeepAndWide(t *testing.T) {
	deep := strings.Repeat(`[0,`, 9000) + `1` + strings.Repeat(`]`, 9000)
	other := strings.Repeat(`[0,`, 9000) + `2` + strings.Repeat(`]`, 9000)
	wide := `{` + strings.Repeat(`"k":0,`, 50_000) + `"z":1}`
	a, b := parse(t, deep), parse(t, other)
	if Equal(a, b) {
		t.Error("deep documents are equal")
	}
	found := changes(a, b, nil, 10)
	if len(found) != 1 || found[0].After.Show(9) != "2" {
		t.Errorf("Changes of deep documents = %d", len(found))
	}
	if m := Differs(a, b); m == nil || m.Want.Show(9) != "2" {
		t.Errorf("Differs of deep documents = %v", m)
	}
	w := parse(t, wide)
	if got := w.Get("z").Show(9); got != "1" {
		t.Errorf("Get in a wide object = %s", got)
	}
	if _, err := Parse([]byte(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000))); err == nil {
		t.Error("20,000 levels are accepted")
	}
}

func TestCut(t *testing.T) {
	tests := []struct {
		in    string
		limit int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"aé", 2, "aé"},
		{"🧑‍🚀x", 4, "🧑…"},
		{"a\x00b\nc\xff", 10, "a b c\uFFFD"},
		{"", 0, ""},
	}
	for _, tt := range tests {
		if got := Cut(tt.in, tt.limit); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q; want %q", tt.in, tt.limit, got, tt.want)
		}
	}
	v := parse(t, "{ \"a\" : [ 1,\n2 ] , \"b c\": \"d  e\" }")
	if got := v.Show(40); got != `{"a":[1,2],"b c":"d  e"}` {
		t.Errorf("Show = %s", got)
	}
}

// FuzzTree compares the index with encoding/json.
func FuzzTree(f *testing.F) {
	for _, s := range []string{sample, `[]`, `{"a":{"a":[0,"",{}]}}`, `"\ud83d\ude80"`, `{"\"":1}`, `[1e400,-0]`} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		v, err := Parse([]byte(s))
		if (err == nil) != json.Valid([]byte(s)) {
			t.Fatalf("Parse(%q) = %v", s, err)
		}
		if err != nil {
			return
		}
		same(t, v, []byte(s))
		if !Equal(v, v) || Differs(v, v) != nil || Lacks(v, v) != nil || len(changes(v, v, nil, 1)) > 0 {
			t.Errorf("%q is not itself", s)
		}
		w, err := Parse([]byte(other))
		if err != nil {
			return
		}
		if Equal(v, w) && Differs(v, w) != nil || Equal(v, w) != Equal(w, v) {
			t.Errorf("Equal(%q, %q) disagrees", s, other)
		}
		_ = Lacks(v, w).describe()
	})
}

func (m *Mismatch) describe() string {
	if m == nil {
		return ""
	}
	return m.String()
}

func same(t *testing.T, v Value, s []byte) {
	switch v.Kind() {
	case jsonv.Object:
		var m map[string]json.RawMessage
		if json.Unmarshal(s, &m) != nil || len(m) != len(v.Members()) {
			t.Fatalf("%q has %d members; want %d", s, len(v.Members()), len(m))
		}
		for name, raw := range m {
			same(t, v.Get(name), raw)
		}
	case jsonv.Array:
		var list []json.RawMessage
		if json.Unmarshal(s, &list) != nil || len(list) != v.Len() {
			t.Fatalf("%q has %d elements; want %d", s, v.Len(), len(list))
		}
		for i, raw := range list {
			same(t, v.At(i), raw)
		}
	case jsonv.String:
		var text string
		if json.Unmarshal(s, &text) != nil || text != v.Text() {
			t.Fatalf("%q is %q; want %q", s, v.Text(), text)
		}
	default:
		if strings.TrimSpace(string(s)) != string(v.Raw()) {
			t.Fatalf("%q is %q", s, v.Raw())
		}
	}
}

func BenchmarkParse5MB(b *testing.B) {
	s := large(5 << 20)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		parse(b, s)
	}
}

// large returns a state of about n bytes.
func large(n int) string {
	var sb strings.Builder
	sb.WriteString(`{"items":[`)
	for i := 0; sb.Len() < n; i++ {
		if i > 0 {
			sb.WriteByte(',')
		}
		sb.WriteString(`{"id":` + strconv.Itoa(i) + `,"name":"item ` + strconv.Itoa(i) + `","tags":["a","b"],"published":true,"price":12.5}`)
	}
	return sb.String() + `]}`
}
