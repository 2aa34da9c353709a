package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

func page(name, html string) eval.Page {
	return eval.Page{Name: name, URL: "http://site/" + name, Status: 200, HTML: []byte(html)}
}

func pages(list ...eval.Page) eval.ScoreInput { return eval.ScoreInput{Pages: list} }

// sum is an output in short: its value or state, and the raw number.
func sum(o eval.ScoreOutput) string {
	if o.State != eval.Scored {
		return string(o.State)
	}
	s := strconv.FormatFloat(o.Value, 'g', 4, 64)
	if o.Raw != nil {
		s += " " + strconv.FormatFloat(*o.Raw, 'g', -1, 64)
	}
	return s
}

func TestSignals(t *testing.T) {
	for _, c := range []struct{ signal, html, want, reason string }{
		{"semantic_html_ratio", "<body><main><div><p>x</p></div></main></body>", "0.6667", "2 semantic elements, 1 generic wrapper"},
		{"semantic_html_ratio", "<body></body>", "skipped", "nothing to measure"},
		{"semantic_html_ratio", "<body><div></div></body>", "0", "0 semantic elements, 1 generic wrapper"},
		{"semantic_html_ratio", "<body><template><div></div></template><noscript><div></div></noscript><p>x", "1", "1 semantic element, 0 generic"},
		{"semantic_html_ratio", `<ul role="presentation"><li role=none>x</ul><a>y</a><a href="/">z</a>`, "0.25", "1 semantic element, 3 generic"},
		{"semantic_html_ratio", "<table><tr><td>a<td>b<tr><td>c</table>", "0", "0 semantic elements, 6 generic"},
		{"semantic_html_ratio", "<table><tr><th>a<td>b</table>", "1", "4 semantic elements"},
		{"semantic_html_ratio", "<table><tr><td><table><caption>c</caption><tr><td>b</table></table>", "0.5714", "4 semantic elements, 3 generic"},
		{"semantic_html_ratio", "<svg><g><a></a><text>x</text></g></svg><p>x", "1", "1 semantic element, 0 generic"},
		{"semantic_html_ratio", "<my-card><div>a</div></my-card><eval-frame><p>b</p></eval-frame>", "0.5", "1 semantic element, 1 generic"},

		{"landmarks", "<main>aaa</main><div>b</div>", "0.875", "75 % of the text in landmarks, 1 of 1 page with exactly one main"},
		{"landmarks", "<div>aaa</div>", "0", "home 0 %, 0 landmarks, 0 main"},
		{"landmarks", "<main>aa</main><main>bb</main>", "0.5", "0 of 1 page"},
		{"landmarks", "<main><header>a</header></main><footer>b</footer><section>c</section><section aria-label=s>d</section>", "0.875", "3 landmarks"},
		{"landmarks", `<div role="main">aa</div><div role="navigation">bb</div>`, "1", "2 landmarks"},
		{"landmarks", "<main>a</main><eval-frame><main>b</main></eval-frame>", "0.75", "1 landmark, 1 main"},
		{"landmarks", "<div></div>", "skipped", "no text"},

		{"heading_order", "<h1>a</h1><h2>b</h2><h3>c</h3><h2>d</h2>", "1 0", "0 of 4 headings"},
		{"heading_order", "<h1>a</h1><h4>b</h4>", "0.5 1", `level 4 follows level 1 ("b"): h4 <h4>`},
		{"heading_order", "<h2>a</h2><h1>b</h1>", "0 2", "the first heading is of level 2"},
		{"heading_order", "<h1>a</h1><h1><img alt='b'></h1><h2></h2>", "0.3333 2", "heading without text"},
		{"heading_order", `<h1>a</h1><div role="heading" aria-level="3">b</div>`, "0.5 1", "level 3 follows"},
		{"heading_order", "<p>text</p>", "0 1", "no heading at all"},
		{"heading_order", "", "skipped", "no HTML"},

		{"alt_text", `<img src=a alt="A dog"><img src=b alt=""><img src=c>`, "0.6667 1", "home: no alt text: img <img src=c>"},
		{"alt_text", `<img src="/x/IMG_1.JPG" alt="IMG_1.jpg">`, "0 1", "the alt text is a file name"},
		{"alt_text", `<input type=image><area href=a alt=b><area><img aria-hidden="true"><div aria-hidden=true><img></div>`, "0.5 1", "1 of 2 images"},
		{"alt_text", `<svg role="img"><title>A dog</title></svg><svg role=img aria-label="x"></svg><svg role=img></svg><svg></svg>`, "0.6667 1", "1 of 3 images"},
		{"alt_text", "<p>x", "skipped", "no image"},

		{"labels", `<label for=a>A</label><input id=a><label>B <input></label><input aria-label=c><input title=d><select></select>`, "0.8 1", "field without a label: select <select>"},
		{"labels", `<input placeholder=x><input type=hidden><input type=SUBMIT>`, "0 1", "a placeholder is no label"},
		{"labels", `<input aria-labelledby="n x"><p id=n>Name</p><input aria-labelledby=gone>`, "0.5 1", "aria-labelledby names no element"},
		{"labels", `<label for=a></label><input id=a><label><select><option>text</select></label>`, "0 2", "2 of 2 fields"},
		{"labels", "<p>x", "skipped", "no field"},

		{"links", `<a href="/a">Soup</a><a href="/b"><img alt="Cake"></a><a href="/c"><img></a>`, "0.6667 1", "link without a name"},
		{"links", `<a href="/a">Read more →</a><a href="#">Top</a><a href="JavaScript:void(0)">x</a><a href="">y</a>`, "0 4", `link says only "Read more →"`},
		{"links", `<a href="/a" aria-label="Soup"></a><a href="/b" title="Cake"><svg></svg></a><a href="/c"><svg><title>Tea</title></svg></a><a>x</a>`, "1 0", "0 of 3 links"},
		{"links", "<p>x", "skipped", "no link"},

		{"div_depth", strings.Repeat("<div>", 12) + "x", "1 12", "12 levels of div on home"},
		{"div_depth", strings.Repeat("<div><span>", 24) + "x", "0.5 24", "more than 12"},
		{"div_depth", "<p>x", "1 0", "0 levels"},
		{"div_depth", "<body>", "skipped", "nothing to measure"},
	} {
		got := scorertest.One(t, pages(page("home", c.html)), c.signal, "{}")
		if sum(got) != c.want || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s of %q: got %s, %q; want %s, %q", c.signal, c.html, sum(got), got.Reason, c.want, c.reason)
		}
	}
}

// Two pages that look the same, to the pixel, are built differently.
func TestPixelIdenticalPair(t *testing.T) {
	for _, c := range []struct{ file, ratio, landmarks, headings string }{
		{"semantic", "1", "1", "1 0"},
		{"divs", "0", "0", "0 1"},
	} {
		b, err := os.ReadFile("testdata/" + c.file + ".html")
		if err != nil {
			t.Fatal(err)
		}
		in := pages(page("home", string(b)))
		got := [3]string{}
		for i, o := range scorertest.Run(t, in, scorertest.Use("semantic_html_ratio", ""), scorertest.Use("landmarks", ""), scorertest.Use("heading_order", "")) {
			got[i] = sum(o)
		}
		if want := [3]string{c.ratio, c.landmarks, c.headings}; got != want {
			t.Errorf("%s: got %q; want %q", c.file, got, want)
		}
	}
}

func TestPagesAreAddedByVolume(t *testing.T) {
	small, large := "<p>x</p>", strings.Repeat("<div>x</div>", 99)
	got := scorertest.One(t, pages(page("small", small), page("large", large), page("empty", "<body>")), "semantic_html_ratio", "{}")
	if sum(got) != "0.01" || !strings.Contains(got.Reason, "small 100 %, large 0 %, empty empty") {
		t.Errorf("got %s, %q; want 0.01, not the mean 0.5", sum(got), got.Reason)
	}
	got = scorertest.One(t, pages(page("small", small), page("large", large)), "semantic_html_ratio", `{"pages":["small"]}`)
	if sum(got) != "1" || len(got.Evidence) != 1 || got.Evidence[0].Page != "small" {
		t.Errorf("of one page: got %+v", got)
	}
}

func TestPagesLeftOut(t *testing.T) {
	failed := eval.Page{Name: "login", Error: "not the expected page: Log in", HTML: []byte("<div>x</div>")}
	for _, c := range []struct {
		in             eval.ScoreInput
		params         string
		want, contains string
	}{
		{pages(), "{}", "skipped", "no page was captured"},
		{pages(failed), "{}", "skipped", "no page could be taken: login (not the expected page: Log in)"},
		{pages(page("home", "<p>x"), failed), "{}", "1", "left out: login (not the expected page: Log in)"},
		{pages(page("home", "<p>x")), `{"pages":["hme"]}`, "errored", "no capture is named hme; there are home"},
	} {
		got := scorertest.One(t, c.in, "semantic_html_ratio", c.params)
		if sum(got) != c.want || !strings.Contains(got.Reason, c.contains) {
			t.Errorf("got %s, %q; want %s, %q", sum(got), got.Reason, c.want, c.contains)
		}
	}
}

func TestFindings(t *testing.T) {
	got := scorertest.One(t, pages(page("home", "<img src=a><img src=b>"), page("good", "<img alt=x>")), "alt_text", "{}")
	if len(got.Findings) != 1 {
		t.Fatalf("got %d findings; want one", len(got.Findings))
	}
	f := got.Findings[0]
	if f.Kind != "other" || f.Severity != eval.SeverityMinor || f.Source != "html/alt_text" || f.Evidence[0].Page != "home" || !strings.Contains(f.Text, "(2 of 2)") {
		t.Errorf("got %+v", f)
	}
}

func TestAtLeast(t *testing.T) {
	in := pages(page("home", "<p>x</p><div>y</div>"))
	for _, c := range []struct{ params, want string }{
		{`{"signal":"semantic_html_ratio","min":0.5}`, "1"},
		{`{"signal":"semantic_html_ratio","min":0.6}`, "0"},
		{`{"signal":"alt_text","min":0.6}`, "skipped"},
		{`{"signal":"semantic_html_ratio","min":2}`, "errored"},
		{`{"signal":"other","min":0.5}`, "errored"},
	} {
		if got := scorertest.One(t, in, "at_least", c.params); sum(got) != c.want {
			t.Errorf("%s: got %s, %q; want %s", c.params, sum(got), got.Reason, c.want)
		}
	}
}

func TestAccessibility(t *testing.T) {
	for _, c := range []struct{ tree, want, reason string }{
		{`[{"role":"RootWebArea","name":"Home","children":[{"role":"main","children":[{"role":"heading","name":"A","level":1},{"role":"StaticText","name":"A"},{"role":"button","name":"Go"},{"role":"image","name":"dog"}]}]}]`, "1 0", "0 of 6 accessibility checks"},
		{`[{"role":"RootWebArea","children":[{"role":"button"},{"role":"generic","focusable":true,"children":[{"role":"StaticText","name":"Save"}]},{"role":"generic"}]}]`, "0 5", `can be focused and does not say what it is: generic "Save"`},
		{`{"role":"RootWebArea","name":"x","children":[{"role":"main"},{"role":"link","url":"http://site/a"}]}`, "0.6667 1", "no name: link http://site/a"},
		{`[{"role":"RootWebArea","name":"x","children":[{"role":"button","name":"Go"}]}]`, "0.6667 1", "the page has no main landmark"},
		{`[{"role":"RootWebArea","name":"x","children":[{"role":"main"},{"role":"main"},{"role":"button","name":"Go"}]}]`, "0.6667 1", "the page has 2 main landmarks in place of one"},
		{`[]`, "skipped", "no accessibility check"},
		{`[{"role":"RootWebArea","name":"x"}]`, "skipped", "no accessibility check"},
		{`{"role":`, "skipped", "no accessibility check"},
		{``, "skipped", "no accessibility tree"},
	} {
		p := page("home", "<p>x")
		p.Accessibility = eval.JSON(c.tree)
		got := scorertest.One(t, pages(p), "accessibility", "{}")
		if sum(got) != c.want || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: got %s, %q; want %s, %q", c.tree, sum(got), got.Reason, c.want, c.reason)
		}
	}
}

func uses() []eval.Use {
	var list []eval.Use
	for _, s := range signals {
		list = append(list, scorertest.Use(s.name, ""))
	}
	return list
}

func TestHostileHTML(t *testing.T) {
	for name, html := range map[string]string{
		"a million nodes":   strings.Repeat("<b></b>", 1_000_000),
		"unclosed":          strings.Repeat("<a href=x><h2><label><table><svg role=img>", 20_000),
		"end tags":          strings.Repeat("<i>", 5000) + strings.Repeat("</u></b>", 200_000),
		"nested tables":     strings.Repeat("<table><tr><td>", 3000),
		"huge attribute":    `<img alt="` + strings.Repeat("a ", 2<<20) + `" src='` + strings.Repeat("b", 1<<20),
		"many attributes":   "<div " + strings.Repeat("a=b ", 300_000) + ">",
		"NUL":               "<p\x00>a\x00</p\x00><img\x00 alt=\x00><a href=\x00>\x00</a>",
		"invalid UTF-8":     "<p class=\xff\xfe>\xc3\x28</p><h2>\xff</h2><img src=\xff>",
		"many fields":       strings.Repeat("<input>", 100_000),
		"many names":        strings.Repeat("<a href=x>", 3000) + strings.Repeat("x<b>", 100_000),
		"tags that end not": strings.Repeat("<script>", 100_000) + strings.Repeat("<!--", 100_000),
	} {
		for i, o := range scorertest.Run(t, pages(page("home", html)), uses()...) {
			if o.State == eval.ScoreErrored {
				t.Errorf("%s: %s is errored: %s", name, signals[i].name, o.Reason)
			}
			if len(o.Reason) > 2000 {
				t.Errorf("%s: %s has a reason of %d bytes", name, signals[i].name, len(o.Reason))
			}
		}
	}
}

func FuzzSurvey(f *testing.F) {
	for _, s := range []string{"<a href=x><b></a>", "<label for=a><input id=a>", "<table><th></table></table>", "<h1><h2></h1>", "<svg role=img><title>a", "<eval-frame><main>"} {
		f.Add([]byte(s), []byte(`[{"role":"button"}]`))
	}
	f.Fuzz(func(t *testing.T, html, tree []byte) {
		p := page("home", string(html))
		p.Accessibility = tree
		for _, o := range scorertest.Run(t, pages(p), uses()...) {
			if o.State == eval.ScoreErrored {
				t.Fatal(o.Reason)
			}
		}
	})
}
