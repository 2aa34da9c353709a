package story

import (
	"strings"

	"net/url"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxSamples bounds how often a gold is graded.
const maxSamples = 100

// gold reads a gold block; nil where it reported an error.
func (l *loader) gold(b *hclsyntax.Block, st *storyBlock) *eval.Gold {
	attrs, _ := l.content(b.Body, &goldBody, b.DefRange())
	r, ok := l.result(b, attrs, st)
	g := &eval.Gold{Result: r, Source: toSource(b.DefRange())}
	g.Samples, _ = l.intAttr(attrs["samples"], st.scope, 1, maxSamples)
	g.Ceiling, _ = l.filledAttr(attrs["ceiling"], st.scope)
	if module, _, _ := strings.Cut(g.Ceiling, "/"); l.modules[module] != nil {
		l.modules[module].used = true
	}
	if ok && r == (eval.Result{}) {
		l.found.fail(b.DefRange(), "empty gold", "Set \"script\" to a file of tool calls, \"files\" to a folder of files, or \"url\" to something that exists.")
		ok = false
	}
	if f := nested(b, "floor"); f != nil {
		floorAttrs, _ := l.content(f.Body, &floorBody, f.DefRange())
		floor, fine := l.result(f, floorAttrs, st)
		g.Floor, ok = &floor, ok && fine
	}
	if !ok {
		return nil
	}
	return g
}

// result reads how a gold or a floor is built.
func (l *loader) result(b *hclsyntax.Block, attrs attributes, st *storyBlock) (r eval.Result, ok bool) {
	ok = true
	var first *hclsyntax.Attribute
	for _, name := range []string{"script", "files", "url"} {
		a := attrs[name]
		if a == nil {
			continue
		}
		if first != nil {
			l.found.fail(a.NameRange, "built twice", "%q says already how it is built. Keep one of them.", first.Name)
			return r, false
		}
		first = a
		text, filled := l.filledAttr(a, st.scope)
		ok = ok && filled && l.built(a, text, &r)
	}
	return r, ok
}

func (l *loader) built(a *hclsyntax.Attribute, text string, r *eval.Result) bool {
	switch a.Name {
	case "script":
		if _, err := l.files.read(text); err != nil {
			l.found.fail(a.Expr.Range(), "script cannot be read", "%v.", err)
			return false
		}
		r.Script = l.files.absolute(text)
	case "files":
		if !l.folder(a, text) {
			return false
		}
		r.Files = l.files.absolute(text)
	case "url":
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			l.found.fail(a.Expr.Range(), "unreadable URL", "\"url\" is an address such as \"https://example.com/recipes\".")
			return false
		}
		r.URL = text
	}
	return true
}

// folder reads a folder of files, so that the run keeps them and their digests.
func (l *loader) folder(a *hclsyntax.Attribute, name string) bool {
	list, err := l.files.match(name, "**")
	if err == nil && len(list) == 0 {
		l.found.fail(a.Expr.Range(), "empty folder", "%q has no files.", name)
		return false
	}
	for _, f := range list {
		if err == nil {
			_, err = l.files.read(name + "/" + f)
		}
	}
	if err != nil {
		l.found.fail(a.Expr.Range(), "files cannot be read", "%v.", err)
		return false
	}
	return true
}
