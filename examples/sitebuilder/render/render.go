// Package render turns a site's content into HTML documents: the pages, and one page for each item of a collection.
// All text and attributes are escaped and addresses are checked again after bindings are filled in, so nothing that an
// agent wrote can run as a script. The package serves nothing. Start at [Document].
package render

import (
	"html"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

// maxDocument ends a page that repeats its lists without measure.
const maxDocument = 8 << 20

// A View is one side of a site, draft or live, as seen under an address prefix.
type View struct {
	Name    string
	Content *site.Content
	// Base stands before every address on the site: "" for the live site, "/preview" for the draft.
	Base string
}

// Document returns the HTML document at the path ("/", "/about", "/blog-posts/reading-the-wind"), or false.
func (v View) Document(path string) (string, bool) {
	slug := strings.Trim(path, "/")
	for _, p := range v.Content.Pages {
		if p.Slug == slug {
			return v.page(p), true
		}
	}
	collection, item, ok := strings.Cut(slug, "/")
	if !ok {
		return "", false
	}
	for _, c := range v.Content.Collections {
		if c.Slug != collection {
			continue
		}
		for _, it := range c.Items {
			if it.Slug == item {
				return v.item(c, it), true
			}
		}
	}
	return "", false
}

func (v View) page(p *site.Page) string {
	title := p.SEOTitle
	if title == "" {
		title = p.Title + " | " + v.Name
	}
	w := &writer{view: v}
	w.children(p.Body.Children)
	return v.document(title, p.Description, w.b.String())
}

func (v View) document(title, description, body string) string {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>")
	b.WriteString(html.EscapeString(title))
	b.WriteString("</title>\n")
	if description != "" {
		b.WriteString(`<meta name="description" content="` + html.EscapeString(description) + "\">\n")
	}
	b.WriteString("<style>\n" + Sheet(v.Content.Styles) + "</style>\n</head>\n<body>\n" + body + "\n</body>\n</html>\n")
	return b.String()
}

// Element returns the HTML of one element of the view.
func (v View) Element(e *element.Element) string {
	w := &writer{view: v}
	w.element(e)
	return w.b.String()
}

// A writer renders elements. scope holds the values of the item that a collection list is at, or is nil.
type writer struct {
	view  View
	b     strings.Builder
	scope map[string]string
}

func (w *writer) children(list []*element.Element) {
	for _, e := range list {
		w.element(e)
	}
}

func (w *writer) element(e *element.Element) {
	if w.b.Len() > maxDocument {
		return
	}
	switch e.Tag {
	case element.TextTag:
		w.b.WriteString(html.EscapeString(bind(e.Text, w.scope)))
		return
	case element.ListTag:
		w.list(e)
		return
	}
	w.open(e.Tag, e)
	if element.Void(e.Tag) {
		return
	}
	if e.Tag == "pre" || e.Tag == "textarea" {
		w.b.WriteString("\n") // HTML drops one line break here, so one of the text's own would be lost.
	}
	w.b.WriteString(html.EscapeString(bind(e.Text, w.scope)))
	w.children(e.Children)
	w.b.WriteString("</" + e.Tag + ">")
}

func (w *writer) open(tag string, e *element.Element) {
	w.b.WriteString("<" + tag)
	if len(e.Classes) > 0 {
		w.b.WriteString(` class="` + html.EscapeString(strings.Join(e.Classes, " ")) + `"`)
	}
	for _, name := range keys(e.Attributes) {
		if e.Tag == element.ListTag && (name == "limit" || name == "sort") {
			continue
		}
		value := bind(e.Attributes[name], w.scope)
		if !element.SafeAttribute(name, value) {
			continue
		}
		if (name == "href" || name == "src" || name == "action") && strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "//") {
			value = w.view.Base + value
		}
		if e.Tag == element.ListTag && name == "collection" {
			name = "data-collection"
		}
		w.b.WriteString(" " + name + `="` + html.EscapeString(value) + `"`)
	}
	w.b.WriteString(">")
}

// bind replaces each {{field}} by the item's value. Outside a collection list the text stays as it is.
func bind(text string, scope map[string]string) string {
	if scope == nil || !strings.Contains(text, "{{") {
		return text
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if !closed {
			b.WriteString("{{" + rest)
			return b.String()
		}
		b.WriteString(scope[strings.TrimSpace(name)])
		text = after
	}
}

func keys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
