package capture

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Rendered text is in the HTML, whatever holds it; what is not rendered is not.
func TestText(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, nil)
	p := take(t, b, job("text", s.URL+"/text.html"))
	if p.Error != "" || p.Status != 200 || p.Title != "Text & more" {
		t.Fatalf("page: error %q, status %d, title %q", p.Error, p.Status, p.Title)
	}
	html := string(p.HTML)
	for _, want := range []string{
		"<h1>shadow heading</h1>", `<span slot="name">slotted name</span>`, "<span>slotted rest</span>", "fallback text",
		"<h3>closed heading</h3>", "<h2>declared heading</h2>", "light text",
		`<eval-frame data-src="about:srcdoc"><main><b>price 42</b>`, "<section>inner text</section>", `<text y="15">svg label</text>`,
		"<b style=\"visibility: visible\">seen inside</b>", "<summary>summary text</summary>", "typed</textarea>", `<input value="new">`,
		"1 &lt; 2 &amp; \"quoted\"", `<input name="attributes" value="c1">`, `<form id="clobber">`, "<title>Text &amp; more</title>",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("HTML lacks %s", want)
		}
	}
	for _, not := range []string{"template heading", "Sold out", "hidden attribute", "invisible", "details text", "generated\"", "no script", "script text", "unslotted", "no name", "<slot"} {
		if strings.Contains(html, not) {
			t.Errorf("HTML has %s", not)
		}
	}
	if t.Failed() {
		t.Log(html)
	}
	if n := strings.Count(html, "slotted name"); n != 1 {
		t.Errorf("slotted text is there %d times", n)
	}
	var tree []*axNode
	if err := json.Unmarshal(p.Accessibility, &tree); err != nil {
		t.Fatal(err)
	}
	if got, want := headings(tree), []string{"1 shadow heading", "2 declared heading", "3 closed heading"}; !slices.Equal(got, want) {
		t.Errorf("headings of the accessibility tree: %q; want %q", got, want)
	}
}

func headings(tree []*axNode) []string {
	var list []string
	for _, n := range tree {
		if n.Role == "heading" {
			list = append(list, string(rune('0'+n.Level))+" "+n.Name)
		}
		list = append(list, headings(n.Children)...)
	}
	slices.Sort(list)
	return list
}

func TestBounds(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, nil)
	cases := []struct{ name, body, html, unsettled string }{
		{"empty", "", "<html><head></head><body></body></html>", ""},
		{"many elements", "<body><script>for (let i = 0; i < 3e5; i++) document.body.append(document.createElement('i'))</script>", "<i></i><i></i>", ""},
		{"huge", "<p id=p></p><script>p.textContent = 'x'.repeat(20 << 20)</script><p>after</p>", "xxxx", "the rendered HTML is cut (size)"},
		{"deep", "<body><script>let e = document.body; for (let i = 0; i < 3000; i++) { const d = document.createElement('b'); e.append(d); e = d }; e.textContent = 'bottom'</script>", "<b><b><b>", "the rendered HTML is cut (depth)"},
		{"title", "<script>document.title = 'T'.repeat(50 << 20)</script><p>long title</p>", "long title", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s.Config.Handler = html(c.body)
			j := job("bounds-"+c.name, s.URL)
			j.MaxHeight = 2000
			p := take(t, b, j)
			if p.Error != "" {
				t.Fatalf("error %q", p.Error)
			}
			if !strings.Contains(string(p.HTML), c.html) {
				t.Errorf("HTML lacks %q: %.300s", c.html, p.HTML)
			}
			if len(p.HTML) > maxHTML+100 || len(p.Title) > 1000 || len(p.Accessibility) > 64<<20 {
				t.Errorf("%d bytes of HTML, %d of title, %d of tree", len(p.HTML), len(p.Title), len(p.Accessibility))
			}
			if got := strings.Join(p.Unsettled, "\n"); !strings.Contains(got, c.unsettled) {
				t.Errorf("unsettled %q lacks %q", got, c.unsettled)
			}
		})
	}
}
