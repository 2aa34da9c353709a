package render

import (
	"cmp"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

// list renders a collection list: its children once for each item, as the entries of a <ul>. A list inside a list stays
// empty.
func (w *writer) list(e *element.Element) {
	if w.scope != nil {
		return
	}
	w.open("ul", e)
	for _, c := range w.view.Content.Collections {
		if c.Slug != e.Attributes["collection"] {
			continue
		}
		for _, it := range chosen(c, e.Attributes["sort"], e.Attributes["limit"]) {
			w.scope = w.view.values(c, it)
			w.b.WriteString("<li>" + html.EscapeString(bind(e.Text, w.scope)))
			w.children(e.Children)
			w.b.WriteString("</li>")
		}
	}
	w.scope = nil
	w.b.WriteString("</ul>")
}

// chosen sorts the items by a field (with - before it: the greatest first) and takes the first limit of them.
func chosen(c *site.Collection, by, limit string) []*site.Item {
	items := slices.Clone(c.Items)
	if field, down := strings.CutPrefix(by, "-"); field != "" {
		slices.SortStableFunc(items, func(a, b *site.Item) int {
			order := compare(a.Fields[field], b.Fields[field])
			if down {
				return -order
			}
			return order
		})
	}
	if n, err := strconv.Atoi(limit); err == nil && n >= 0 && n < len(items) {
		items = items[:n]
	}
	return items
}

func compare(a, b any) int {
	x, xok := a.(float64)
	y, yok := b.(float64)
	if xok && yok {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(plain(a), plain(b))
}

func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case map[string]any:
		s, _ := v["url"].(string)
		return s
	}
	return ""
}

// values are what the bindings of an item stand for.
func (v View) values(c *site.Collection, it *site.Item) map[string]string {
	out := map[string]string{"slug": it.Slug, "url": "/" + url.PathEscape(c.Slug) + "/" + url.PathEscape(it.Slug)}
	for _, f := range c.Fields {
		out[f.Slug] = v.value(f, it)
		if m, ok := it.Fields[f.Slug].(map[string]any); ok {
			out[f.Slug+"_alt"], _ = m["alt"].(string)
		}
	}
	return out
}

func (v View) value(f site.Field, it *site.Item) string {
	text := plain(it.Fields[f.Slug])
	switch f.Type {
	case "richtext":
		roots, err := element.Fragment(text)
		if err != nil {
			return ""
		}
		return (&element.Element{Children: roots}).PlainText()
	case "reference":
		for _, c := range v.Content.Collections {
			for _, other := range c.Items {
				if c.ID == f.CollectionID && other.ID == text {
					return other.Title(c.Fields)
				}
			}
		}
		return ""
	}
	return text
}

// item renders an item's own page between the header and the footer of the home page.
func (v View) item(c *site.Collection, it *site.Item) string {
	title := it.Title(c.Fields)
	w := &writer{view: v}
	w.frame("header")
	w.b.WriteString("<main><article class=\"item\"><h1>" + html.EscapeString(title) + "</h1>")
	w.facts(c, it, title)
	for _, f := range c.Fields {
		w.body(f, it)
	}
	w.b.WriteString("</article></main>")
	w.frame("footer")
	return v.document(title+" | "+v.Name, "", w.b.String())
}

func (w *writer) frame(tag string) {
	for _, p := range w.view.Content.Pages {
		if p.Slug != "" {
			continue
		}
		for _, e := range p.Body.Children {
			if e.Tag == tag {
				w.element(e)
			}
		}
	}
}

func (w *writer) facts(c *site.Collection, it *site.Item, title string) {
	var b strings.Builder
	for _, f := range c.Fields {
		text := w.view.value(f, it)
		if text == "" || text == title || f.Type == "richtext" || f.Type == "image" {
			continue
		}
		shown := html.EscapeString(text)
		if f.Type == "link" && element.SafeURL(text) {
			if strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") {
				text = w.view.Base + text
			}
			shown = `<a href="` + html.EscapeString(text) + `">` + shown + "</a>"
		}
		b.WriteString("<dt>" + html.EscapeString(f.Name) + "</dt><dd>" + shown + "</dd>")
	}
	if b.Len() > 0 {
		w.b.WriteString(`<dl class="item-fields">` + b.String() + "</dl>")
	}
}

func (w *writer) body(f site.Field, it *site.Item) {
	switch f.Type {
	case "richtext":
		roots, err := element.Fragment(plain(it.Fields[f.Slug]))
		if err != nil || len(roots) == 0 {
			return
		}
		w.b.WriteString(`<div class="item-body">`)
		w.children(roots)
		w.b.WriteString("</div>")
	case "image":
		if m, ok := it.Fields[f.Slug].(map[string]any); ok {
			alt, _ := m["alt"].(string)
			w.element(&element.Element{Tag: "img", Attributes: map[string]string{"src": plain(m), "alt": alt}})
		}
	}
}
