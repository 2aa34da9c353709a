package element

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromHTML(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"nested", `<section class="hero wide" id="top">
			<h1>Fly a <em>kite</em> today</h1>
			<a href="/start">Start</a>
		</section>`,
			`{"tag":"section","classes":["hero","wide"],"attributes":{"id":"top"},"children":[` +
				`{"tag":"h1","children":[{"tag":"#text","text":"Fly a "},{"tag":"em","text":"kite"},{"tag":"#text","text":" today"}]},` +
				`{"tag":"a","text":"Start","attributes":{"href":"/start"}}]}`},
		{"entities", `<p>a &lt; b &amp; c – 🪁</p>`, `{"tag":"p","text":"a < b & c – 🪁"}`},
		{"comment dropped", `<div><!-- x --><br></div>`, `{"tag":"div","children":[{"tag":"br"}]}`},
		{"space between inline", `<p><b>a</b> <i>b</i></p>`,
			`{"tag":"p","children":[{"tag":"b","text":"a"},{"tag":"#text","text":" "},{"tag":"i","text":"b"}]}`},
		{"pre keeps white space", "<pre>a\n  b</pre>", `{"tag":"pre","text":"a\n  b"}`},
		{"list", `<collection-list collection="posts" limit="3"><h3>{{title}}</h3></collection-list>`,
			`{"tag":"collection-list","attributes":{"collection":"posts","limit":"3"},"children":[{"tag":"h3","text":"{{title}}"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := FromHTML(tt.src)
			if err != nil {
				t.Fatal(err)
			}
			got := encode(t, e)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			back, err := FromJSON([]byte(got))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, back); diff != "" {
				t.Errorf("FromJSON differs (-html +json):\n%s", diff)
			}
		})
	}
}

func encode(t *testing.T, e *Element) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func TestFromHTMLRefuses(t *testing.T) {
	tests := []struct{ src, want string }{
		{"<header></header><main></main><footer></footer>", "html has 3 root elements (header, main, footer); there must be exactly one: wrap them in one, or call once for each"},
		{"<p>a</p> and text", "html has 2 root elements (p, #text); there must be exactly one: wrap them in one, or call once for each"},
		{"just words", "the root must be an element, not bare text"},
		{"  <!-- nothing -->\n", "html holds no element"},
		{"<div><script>alert(1)</script></div>", "element <script> is not supported"},
		{"<div><style>p{}</style></div>", "element <style> is not supported"},
		{"<div><iframe src='/x'></iframe></div>", "element <iframe> is not supported"},
		{"<div><svg><script></script></svg></div>", "element <svg> is not supported"},
		{`<p style="color:red">x</p>`, `attribute "style" on <p> is not supported: make a class with styles_create and name it in classes`},
		{`<p onclick="x()">x</p>`, `attribute "onclick" on <p> is not supported`},
		{`<a href="javascript:alert(1)">x</a>`, `attribute "href" on <a> holds "javascript:alert(1)", which is not an address a page may use`},
		{`<a href=" JaVa` + "\n" + `Script:alert(1)">x</a>`, `which is not an address a page may use`},
		{`<a href="data:text/html,x">x</a>`, `which is not an address a page may use`},
		{`<p class="md:flex">x</p>`, `class "md:flex" is not a name`},
		{`<collection-list><p>x</p></collection-list>`, `<collection-list> needs the attribute "collection"`},
		{strings.Repeat("<div>", 40), "elements are nested more than 32 deep"},
		{"<div>" + strings.Repeat("<br>", 2000) + "</div>", "more than 2000 elements in one call"},
		{strings.Repeat("x", MaxSource+1), "html is 262145 bytes long; the limit is 262144"},
	}
	for _, tt := range tests {
		_, err := FromHTML(tt.src)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("FromHTML(%.60q) = %v; want %q", tt.src, err, tt.want)
		}
	}
}

func TestFromJSONRefuses(t *testing.T) {
	tests := []struct{ src, want string }{
		{`[{"tag":"p"},{"tag":"p"}]`, "element is a list of 2; there must be exactly one root element: wrap them in one, or call once for each"},
		{`{"tag":"script","text":"x"}`, "element <script> is not supported"},
		{`{"tag":"#text","text":"x"}`, "the root must be an element, not bare text"},
		{`{"tag":"div","children":[null]}`, "a child of <div> is null"},
		{`{"tag":"br","text":"x"}`, "<br> can hold neither text nor children"},
		{`{"tag":"p","style":{}}`, `element: unknown field "style"`},
		{`{"tag":"p","attributes":{"class":"x"}}`, `name classes in the list "classes"`},
		{`{"tag":"div a","text":"x"}`, "element <div a> is not supported"},
		{`{"tag":"p"`, "element: unexpected EOF"},
		{`{"tag":"div","children":[{"tag":"#text","classes":["x"]}]}`, "#text has text only"},
	}
	for _, tt := range tests {
		_, err := FromJSON([]byte(tt.src))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("FromJSON(%s) = %v; want %q", tt.src, err, tt.want)
		}
	}
}

func TestFacts(t *testing.T) {
	e, err := FromHTML(`<section class="b"><h1>One <b>two</b></h1><p class="a b">Three</p><h2>Four</h2></section>`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.PlainText(), "One two Three Four"; got != want {
		t.Errorf("PlainText() = %q; want %q", got, want)
	}
	if diff := cmp.Diff([]Heading{{1, "One two"}, {2, "Four"}}, e.Outline()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, e.ClassNames()); diff != "" {
		t.Error(diff)
	}
	if got := e.Count(); got != 6 {
		t.Errorf("Count() = %d; want 6", got)
	}
}

func FuzzFromHTML(f *testing.F) {
	for _, s := range []string{`<p>a</p>`, `<div class=x><a href=/>b</a>`, `<table><tr><td>x`, `<svg><p>`, "<b><i></b>x</i>", `<p>&#0;\xff`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, err := FromHTML(src)
		if err != nil {
			return
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > MaxSource {
			return
		}
		back, err := FromJSON(data)
		if err != nil {
			t.Fatalf("FromJSON refuses what FromHTML accepts: %v", err)
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzFromJSON(f *testing.F) {
	for _, s := range []string{`{"tag":"p","text":"x"}`, `[]`, `{"tag":"div","children":[{"tag":"p"}]}`, `{"tag":"a","attributes":{"href":"x"}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := FromJSON(data)
		if err == nil && e.Check() != nil {
			t.Fatal("FromJSON accepts what Check refuses")
		}
	})
}
