package jsonpath

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/scorers/internal/tree"
)

func parse(t testing.TB, s string) tree.Value {
	t.Helper()
	v, err := tree.Parse([]byte(s))
	if err != nil {
		t.Fatalf("tree.Parse(%q): %v", s, err)
	}
	return v
}

// TestCompliance runs the JSONPath compliance suite; its licence lies beside it.
func TestCompliance(t *testing.T) {
	b, err := os.ReadFile("testdata/cts.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests []struct {
			Name, Selector  string
			Document        json.RawMessage
			Result          []any
			Results         [][]any
			InvalidSelector bool `json:"invalid_selector"`
		}
	}
	if err := json.Unmarshal(b, &suite); err != nil {
		t.Fatal(err)
	}
	if len(suite.Tests) != 703 {
		t.Errorf("the suite has %d cases; want 703", len(suite.Tests))
	}
	for _, tt := range suite.Tests {
		q, err := Parse(tt.Selector)
		if (err != nil) != tt.InvalidSelector {
			t.Errorf("%s: Parse(%q): %v; want invalid %v", tt.Name, tt.Selector, err, tt.InvalidSelector)
		}
		if err != nil || tt.InvalidSelector {
			continue
		}
		found, err := q.Select(parse(t, string(tt.Document)))
		if err != nil {
			t.Errorf("%s: %v", tt.Name, err)
		}
		got := []any{}
		for _, v := range found {
			var x any
			if err := json.Unmarshal(v.Raw(), &x); err != nil {
				t.Fatal(err)
			}
			got = append(got, x)
		}
		if tt.Results == nil {
			tt.Results = [][]any{tt.Result}
		}
		ok := false
		for _, want := range tt.Results {
			ok = ok || reflect.DeepEqual(got, want)
		}
		if !ok {
			t.Errorf("%s: %s = %v; want %v", tt.Name, tt.Selector, got, tt.Results)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct{ query, want string }{
		{"", `query "", character 1: a query begins with $`},
		{"/a/b", `query "/a/b", character 1: a query begins with $`},
		{"$.a b", `query "$.a b", character 4: expected . or [ or the end`},
		{"$.é.", `query "$.é.", character 5: expected a name or *`},
		{"$[01]", `query "$[01]", character 3: expected an integer within ±(2^53-1) without leading zeros`},
		{"$[?@.a]x", `query "$[?@.a]x", character 8: expected . or [ or the end`},
		{"$[?1]", `query "$[?1]", character 5: expected a comparison: a value alone is neither true nor false`},
		{"$[?@.*==1]", `query "$[?@.*==1]", character 7: expected a query that finds one value at most: names and indexes alone`},
		{"$[?nope(@)]", `query "$[?nope(@)]", character 11: unknown function nope: there are length, count, value, match and search`},
		{"$[?count(@.a,1)>1]", `query "$[?count(@.a,1)>1]", character 16: count takes 1 arguments, not 2`},
		{"$['a", `query "$['a", character 5: expected a closing quote`},
		{"$\xff", `query is not UTF-8`},
		{strings.Repeat("$", 9000), `query is longer than 8192 bytes`},
	}
	for _, tt := range tests {
		_, err := Parse(tt.query)
		if err == nil || err.Error() != tt.want {
			t.Errorf("Parse(%.20q) = %v; want %s", tt.query, err, tt.want)
		}
	}
	if _, err := Parse("$[?" + strings.Repeat("(", 100) + "@" + strings.Repeat(")", 100) + "]"); err == nil {
		t.Error("a hundred parentheses are accepted")
	}
}

func TestOrderOfMembers(t *testing.T) {
	q, err := Parse("$..*")
	if err != nil {
		t.Fatal(err)
	}
	root := parse(t, `{"z":1,"a":{"y":2,"b":3},"m":[4]}`)
	found, err := q.Select(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range found {
		got = append(got, v.Pointer(root))
	}
	if s := strings.Join(got, " "); s != "/z /a /m /a/y /a/b /m/0" {
		t.Errorf("$..* found %s", s)
	}
}

func TestHostileQueries(t *testing.T) {
	wide := `[` + strings.Repeat(`[1,[2,"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]],`, 3000) + `0]`
	tests := []struct {
		query, document string
		wantErr         bool
	}{
		{"$..*..*..*..*", `[` + strings.Repeat(`[`, 400) + strings.Repeat(`1,1],`, 400)[:400*5-1] + `]`, true},
		{"$..[?count($..*)>1]", wide, true},
		{"$..[?match(@,'(a*)*b')]", wide, false},
		{"$..[?match(@,'((a{1,30}){1,30}){1,30}')]", wide, false},
		{"$.l[?$.w.z == @]", `{"l":[` + strings.Repeat("1,", 9999) + `1],"w":{` + strings.Repeat(`"k":0,`, 9999) + `"z":1}}`, true},
		{"$.l[?$.w[-1] == @]", `{"l":[` + strings.Repeat("1,", 9999) + `1],"w":[` + strings.Repeat(`0,`, 9999) + `1]}`, true},
		{"$[::-9007199254740991]", wide, false},
		{"$[9007199254740991]", wide, false},
	}
	for _, tt := range tests {
		q, err := Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Select(parse(t, tt.document)); (err != nil) != tt.wantErr {
			t.Errorf("%s: %v; want an error: %v", tt.query, err, tt.wantErr)
		}
	}
}

func FuzzQuery(f *testing.F) {
	b, err := os.ReadFile("testdata/cts.json")
	if err != nil {
		f.Fatal(err)
	}
	var suite struct {
		Tests []struct {
			Selector string
			Document json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &suite); err != nil {
		f.Fatal(err)
	}
	for i, tt := range suite.Tests {
		if i%5 == 0 {
			f.Add(tt.Selector, string(tt.Document))
		}
	}
	f.Fuzz(func(t *testing.T, query, document string) {
		q, err := Parse(query)
		if err != nil {
			return
		}
		if q.String() != query {
			t.Errorf("String() = %q; want %q", q.String(), query)
		}
		root, err := tree.Parse([]byte(document))
		if err != nil {
			return
		}
		first, err := q.Select(root)
		if err != nil || len(first) > 1000 {
			return
		}
		second, _ := q.Select(root)
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%q finds different values", query)
		}
		for _, v := range first {
			if p := v.Pointer(root); p != "" && p[0] != '/' {
				t.Errorf("pointer %q", p)
			}
		}
	})
}

func BenchmarkFilter5MB(b *testing.B) {
	var sb strings.Builder
	sb.WriteString(`{"items":[`)
	for sb.Len() < 5<<20 {
		sb.WriteString(`{"id":1,"name":"item","tags":["a","b"],"published":true,"price":12.5},`)
	}
	root := parse(b, strings.TrimSuffix(sb.String(), ",")+`]}`)
	q, err := Parse(`$.items[?@.price > 12 && @.name == 'item']`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := q.Select(root); err != nil {
			b.Fatal(err)
		}
	}
}
