package markup

import (
	"strings"
	"testing"
)

// recorder writes down what it is told.
type recorder struct {
	sb          strings.Builder
	open, close int
	deepest     int
}

func (r *recorder) Open(e *Element) {
	r.open++
	r.deepest = max(r.deepest, e.Depth)
	r.sb.WriteString("<" + e.Tag.Name)
	for _, a := range e.attributes {
		r.sb.WriteString(" " + strings.ToLower(string(a.key)) + "=" + string(unescape(a.value)))
	}
	r.sb.WriteString(">")
}

func (r *recorder) Text(_ *Element, text []byte) { r.sb.Write(text) }

func (r *recorder) Close(e *Element) {
	r.close++
	r.sb.WriteString("</" + e.Tag.Name + ">")
}

func TestWalk(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"a &amp; b", "a & b"},
		{"<!DOCTYPE html><html><body><p>x</p></body></html>", "<html><body><p>x</p></body></html>"},
		{"<!-- <p> --><p>x", "<p>x</p>"},
		{"<DIV ID=a Class='b &quot;c&quot;'>x</Div>", `<div id=a class=b "c">x</div>`},
		{"<p>a<p>b", "<p>a</p><p>b</p>"},
		{"<p><div>a</div></p>", "<p><div>a</div></p>"},
		{"<ul><li>a<ul><li>b</ul><li>c</ul>", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"},
		{"<dl><dt>a<dd>b<dt>c</dl>", "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>"},
		{"<select><option>a<option>b</select>", "<select><option>a</option><option>b</option></select>"},
		{"<table><tr><td>a<td><table><tr><td>b</table><tr><td>c</table>",
			"<table><tr><td>a</td><td><table><tr><td>b</td></tr></table></td></tr><tr><td>c</td></tr></table>"},
		{"<b><i>a</b>b</i>", "<b><i>a</i></b>b"},
		{"</p></p>a</div>", "a"},
		{"<br><img src=a><div/>x", "<br></br><img src=a></img><div>x</div>"},
		{"<svg><path d=\"m\"/><g><title>t</title></g></svg>x", "<svg><path d=m></path><g><title>t</title></g></svg>x"},
		{"<template><h1>no</h1></template><noscript><p>no</p></noscript>x", "<template></template><noscript></noscript>x"},
		{"<template><template></template><p>no</template>x", "<template></template>x"},
		{"<script>if (a < b) '</p>'</script>x<style>p > b {}</style>", "<script></script>x<style></style>"},
		{"<iframe src=a><p>no</p></iframe><eval-frame><p>x</p></eval-frame>", "<iframe src=a></iframe><eval-frame><p>x</p></eval-frame>"},
		{"<textarea>\n<p>a</textarea>", "<textarea>\n<p>a</textarea>"},
		{"<p title=\"a", ""},
		{"a < b <", "a < b <"},
		{"<p>a\x00b\xff</p>", "<p>a\x00b\xff</p>"},
	} {
		r := &recorder{}
		Walk([]byte(c.in), nil, r)
		if got := r.sb.String(); got != c.want {
			t.Errorf("Walk(%q)\ngot  %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestWalkDeep(t *testing.T) {
	r := &recorder{}
	Walk([]byte(strings.Repeat("<div>", 100_000)+"x"+strings.Repeat("</span></div>", 100_000)), nil, r)
	if r.open != 100_000 || r.close != 100_000 || r.deepest != maxDepth {
		t.Errorf("got %d opened, %d closed, %d deep; want 100000, 100000, %d", r.open, r.close, r.deepest, maxDepth)
	}
}

type placer struct{ places []string }

func (p *placer) Open(e *Element) {
	if e.Tag.Name == "img" {
		p.places = append(p.places, e.Place())
	}
}
func (p *placer) Text(*Element, []byte) {}
func (p *placer) Close(*Element)        {}

func TestPlace(t *testing.T) {
	p := &placer{}
	Walk([]byte(`<!-- c --><body><div id="app" class=x><ul class="nav wide"><li>&lt;<img
		src="a.png"></li></ul></div><img alt="`+strings.Repeat("a", 5000)+`">`), nil, p)
	want := []string{
		`div#app > ul.nav > li > img <img src="a.png">`,
		`body > img <img alt="` + strings.Repeat("a", 90) + "…",
	}
	if len(p.places) != 2 || p.places[0] != want[0] || p.places[1] != want[1] {
		t.Errorf("got %q\nwant %q", p.places, want)
	}
}

func FuzzWalk(f *testing.F) {
	for _, s := range []string{"<p>a<p>b", "<svg><a/></svg>", "<table><tr><td><table>", "<template><b>", "<a href=\"x", "</a></b>", "<!--", "\x00\xff<\x00p\xff=\x00>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &recorder{}
		Walk(b, nil, r)
		if r.open != r.close {
			t.Fatalf("%d opened, %d closed", r.open, r.close)
		}
	})
}
