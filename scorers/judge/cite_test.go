package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
)

func TestFindingThatQuotesNothing(t *testing.T) {
	in := trial()
	in.Steps = append(in.Steps, steptest.Steps("call x cms/notes {\"text\":\"a \\\"b\\\"  c\"}\nok x line one\\nline   two ends")...)
	for i := range in.Steps {
		in.Steps[i].ID = "s" + strconv.Itoa(i+1)
	}
	for _, test := range []struct {
		tool, steps, quote string
		unverified         bool
		evidence           string
	}{
		{"", `"s99"`, "Buy now button overlaps", true, `s99; "Buy now button overlaps"`},
		{"", `"s3"`, "slug is taken", false, `s3 "slug is taken"`},
		{"", `"s3"`, "slug  is\\n taken", false, `s3 "slug  is  taken"`},
		{"", `"s2"`, "slug is taken", false, `s2 "slug is taken"`},
		{"", `"s3"`, `\"slug is taken\"`, false, `s3 ""slug is taken""`},
		{"", `"s3"`, "slug … choose another", false, `s3 "slug … choose another"`},
		{"", `"s3"`, "choose ... slug", true, `s3; "choose ... slug"`},
		{"", `"s3"`, "...", true, `s3; "..."`},
		{"", `"s3"`, "Slug is taken", true, `s3; "Slug is taken"`},
		{"", `"s5"`, "slug is taken", true, `s5; "slug is taken"`},
		{"", `"s3","s99"`, "slug is taken", true, `s3 "slug is taken"; s99`},
		{"", `"3"`, "slug is taken", false, `s3 "slug is taken"`},
		{"", `"[s3]"`, "", false, `s3`},
		{"", ``, "", true, ``},
		{"", ``, "slug is taken", false, `s3 "slug is taken"`},
		{"", ``, "no such words", true, ` "no such words"`},
		{"", ``, `\"published\":true`, false, ` ""published":true"`},
		{"", `"s9"`, `a \"b\" c`, false, `s9 "a "b" c"`},
		{"", `"s10"`, `line one line two`, false, `s10 "line one line two"`},
		{"pages_create", `"s3"`, "", false, `s3`},
		{"cms/pages_create", `"s3"`, "", false, `s3`},
		{"cms/pages_invent", `"s3"`, "", true, `s3`},
	} {
		o := ask(t, says(reply("4 4 4", finding("other", test.tool, test.steps, test.quote))), in, "transcript", `{}`)
		if len(o.Findings) != 1 {
			t.Fatalf("%s %q: got %+v", test.steps, test.quote, o)
		}
		f := o.Findings[0]
		var list []string
		for _, e := range f.Evidence {
			one := e.Step
			if e.Quote != "" {
				one += ` "` + e.Quote + `"`
			}
			list = append(list, one)
		}
		got := strings.ReplaceAll(strings.Join(list, "; "), ";  ", "; ")
		if f.Unverified != test.unverified || got != test.evidence {
			t.Errorf("tool %q, steps %s, quote %q: unverified %v, evidence %s; want %v, %s", test.tool, test.steps, test.quote, f.Unverified, got, test.unverified, test.evidence)
		}
		if test.tool != "" && !test.unverified && f.Tool != "cms/pages_create" {
			t.Errorf("tool %q; want its full name", f.Tool)
		}
	}
}

// A grade that cites a step that is not there keeps its number: the reason says so.
func TestGradeCitesWhatIsNotThere(t *testing.T) {
	o := ask(t, says(strings.Replace(reply("4 4 4", ""), `"s2"`, `"s2","s77"`, 1)), trial(), "transcript", `{}`)
	if o.State != eval.Scored || !strings.HasSuffix(o.Reason, " [cites what does not exist: step s77]") || len(o.Evidence) != 1 {
		t.Errorf("got %+v", o)
	}
}

// An agent's answer, arguments and results that are objects are seen as canonical
// JSON text.
func TestObjectsAreCanonicalText(t *testing.T) {
	in := trial()
	in.Answer = "{\n \"b\": [1, {\"y\":2,\"x\":\"\\u00e9\"}],\n \"a\": null }"
	in.Steps = steptest.Steps(`
		call a cms/put { "z": 1, "a": {"c":1.0, "b":true} }
		raw a {"content":[{"type":"text","text":{"message":{"b":1,"a":2}}},{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("QUJD", 1000) + `"},{"type":"resource","resource":{"uri":"x:/","text":"of a resource"}}]}
		call b cms/put "{\"a\":1}"
		raw b {"error":{"message":{"deep":"why"},"code":-1}}
		bad c cms/put {"a":1}{"b":2}
		raw c {"content":[],"structuredContent":{"k":2,"j":1}}
		call d cms/put {}
		raw d not JSON at all
	`)
	m := says(reply("4 4 4", ""))
	ask(t, m, in, "transcript", `{}`)
	got := words(m.Requests[0])
	for _, want := range []string{
		"{\"a\":null,\"b\":[1,{\"x\":\"é\",\"y\":2}]}\n" + fenceMark, "\n{\"a\":{\"b\":true,\"c\":1.0},\"z\":1}\n",
		"\n{\"text\":{\"message\":{\"a\":2,\"b\":1}},\"type\":\"text\"}\n[image image/png, 3 KiB]\nof a resource\n",
		"\n\"{\\\"a\\\":1}\"\n", "\n{\"error\":{\"code\":-1,\"message\":{\"deep\":\"why\"}}}\n",
		"with arguments that are not JSON\n{\"a\":1}{\"b\":2}\n", "\n{\"j\":1,\"k\":2}\n", "\nnot JSON at all\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the request lacks %q", want)
		}
	}
	for _, never := range []string{"[object Object]", "map[", "QUJDQUJD"} {
		if strings.Contains(got, never) {
			t.Errorf("the request has %q", never)
		}
	}
}
