package schema

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

func compileText(s string) (*Schema, error) {
	v, err := jsonv.Parse([]byte(s))
	if err != nil {
		return nil, err
	}
	return Compile(v)
}

func parse(t testing.TB, s string) tree.Value {
	t.Helper()
	v, err := tree.Parse([]byte(s))
	if err != nil {
		t.Fatalf("tree.Parse(%q): %v", s, err)
	}
	return v
}

// TestSuite runs the JSON Schema test suite's files for the keywords that are
// supported; its licence lies beside it.
func TestSuite(t *testing.T) {
	f, err := os.Open("testdata/suite.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	refused, checked := map[string]int{}, 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var group struct {
			File, Description string
			Schema            json.RawMessage
			Tests             []struct {
				Description string
				Data        json.RawMessage
				Valid       bool
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &group); err != nil {
			t.Fatal(err)
		}
		s, err := compileText(string(group.Schema))
		if err != nil {
			_, what, _ := strings.Cut(err.Error(), "keyword ")
			refused[what]++
			continue
		}
		for _, tt := range group.Tests {
			checked++
			if got := s.Check(parse(t, string(tt.Data))); (got == "") != tt.Valid {
				t.Errorf("%s: %s: %s: Check(%s) = %q; want valid %v",
					group.File, group.Description, tt.Description, tt.Data, got, tt.Valid)
			}
		}
	}
	want := map[string]int{
		`"$defs" is not supported`:                 1,
		`"dependentSchemas" is not supported`:      1,
		`"multipleOf" is not supported`:            1,
		`"patternProperties" is not supported`:     3,
		`"prefixItems" is not supported`:           4,
		`"propertyNames" is not supported`:         1,
		`"unevaluatedProperties" is not supported`: 1,
	}
	if !reflect.DeepEqual(refused, want) {
		t.Errorf("refused groups = %v; want %v", refused, want)
	}
	if checked != 431 {
		t.Errorf("%d cases checked; want 431", checked)
	}
}

func TestCheck(t *testing.T) {
	tests := []struct{ schema, value, want string }{
		{`{"type":"object","required":["name"]}`, `{}`, `lacks "name"`},
		{`{"type":"integer"}`, `1.5`, `got 1.5, want type integer`},
		{`{"type":"integer"}`, `1e300`, ``},
		{`{"type":["string","null"]}`, `1`, `got 1, want type string or null`},
		{`{"properties":{"a":{"items":{"minimum":3}}}}`, `{"a":[3,2]}`, `at /a/1 got 2, want minimum 3`},
		{`{"properties":{"a/b":false}}`, `{"a/b":0}`, `at /a~1b got 0, want nothing here`},
		{`{"additionalProperties":false}`, `{"x":1}`, `at /x got 1, want nothing here`},
		{`{"minItems":2}`, `[1]`, `has 1 elements, want at least 2`},
		{`{"maxLength":2}`, `"🧑‍🚀"`, `has 3 characters, want at most 2`},
		{`{"pattern":"^a+$"}`, `"ab"`, `got "ab", which does not match ^a+$`},
		{`{"enum":[1,"a"]}`, `2`, `got 2, which is not one of the enum's`},
		{`{"enum":[]}`, `2`, `got 2, which is not one of the enum's`},
		{`{"const":null}`, `0`, `got 0, want null`},
		{`{"oneOf":[{"minimum":1},{"minimum":2}]}`, `3`, `got 3, which fits several of oneOf`},
		{`{"oneOf":[{"minimum":1},{"minimum":2}]}`, `0`, `got 0, which fits none of oneOf`},
		{`{"anyOf":[{"minimum":1},{"minimum":2}]}`, `0`, `got 0, which fits none of anyOf`},
		{`{"not":{"type":"null"}}`, `null`, `got null, which fits what it must not`},
		{`{"exclusiveMaximum":9007199254740993}`, `9007199254740993`, `got 9007199254740993, want exclusiveMaximum 9007199254740993`},
		{`{"exclusiveMaximum":9007199254740993}`, `9007199254740992`, ``},
		{`{"required":["a"]}`, `[]`, ``},
	}
	for _, tt := range tests {
		s, err := compileText(tt.schema)
		if err != nil {
			t.Errorf("Compile(%s): %v", tt.schema, err)
			continue
		}
		if got := s.Check(parse(t, tt.value)); got != tt.want {
			t.Errorf("%s: Check(%s) = %q; want %q", tt.schema, tt.value, got, tt.want)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	tests := []struct{ schema, want string }{
		{`1`, `schema: want an object or a bool, not number`},
		{`{"properties":{"a":{"format":"email"}}}`, `schema at /properties/a/format: keyword "format" is not supported`},
		{`{"type":"text"}`, `schema at /type: unknown type "text"`},
		{`{"type":[1]}`, `schema at /type: want a list of strings`},
		{`{"required":"a"}`, `schema at /required: want a list of strings`},
		{`{"minLength":-1}`, `schema at /minLength: want a whole number that is not negative`},
		{`{"minimum":"1"}`, `schema at /minimum: want a number`},
		{`{"pattern":"("}`, "schema at /pattern: error parsing regexp: missing closing ): `(`"},
		{`{"allOf":[]}`, `schema at /allOf: want a list of schemas`},
		{`{"anyOf":[{"x":1}]}`, `schema at /anyOf/0/x: keyword "x" is not supported`},
		{`{"enum":1}`, `schema at /enum: want a list`},
	}
	for _, tt := range tests {
		if _, err := compileText(tt.schema); err == nil || err.Error() != tt.want {
			t.Errorf("Compile(%s) = %v; want %s", tt.schema, err, tt.want)
		}
	}
	deep := strings.Repeat(`{"not":`, 200) + `true` + strings.Repeat(`}`, 200)
	if _, err := compileText(deep); err == nil {
		t.Error("200 levels are accepted")
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"pattern":"^x"}},"additionalProperties":false}`, `{"a":"x"}`)
	f.Add(`{"oneOf":[{"const":1},{"enum":[1,2]}],"not":{"minimum":5}}`, `1`)
	f.Add(`{"items":{"maxLength":2},"minItems":1}`, `["abc"]`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := compileText(schema)
		if err != nil {
			return
		}
		v, err := tree.Parse([]byte(value))
		if err != nil {
			return
		}
		not := &Schema{not: s}
		if (s.Check(v) == "") == (not.Check(v) == "") {
			t.Errorf("%s: %s satisfies both or neither of the schema and its opposite", schema, value)
		}
	})
}
