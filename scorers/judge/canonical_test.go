package main

import (
	"sort"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

func appendCanonical(out []byte, v jsonv.Value, depth int) []byte {
	switch k := v.Kind(); {
	case k == jsonv.String:
		return jsonv.AppendString(out, v.String())
	case depth == maxNesting:
		return append(out, v.Raw()...)
	case k == jsonv.Array:
		out = append(out, '[')
		for i, e := range v.Elements() {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(out, e, depth+1)
		}
		return append(out, ']')
	case k == jsonv.Object:
		return appendObject(out, v, depth)
	}
	return append(out, v.Raw()...)
}

func appendObject(out []byte, v jsonv.Value, depth int) []byte {
	members := v.Map()
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	sort.Strings(names)
	out = append(out, '{')
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonv.AppendString(out, name), ':')
		out = appendCanonical(out, members[name], depth+1)
	}
	return append(out, '}')
}

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ 1 , "x" , { } , [ ] ] } `: `{"a":[1,"x",{},[]],"b":1}`,
		`{"a":1,"a":{"c":2,"b":3},"A":null}`:            `{"A":null,"a":{"b":3,"c":2}}`,
		`{"\u0062":"\u00e9\n","a\"":"\/"}`:              `{"a\"":"/","b":"é\n"}`,
		`{"é":1,"z":2}`:                                 `{"z":2,"é":1}`,
		"\"\x7f\"":                                      `"\u007f"`,
		`-1.50e3`:                                       `-1.50e3`,
		`{"a":`:                                         `{"a":`,
		`"`:                                             `"`,
		``:                                              ``,
		`{"":{"":{}}}`:                                  `{"":{"":{}}}`,
	} {
		if got := canonical([]byte(in)); got != want {
			t.Errorf("%s: got %s; want %s", in, got, want)
		}
	}
	deep := strings.Repeat(`[ `, 150) + `{"b":1, "a":2}` + strings.Repeat(` ]`, 150)
	if got, want := canonical([]byte(deep)), strings.Repeat(`[`, 100)+deep[200:len(deep)-200]+strings.Repeat(`]`, 100); got != want {
		t.Errorf("deep: got %s; want %s", got, want)
	}
}

// FuzzCanonical holds canonical against one that looks each member up.
func FuzzCanonical(f *testing.F) {
	f.Add([]byte(` {"b":[1,{"x":"\ud83d\ude00"}],"a" : "\u0000","b":tru`))
	f.Add([]byte(` {"b":[1,{"x":"\ud83d\ude00\ud83d"}],"a" : "\u0000\\","b":true, "\u0061":"\ud800"} `))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := jsonv.Parse(b)
		want := string(b)
		if err == nil {
			want = string(appendCanonical(nil, v, 0))
		}
		if got := canonical(b); got != want {
			t.Errorf("%q: got %q; want %q", b, got, want)
		}
	})
}
