package story

import (
	"net/url"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of a capture.
const (
	maxScale  = 4
	maxHeight = 200_000
)

func (l *loader) captures(st *storyBlock, late *scope, seen map[string]*hclsyntax.Block) []eval.Capture {
	var list []eval.Capture
	for _, b := range st.inner {
		if b.Type != "capture" || !l.firstLabel(b, seen) {
			continue
		}
		l.checkName("capture", b.Labels[0], b.LabelRanges[0])
		list = append(list, l.capture(b, st, late))
	}
	return list
}

func (l *loader) capture(b *hclsyntax.Block, st *storyBlock, late *scope) eval.Capture {
	attrs, _ := l.content(b.Body, &captureBody, b.DefRange())
	c := eval.Capture{
		Name: b.Labels[0], URL: l.prompt(attrs["url"], late), Viewports: l.viewports(attrs, st.scope),
		Scale: l.scale(attrs["scale"], st.scope), FirstScreen: l.boolAttr(attrs["first_screen"], st.scope),
		ExpectText: l.lateText(attrs["expect_text"], late), Hide: l.textsAttr(attrs["hide"], st.scope),
		Origins: l.origins(attrs["origins"], st.scope), Timeout: l.durationAttr(attrs["timeout"], st.scope),
		Source: toSource(b.DefRange()),
	}
	c.MaxHeight, _ = l.intAttr(attrs["max_height"], st.scope, 100, maxHeight)
	c.ExpectURL, _ = l.filledAttr(attrs["expect_url"], st.scope)
	c.WaitFor, _ = l.filledAttr(attrs["wait_for"], st.scope)
	if c.FirstScreen && attrs["max_height"] != nil {
		l.found.fail(attrs["max_height"].NameRange, "height without effect", "With first_screen the viewport alone is taken.")
	}
	return c
}

func (l *loader) scale(a *hclsyntax.Attribute, s *scope) float64 {
	v, ok := l.typed(a, s, cty.Number)
	if !ok {
		return 0
	}
	f, _ := v.AsBigFloat().Float64()
	if f < 0.25 || f > maxScale {
		l.found.fail(a.Expr.Range(), "number out of range", "\"scale\" is device pixels for each CSS pixel, from 0.25 to %d.", maxScale)
		return 0
	}
	return f
}

// origins are globs over scheme://host:port.
func (l *loader) origins(a *hclsyntax.Attribute, s *scope) []string {
	list := l.textsAttr(a, s)
	for i, o := range list {
		scheme, host, ok := strings.Cut(o, "://")
		if !ok || scheme != "http" && scheme != "https" || host == "" || strings.ContainsAny(host, "/?#@") {
			l.found.fail(elementRange(a.Expr, i), "unreadable origin", "An origin is a scheme and a host, such as \"https://fonts.example.com\" or \"https://*.example.com\".")
		}
	}
	return list
}

func (l *loader) viewports(attrs attributes, s *scope) []eval.Viewport {
	one, many := attrs["viewport"], attrs["viewports"]
	if one != nil && many != nil {
		l.found.fail(one.NameRange, "two kinds of viewport", "Set \"viewport\" to one size or \"viewports\" to a list of them.")
	}
	var texts []string
	rng := func(int) hcl.Range { return one.Expr.Range() }
	if many != nil {
		texts = l.textsAttr(many, s)
		rng = func(i int) hcl.Range { return elementRange(many.Expr, i) }
	} else if text, ok := l.textAttr(one, s); ok {
		texts = []string{text}
	}
	var list []eval.Viewport
	for i, t := range texts {
		v, ok := parseViewport(t)
		if !ok {
			l.found.fail(rng(i), "unreadable viewport", "A viewport is WIDTHxHEIGHT in CSS pixels from 100 to 10000, such as \"1280x800\".")
			continue
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		list = []eval.Viewport{viewport}
	}
	return list
}

// browser reads the suite's browser block.
func (l *loader) browser(b *hclsyntax.Block) eval.BrowserConfig {
	attrs, _ := l.content(b.Body, &browserBody, b.DefRange())
	c := eval.BrowserConfig{Source: toSource(b.DefRange())}
	c.Path, _ = l.filledAttr(attrs["path"], l.root)
	c.URL, _ = l.filledAttr(attrs["url"], l.root)
	c.Concurrency, _ = l.intAttr(attrs["concurrency"], l.root, 1, 64)
	if c.Path != "" && c.URL != "" {
		l.found.fail(attrs["url"].NameRange, "two browsers", "Set \"path\" to a program that is started or \"url\" to a browser that runs already.")
	}
	if u, err := url.Parse(c.URL); c.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ws" && u.Scheme != "wss") {
		l.found.fail(attrs["url"].Expr.Range(), "unreadable URL", "\"url\" is a DevTools address such as \"http://127.0.0.1:9222\".")
	}
	return c
}
