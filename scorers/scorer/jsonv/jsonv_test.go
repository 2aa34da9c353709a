package jsonv

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"
)

func parse(t testing.TB, s string) Value {
	t.Helper()
	v, err := Parse([]byte(s))
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return v
}

func TestValid(t *testing.T) {
	for _, s := range []string{
		"", " ", "{", "[", "nul", "truee", "tru", `"`, `"\`, `"\u12"`, `"\x"`, "\"\n\"", "01", "-", "1.", ".5", "1e", "1e+", "+1",
		"[1,]", "[,1]", "[1 2]", `{"a"}`, `{"a":}`, `{"a":1,}`, `{1:2}`, `{a:1}`, "[}", "{]", "1 2", "[1]]", "\x00", "NaN",
		"null", " true ", "false", "0", "-0", "1.5e-7", "1E+400", `"\u00e9\ud83d\ude00\n"`, "[]", "{}", "[ ]", "{ }",
		`{"a":[1,{"b":null}],"a":2}`, "[[[]]]", "\"\xff\"", strings.Repeat("[", 9999) + strings.Repeat("]", 9999),
		strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
	} {
		if got, want := Valid([]byte(s)), json.Valid([]byte(s)); got != want {
			t.Errorf("Valid(%.60q) = %v; want %v", s, got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	v := parse(t, ` {"a": [10, "x", {"b": null}], "k\u00f6p/~": true, "twice": 1, "twice": 2, "": 7} `)
	for _, test := range []struct {
		pointer, want string
		kind          Kind
	}{
		{"/a/0", "10", Number}, {"/a/1", "x", String}, {"/a/2", `{"b": null}`, Object}, {"/a/2/b", "null", Null},
		{"/a/3", "", Absent}, {"/a/-1", "", Absent}, {"/a/00", "", Absent}, {"/a/x", "", Absent}, {"/a/2/c/d", "", Absent},
		{"/köp~1~0", "true", Bool}, {"/twice", "2", Number}, {"/", "7", Number}, {"a", "", Absent}, {"/a/0/0", "", Absent},
	} {
		got := v.Pointer(test.pointer)
		if got.String() != test.want || got.Kind() != test.kind {
			t.Errorf("Pointer(%q) = %v %q; want %v %q", test.pointer, got.Kind(), got, test.kind, test.want)
		}
	}
	if got := v.Pointer(""); !Equal(got, v) {
		t.Errorf("Pointer(\"\") = %s; want the value", got)
	}
	if v.Len() != 5 || v.Get("a").Len() != 3 || v.Get("twice").Len() != 0 || len(v.Map()) != 4 {
		t.Errorf("lengths %d %d %d %d; want 5 3 0 4", v.Len(), v.Get("a").Len(), v.Get("twice").Len(), len(v.Map()))
	}
	if v.At(0).Exists() || v.Get("a").Get("b").Exists() || (Value{}).Get("a").Exists() {
		t.Error("looking into the wrong kind found something")
	}
	if got := "/" + EscapeToken("köp/~"); v.Pointer(got).String() != "true" {
		t.Errorf("EscapeToken gave %q, which does not find its member", got)
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		in string
		n  int64
		ok bool
	}{
		{"0", 0, true}, {"-0", 0, true}, {"0.0e9", 0, true}, {"1e3", 1000, true}, {"-1.50e1", -15, true}, {"1.5", 0, false},
		{"9223372036854775807", 1<<63 - 1, true}, {"9223372036854775808", 0, false}, {"-9223372036854775808", -1 << 63, true},
		{"-9223372036854775809", 0, false}, {"1e18", 1e18, true}, {"1e19", 0, false}, {"1e99999999999999999999", 0, false},
		{"1e-1", 0, false}, {"10e-1", 1, true}, {`"1"`, 0, false},
	} {
		if n, ok := parse(t, test.in).Int(); n != test.n || ok != test.ok {
			t.Errorf("Int of %s = %d, %v; want %d, %v", test.in, n, ok, test.n, test.ok)
		}
	}
	if f, ok := parse(t, "1e400").Float(); ok {
		t.Errorf("Float of 1e400 = %v; want not ok", f)
	}
	if f, ok := parse(t, "-2.5e-1").Float(); f != -0.25 || !ok {
		t.Errorf("Float of -2.5e-1 = %v, %v; want -0.25", f, ok)
	}
}

func TestEqualAndContains(t *testing.T) {
	for _, test := range []struct {
		whole, part     string
		equal, contains bool
	}{
		{"1", "1.0", true, true}, {"100", "1e2", true, true}, {"0", "-0", true, true}, {"1e-400", "0", false, false},
		{"9007199254740992", "9007199254740993", false, false}, {"1", `"1"`, false, false}, {"null", "false", false, false},
		{`"\u00e9"`, `"é"`, true, true}, {`[1,2]`, `[1, 2.0]`, true, true}, {"[1,2]", "[2,1]", false, false},
		{"[1,2,3]", "[1,3]", false, true}, {"[1,2]", "[1,2,3]", false, false}, {"[1]", "[]", false, true},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true, true}, {`{"a":1,"b":2}`, `{"b":2}`, false, true},
		{`{"b":2}`, `{"a":1,"b":2}`, false, false}, {`{"a":1,"a":2}`, `{"a":2}`, true, true},
		{`{"a":{"x":[{"y":1,"z":2}]}}`, `{"a":{"x":[{"z":2}]}}`, false, true}, {`{"a":null}`, `{}`, false, true},
		{`{}`, `{"a":null}`, false, false}, {"[[1],[2]]", "[[2]]", false, true},
	} {
		a, b := parse(t, test.whole), parse(t, test.part)
		if got := Equal(a, b); got != test.equal {
			t.Errorf("Equal(%s, %s) = %v; want %v", a, b, got, test.equal)
		}
		if got := Equal(b, a); got != test.equal {
			t.Errorf("Equal(%s, %s) = %v; want %v", b, a, got, test.equal)
		}
		if got := Contains(a, b); got != test.contains {
			t.Errorf("Contains(%s, %s) = %v; want %v", a, b, got, test.contains)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"1", "2", -1}, {"-1", "-2", 1}, {"-1", "0", -1}, {"0", "0.0", 0}, {"1e2", "99.9", 1}, {"0.1", "0.09", 1},
		{"1e1000000", "1e999999", 1}, {`"a"`, `"b"`, -1}, {"null", "null", 0}, {"null", "1", -1}, {"[1]", "[1.0]", 0},
	} {
		if got := Compare(parse(t, test.a), parse(t, test.b)); got != test.want {
			t.Errorf("Compare(%s, %s) = %d; want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestIterationStops(t *testing.T) {
	n := 0
	for range parse(t, "[1,2,3]").Elements() {
		n++
		break
	}
	for range parse(t, `{"a":1,"b":2}`).Members() {
		n++
		break
	}
	if n != 2 {
		t.Errorf("%d turns; want 2", n)
	}
}

// same compares v with what encoding/json made of it.
func same(t *testing.T, v Value, want any) {
	t.Helper()
	switch want := want.(type) {
	case nil:
		if v.Kind() != Null {
			t.Errorf("%s is %v; want null", v, v.Kind())
		}
	case bool:
		if got, ok := v.Bool(); got != want || !ok {
			t.Errorf("%s; want %v", v, want)
		}
	case string:
		if got, ok := v.Str(); got != want || !ok {
			t.Errorf("%s is %q; want %q", v, got, want)
		}
	case json.Number:
		sameNumber(t, v, want)
	case []any:
		if v.Len() != len(want) {
			t.Errorf("%s has %d elements; want %d", v, v.Len(), len(want))
			return
		}
		for i, e := range v.Elements() {
			same(t, e, want[i])
		}
		if len(want) > 0 {
			same(t, v.At(len(want)-1), want[len(want)-1])
		}
	case map[string]any:
		m := v.Map()
		if len(m) != len(want) {
			t.Errorf("%s has %d members; want %d", v, len(m), len(want))
		}
		for name, e := range want {
			same(t, m[name], e)
			same(t, v.Pointer("/"+EscapeToken(name)), e)
		}
	}
}

func sameNumber(t *testing.T, v Value, want json.Number) {
	t.Helper()
	if string(v.Raw()) != string(want) {
		t.Errorf("%s; want %s", v, want)
	}
	if f, err := want.Float64(); err == nil {
		if got, ok := v.Float(); got != f || !ok {
			t.Errorf("Float of %s = %v; want %v", v, got, f)
		}
	}
	// Rat takes long for large exponents.
	_, exp, _ := strings.Cut(strings.ToLower(string(want)), "e")
	if len(want) < 40 && len(exp) < 4 {
		r, ok := new(big.Rat).SetString(string(want))
		if !ok {
			return
		}
		if n, ok := v.Int(); ok != (r.IsInt() && r.Num().IsInt64()) || ok && n != r.Num().Int64() {
			t.Errorf("Int of %s = %d, %v", v, n, ok)
		}
		if got := Compare(v, parse(t, "1.5")); got != r.Cmp(big.NewRat(3, 2)) {
			t.Errorf("Compare(%s, 1.5) = %d", v, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,"\u00e9\ud83d\ude00\ud800x",{"b":null,"b":true}],"":false}`, "[1e5]", "\"\xff\"", "[[],{}]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Parse(b)
		if (err == nil) != json.Valid(b) {
			t.Fatalf("Parse(%q): %v; json.Valid %v", b, err, json.Valid(b))
		}
		if err != nil {
			return
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		same(t, v, want)
		if !Equal(v, v) || !Contains(v, v) {
			t.Errorf("%s is not equal to itself", v)
		}
		again, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if !Equal(v, parse(t, string(again))) {
			t.Errorf("%s and %s are not equal", v, again)
		}
	})
}

func FuzzQuote(f *testing.F) {
	f.Add("a\"\\\n\x00\x7f\u2028é\xff")
	f.Fuzz(func(t *testing.T, s string) {
		want := string([]rune(s)) // One U+FFFD for each invalid byte.
		var back string
		if err := json.Unmarshal([]byte(Quote(s)), &back); err != nil || back != want {
			t.Errorf("Quote(%q) = %s, read back as %q: %v", s, Quote(s), back, err)
		}
		if got, _ := parse(t, Quote(s)).Str(); !reflect.DeepEqual(got, want) {
			t.Errorf("Str of Quote(%q) = %q; want %q", s, got, want)
		}
	})
}

func BenchmarkPointer(b *testing.B) {
	doc := []byte(`{"items":[` + strings.Repeat(`{"name":"page","size":12345,"tags":["a","b"]},`, 20000) + `{"name":"last"}],"z":1}`)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		v, err := Parse(doc)
		if err != nil || v.Pointer("/z").String() != "1" {
			b.Fatal(v, err)
		}
	}
}
