package calls

import (
	"slices"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

func logOf(steps, tools string) *Log {
	return New(&scorer.Input{ScoreInput: &eval.ScoreInput{Steps: steptest.Steps(steps), Tools: steptest.Tools(tools)}})
}

func TestMessages(t *testing.T) {
	tests := []struct {
		name, steps string
		want        []int
	}{
		{"one after the other", "call a s/x {}\nok a 1\ncall b s/x {}\nok b 1", []int{1, 2}},
		{"at once", "call a s/x {}\nsay and\ncall b s/x {}\nok b 1\nok a 1\ncall c s/x {}", []int{1, 1, 2}},
		{"two turns", "call a s/x {}\nuser go on | turn=2\ncall b s/x {}", []int{1, 2}},
		{"a sub-agent's between", "call k /Task {}\ncall a s/x {} | parent=k\nok a 1\ncall b s/x {}\nok k 1\ncall c s/x {}", []int{1, 2, 1, 3}},
		{"none", "say hello", []int{}},
	}
	for _, tt := range tests {
		if got := logOf(tt.steps, "").message; !slices.Equal(got, tt.want) {
			t.Errorf("%s: messages = %v; want %v", tt.name, got, tt.want)
		}
	}
}

func TestHidesError(t *testing.T) {
	tests := []struct {
		text string
		want bool
	}{
		{"Error: no such page", true},
		{"error: no such page", true},
		{"ERROR 404: gone", true},
		{"Error calling tool: x", true},
		{"Error", true},
		{"Error\ndetails", true},
		{"Errors: 0", false},
		{"Error handling guide", false},
		{"Error handling is a wide field and much has been written about it: read on", false},
		{"No error", false},
		{"", false},
		{`{"status":false,"error":"x"}`, true},
		{`{"success":false}`, true},
		{`{"ok":false}`, true},
		{`{"ok":true,"error":"old"}`, false},
		{`{"error":"x"}`, true},
		{`{"error":""}`, false},
		{`{"error":null}`, false},
		{`{"error":{}}`, false},
		{`{"error":{"code":1}}`, true},
		{`{"error":true}`, true},
		{`{"status":"false"}`, false},
		{`{"status":`, false},
		{`{"items":[{"id":"a","name":"b\\c"}],"n":1}`, false},
		{`{"items":[{"error":"inner"}]}`, false},
		{`{"items":[],"\u006fk":false}`, true},
		{`{"name":"status","ok" : false}`, true},
		{`{"note":"` + strings.Repeat("x", 990) + `","error":"late"}`, true},
		{`{"note":"It EXCEEDS Maximum Allowed tokens"}`, false},
		{`[{"ok":false}]`, false},
		{"Error: result (179,889 characters) exceeds maximum allowed tokens. Output has been saved to /tmp/x.txt", false},
		{"<persisted-output>\nOutput too large (71 KB); it exceeds what is shown. Full output saved to: /tmp/x.txt", false},
	}
	for _, tt := range tests {
		c := eval.Call{Status: eval.CallOK, Result: eval.JSON(`{"content":[{"type":"text","text":` + jsonv.Quote(tt.text) + `}]}`)}
		if got := HidesError(&c, ResultText(&c)); got != tt.want {
			t.Errorf("HidesError(%q) = %v; want %v", tt.text, got, tt.want)
		}
		if _, truncated, got := Trouble(&c); got != tt.want || truncated != strings.Contains(strings.ToLower(tt.text), "exceeds") {
			t.Errorf("Trouble(%q) = %v, %v; want %v", tt.text, truncated, got, tt.want)
		}
	}
	// Two texts that are one object only when joined.
	c := eval.Call{Status: eval.CallOK, Result: eval.JSON(`{"content":[{"type":"text","text":"{\"a\":1,"},{"type":"text","text":"\"ok\":false}"}]}`)}
	if _, _, hides := Trouble(&c); !hides {
		t.Error("an error in the second text is not seen")
	}
	l := logOf("call a s/x {}\nerror a Error: x\ncall b s/x {}", "")
	if HidesError(&l.Calls[0], "Error: x") || HidesError(&l.Calls[1], "Error: x") {
		t.Error("an error that is marked, or a call without a result, hides an error")
	}
}

func TestResultText(t *testing.T) {
	tests := []struct{ result, want string }{
		{`{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":"b"}]}`, "a\nb"},
		{`{"content":[],"structuredContent":{"a":1}}`, `{"a":1}`},
		{`{"error":{"code":-1,"message":"no"}}`, "no"},
		{`{"content":[{"type":"image"}]}`, `{"content":[{"type":"image"}]}`},
		{`{"content":[{"type":"text","text":"cut \ud83d"}]}`, "cut \uFFFD"},
		{`not JSON`, ""},
		{``, ""},
	}
	for _, tt := range tests {
		if got := ResultText(&eval.Call{Result: eval.JSON(tt.result)}); got != tt.want {
			t.Errorf("ResultText(%s) = %q; want %q", tt.result, got, tt.want)
		}
	}
}

func TestResolve(t *testing.T) {
	l := logOf("call a /Bash {}\ncall b x/ghost {}", "a/list\nb/list\na/data_cms_tool\na/collections_create")
	tests := []struct{ pattern, want string }{
		{"a/list", ""},
		{"*", ""},
		{"*/list", ""},
		{"/Nope", ""},
		{"Bash", ""},
		{"ghost", ""},
		{"list", `tool "list" is ambiguous: write a/list or b/list, or */list for any of them`},
		{"c/list", `tool "c/list" is not offered by the target (closest: a/list); a tool of the host's own is written /c/list`},
		{"collection_create", `tool "collection_create" is not offered by the target (closest: a/collections_create); a tool of the host's own is written /collection_create`},
		{"qqqq", `tool "qqqq" is not offered by the target; a tool of the host's own is written /qqqq`},
	}
	for _, tt := range tests {
		got := ""
		if err := l.Resolve(tt.pattern); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("Resolve(%q) = %q; want %q", tt.pattern, got, tt.want)
		}
	}
	if err := logOf("", "").Resolve("list"); err != nil {
		t.Errorf("Resolve without a tool list = %v", err)
	}
}

func FuzzCall(f *testing.F) {
	f.Add(`{"actions":[{"a":{}},{"action":"b"}]}`, `{"content":[{"type":"text","text":"Error: x"}]}`, true)
	f.Add(`"{\"a\":1}"`, `{"structuredContent":{"status":false}}`, false)
	f.Fuzz(func(t *testing.T, arguments, result string, bad bool) {
		l := &Log{Calls: []eval.Call{{
			Tool: "x", Arguments: eval.JSON(arguments), BadArguments: bad, Result: eval.JSON(result), Status: eval.CallOK,
		}}}
		c := &l.Calls[0]
		a := l.ArgumentsOf(c)
		if a.Value.Exists() == (a.Problem != "") {
			t.Errorf("arguments %q: value %v, problem %q", arguments, a.Value.Exists(), a.Problem)
		}
		for _, action := range Actions(c) {
			if !action.Arguments.Exists() {
				t.Errorf("arguments %q: action %q has no value", arguments, action.Name)
			}
		}
		if text := ResultText(c); HidesError(c, text) && HostTruncated(text) {
			t.Errorf("result %q is both an error and truncated", result)
		}
	})
}
