package render

import (
	"strings"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

const base = "*{box-sizing:border-box}body{margin:0;font-family:system-ui,sans-serif;line-height:1.5;color:#1f2933}img{max-width:100%;height:auto}" +
	"main>article.item{max-width:720px;margin:0 auto;padding:48px 32px}\n"

// Sheet returns the style sheet of a site: each class, then hover states, then ever narrower screens, so that the later
// rule wins.
func Sheet(styles []*site.Style) string {
	var b strings.Builder
	b.WriteString(base)
	for _, s := range styles {
		rule(&b, "."+s.Name, s.Properties)
	}
	for _, s := range styles {
		rule(&b, "."+s.Name+":hover", s.Variants["hover"])
	}
	for _, screen := range []struct{ name, width string }{{"medium", "991px"}, {"small", "767px"}, {"tiny", "479px"}} {
		var m strings.Builder
		for _, s := range styles {
			rule(&m, "."+s.Name, s.Variants[screen.name])
		}
		if m.Len() > 0 {
			b.WriteString("@media (max-width: " + screen.width + ") {\n" + m.String() + "}\n")
		}
	}
	return b.String()
}

func rule(b *strings.Builder, selector string, props map[string]string) {
	if len(props) == 0 {
		return
	}
	b.WriteString(selector + " {")
	for _, name := range keys(props) {
		b.WriteString(" " + name + ": " + props[name] + ";")
	}
	b.WriteString(" }\n")
}

// inherited are the properties that an element takes from its parent, with what the page begins with.
func inherited() map[string]string {
	return map[string]string{
		"color": "#1f2933", "cursor": "auto", "direction": "ltr", "font-family": "system-ui,sans-serif", "font-size": "16px",
		"font-style": "normal", "font-variant": "normal", "font-weight": "400", "letter-spacing": "normal", "line-height": "1.5",
		"list-style": "disc", "text-align": "start", "text-indent": "0", "text-transform": "none", "visibility": "visible",
		"white-space": "normal", "word-spacing": "normal",
	}
}

// initial are the properties that every element begins with anew.
func initial() map[string]string {
	return map[string]string{
		"align-items": "normal", "background-color": "transparent", "background-image": "none", "border": "none", "border-radius": "0",
		"box-shadow": "none", "box-sizing": "border-box", "flex-direction": "row", "float": "none", "gap": "normal",
		"grid-template-columns": "none", "height": "auto", "justify-content": "normal", "margin": "0", "max-height": "none",
		"max-width": "none", "min-height": "auto", "min-width": "auto", "opacity": "1", "overflow": "visible", "padding": "0",
		"position": "static", "text-decoration": "none", "transform": "none", "transition": "none", "vertical-align": "baseline",
		"width": "auto", "z-index": "auto",
	}
}

const inlineTags = " a b br button code em i img input label select small span strong sub sup textarea time "

// Resolved returns, by element id, every style property that is in effect on a wide screen without hover: what the
// element inherits, what its tag begins with and what its classes say. Lists count as <ul>.
func Resolved(body *element.Element, styles []*site.Style) map[string]map[string]string {
	out := map[string]map[string]string{}
	resolve(body, styles, inherited(), out)
	return out
}

func resolve(e *element.Element, styles []*site.Style, parent map[string]string, out map[string]map[string]string) {
	own := initial()
	for name := range inherited() {
		own[name] = parent[name]
	}
	own["display"] = "block"
	if strings.Contains(inlineTags, " "+e.Tag+" ") {
		own["display"] = "inline"
	}
	for _, s := range styles {
		for _, c := range e.Classes {
			if c != s.Name {
				continue
			}
			for name, value := range s.Properties {
				own[name] = value
			}
		}
	}
	if e.Tag != element.TextTag {
		out[e.ID] = own
	}
	for _, c := range e.Children {
		resolve(c, styles, own, out)
	}
}
