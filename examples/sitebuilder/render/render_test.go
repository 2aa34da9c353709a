package render

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

func view() View {
	posts := &site.Collection{ID: "col_1", Name: "Posts", Slug: "posts",
		Fields: []site.Field{{Name: "Title", Slug: "title", Type: "text"}, {Name: "Stars", Slug: "stars", Type: "number"},
			{Name: "Body", Slug: "body", Type: "richtext"}, {Name: "Photo", Slug: "photo", Type: "image"},
			{Name: "See", Slug: "see", Type: "link"}, {Name: "By", Slug: "by", Type: "reference", CollectionID: "col_2"}},
		Items: []*site.Item{
			{ID: "item_1", Slug: "a-b", Fields: map[string]any{"title": "A & <B>", "stars": 2.5, "body": "<p>Hi <em>you</em></p>", "by": "item_9",
				"photo": map[string]any{"url": "/a.png", "alt": "An A"}, "see": "/about"}},
			{ID: "item_2", Slug: "c", Fields: map[string]any{"title": "C", "stars": 10.0}},
		}}
	authors := &site.Collection{ID: "col_2", Slug: "authors", Fields: []site.Field{{Name: "Name", Slug: "name", Type: "text"}},
		Items: []*site.Item{{ID: "item_9", Slug: "ada", Fields: map[string]any{"name": "Ada"}}}}
	return View{Name: "Demo", Content: &site.Content{Collections: []*site.Collection{posts, authors}}}
}

func TestElement(t *testing.T) {
	tests := []struct{ name, base, src, want string }{
		{"escaped", "", `<p class="b a" title='"q" &amp; <x>'>1 &lt; 2 &amp; "3"</p>`,
			`<p class="b a" title="&#34;q&#34; &amp; &lt;x&gt;">1 &lt; 2 &amp; &#34;3&#34;</p>`},
		{"void and mixed", "", `<p>a<br><b>c</b> d</p>`, `<p>a<br><b>c</b> d</p>`},
		{"links under a prefix", "/preview", `<p><a href="/x">a</a><a href="//h/x">b</a><a href="https://h/x">c</a><img src="/i.png"></p>`,
			`<p><a href="/preview/x">a</a><a href="//h/x">b</a><a href="https://h/x">c</a><img src="/preview/i.png"></p>`},
		{"pre", "", "<pre>\n\n a</pre>", "<pre>\n\n a</pre>"},
		{"no binding outside a list", "", `<p>{{title}}</p>`, `<p>{{title}}</p>`},
		{"list", "/preview", `<collection-list class="grid" collection="posts"><h3><a href="{{url}}">{{title}}</a></h3><p>{{stars}}, {{by}}, {{body}}{{nothing}} {{</p><img src="{{photo}}" alt="{{photo_alt}}"></collection-list>`,
			`<ul class="grid" data-collection="posts">` +
				`<li><h3><a href="/preview/posts/a-b">A &amp; &lt;B&gt;</a></h3><p>2.5, Ada, Hi you {{</p><img alt="An A" src="/preview/a.png"></li>` +
				`<li><h3><a href="/preview/posts/c">C</a></h3><p>10, ,  {{</p><img alt="" src=""></li></ul>`},
		{"sorted by number, limited", "", `<collection-list collection="posts" sort="-stars" limit="1"><p>{{title}}</p></collection-list>`,
			`<ul data-collection="posts"><li><p>C</p></li></ul>`},
		{"unknown collection", "", `<collection-list collection="gone"><p>{{title}}</p></collection-list>`, `<ul data-collection="gone"></ul>`},
		{"list in a list", "", `<collection-list collection="authors"><collection-list collection="posts"><p>x</p></collection-list></collection-list>`,
			`<ul data-collection="authors"><li></li></ul>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := element.FromHTML(tt.src)
			if err != nil {
				t.Fatal(err)
			}
			v := view()
			v.Base = tt.base
			if diff := cmp.Diff(tt.want, v.Element(e)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBindingCannotMakeAScript(t *testing.T) {
	v := view()
	v.Content.Collections[0].Items = []*site.Item{{Slug: "x", Fields: map[string]any{"title": "javascript:alert(1)"}}}
	e, err := element.FromHTML(`<collection-list collection="posts"><a href="{{title}}">go</a></collection-list>`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := v.Element(e), `<ul data-collection="posts"><li><a>go</a></li></ul>`; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

func TestDocument(t *testing.T) {
	v := view()
	header, err := element.FromHTML(`<header><a href="/">Demo</a></header>`)
	if err != nil {
		t.Fatal(err)
	}
	v.Content.Pages = []*site.Page{
		{Title: "Home", Description: `So "good"`, Body: &element.Element{Tag: "body", Children: []*element.Element{header}}},
		{Title: "About", Slug: "about", SEOTitle: "About <us>", Body: &element.Element{Tag: "body"}},
	}
	v.Content.Styles = []*site.Style{{Name: "hero", Properties: map[string]string{"padding": "4px", "color": "red"},
		Variants: map[string]map[string]string{"hover": {"color": "blue"}, "small": {"padding": "0"}}}}
	got, ok := v.Document("/")
	want := "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<title>Home | Demo</title>\n<meta name=\"description\" content=\"So &#34;good&#34;\">\n<style>\n" + base +
		".hero { color: red; padding: 4px; }\n.hero:hover { color: blue; }\n@media (max-width: 767px) {\n.hero { padding: 0; }\n}\n" +
		"</style>\n</head>\n<body>\n<header><a href=\"/\">Demo</a></header>\n</body>\n</html>\n"
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Error(ok, diff)
	}
	if got, ok := v.Document("/about/"); !ok || !strings.Contains(got, "<title>About &lt;us&gt;</title>") {
		t.Errorf("Document(/about/) = %v, %s", ok, got)
	}
	got, ok = v.Document("/posts/a-b")
	body := `<header><a href="/">Demo</a></header><main><article class="item"><h1>A &amp; &lt;B&gt;</h1>` +
		`<dl class="item-fields"><dt>Stars</dt><dd>2.5</dd><dt>See</dt><dd><a href="/about">/about</a></dd><dt>By</dt><dd>Ada</dd></dl>` +
		`<div class="item-body"><p>Hi <em>you</em></p></div><img alt="An A" src="/a.png"></article></main>`
	if !ok || !strings.Contains(got, "<body>\n"+body+"\n</body>") {
		t.Errorf("item page = %v, %s; want it to hold %s", ok, got, body)
	}
	for _, path := range []string{"/nothing", "/posts", "/posts/nothing", "/posts/a-b/c", "/authors/a-b"} {
		if _, ok := v.Document(path); ok {
			t.Errorf("Document(%q) was found", path)
		}
	}
}

func TestLongListEnds(t *testing.T) {
	v := view()
	for range 2000 {
		v.Content.Collections[0].Items = append(v.Content.Collections[0].Items, &site.Item{Slug: "x", Fields: map[string]any{"title": strings.Repeat("x", 30000)}})
	}
	e, err := element.FromHTML(`<collection-list collection="posts"><p>{{title}}</p></collection-list>`)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(v.Element(e)); n < maxDocument || n > maxDocument+200000 {
		t.Errorf("rendered %d bytes; want it to end soon after %d", n, maxDocument)
	}
}

func TestResolved(t *testing.T) {
	body := &element.Element{ID: "1", Tag: "body", Children: []*element.Element{
		{ID: "2", Tag: "section", Classes: []string{"hero"}, Children: []*element.Element{{ID: "3", Tag: "a"}}}}}
	got := Resolved(body, []*site.Style{{Name: "hero", Properties: map[string]string{"color": "red", "padding": "9px"}}})
	for _, tt := range [][3]string{{"1", "color", "#1f2933"}, {"2", "color", "red"}, {"2", "padding", "9px"}, {"2", "display", "block"},
		{"3", "color", "red"}, {"3", "padding", "0"}, {"3", "display", "inline"}} {
		if v := got[tt[0]][tt[1]]; v != tt[2] {
			t.Errorf("element %s has %s %q; want %q", tt[0], tt[1], v, tt[2])
		}
	}
}

// FuzzPage puts what an agent may write on a page and looks at the HTML with a tokenizer: there is no tag that a page
// may not have, no handler and no address that runs code.
func FuzzPage(f *testing.F) {
	for _, s := range [][2]string{{`<p title="x">a</p>`, "t"}, {`<collection-list collection=posts><a href="{{title}}">{{body}}`, `" onload="x`},
		{`<textarea></textarea>`, `</textarea><script>`}, {`<pre>{{title}}</pre>`, "\n"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, src, title string) {
		e, err := element.FromHTML(src)
		if err != nil {
			return
		}
		v := view()
		v.Content.Collections[0].Items[0].Fields["title"] = title
		z := html.NewTokenizer(strings.NewReader(v.Element(e)))
		for z.Next() != html.ErrorToken {
			tok := z.Token()
			if tok.Type != html.StartTagToken && tok.Type != html.SelfClosingTagToken {
				continue
			}
			if slices.Contains([]string{"script", "style", "iframe", "svg", "object"}, tok.Data) {
				t.Fatalf("a page holds <%s>", tok.Data)
			}
			for _, a := range tok.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || !element.SafeAttribute(a.Key, a.Val) {
					t.Fatalf("a page holds %s=%q", a.Key, a.Val)
				}
			}
		}
	})
}
