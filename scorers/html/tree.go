package main

import (
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

const accessibilityDoc = "What the browser tells assistive technology, from the captured accessibility tree: checks that hold, as a share of all, over all pages. " +
	"Each node of an interactive role (button, link, text and other fields, menu items, tabs, switches, sliders) has a name; each image has a name; each heading has a name; " +
	"each node that can be focused has a role that says what it is (not generic); each page has a title, one main landmark, and a heading if it has a text. " +
	"The raw value is how many do not hold; each page with such is a finding (other, minor)."

func accessibility(pages []*facts, _ limits) measured {
	of := func(f *facts) *tally { return &f.tree }
	m := total(pages, "accessibility check", "that do not hold", of)
	m.findings = findings(pages, of, "the accessibility tree has nodes that say nothing", "Give controls, images and headings a name, and use elements that say what they are.")
	return m
}

// interactive are the roles of what can be operated, in lower case.
var interactive = map[string]bool{
	"button": true, "popupbutton": true, "togglebutton": true, "link": true, "textbox": true, "textfield": true, "searchbox": true,
	"combobox": true, "comboboxmenubutton": true, "comboboxselect": true, "listbox": true, "checkbox": true, "radio": true, "radiobutton": true, "switch": true, "slider": true,
	"spinbutton": true, "menuitem": true, "menuitemcheckbox": true, "menuitemradio": true, "tab": true, "treeitem": true,
	"datetime": true, "date": true, "inputtime": true, "colorwell": true, "disclosuretriangle": true,
}

// grower gathers the checks of one tree.
type grower struct {
	*tally
	mains, headings, texts int
}

// treeFacts reads a page's accessibility tree. What is no tree has no checks.
func treeFacts(page *eval.Page) *facts {
	f := &facts{page: page.Name}
	root, err := tree.Parse(page.Accessibility)
	if err != nil {
		return f
	}
	g := grower{tally: &f.tree}
	title := ""
	for v := range root.Walk {
		if v.Kind() != jsonv.Object {
			continue
		}
		if r := strings.ToLower(v.Get("role").Text()); r == "rootwebarea" || r == "webarea" || r == "document" {
			if title == "" {
				title = strings.TrimSpace(v.Get("name").Text())
			}
		} else if r != "" {
			g.node(v, r)
		}
	}
	if f.tree.all == 0 && g.texts == 0 {
		return f
	}
	f.tree.add(unless(title != "", "the page has no title"), none)
	f.tree.add(unless(g.mains == 1, mains(g.mains)), none)
	if g.texts > 0 {
		f.tree.add(unless(g.headings > 0, "the page has no heading"), none)
	}
	return f
}

// mains says that a page has not one main landmark.
func mains(n int) string {
	if n == 0 {
		return "the page has no main landmark"
	}
	return "the page has " + text.Int(n) + " main landmarks in place of one"
}

func none() string { return "whole page" }

// node checks a node by its role.
func (g *grower) node(v tree.Value, r string) {
	name := func() bool { return strings.TrimSpace(v.Get("name").Text()) != "" }
	place := func() string { return placeOf(v, r) }
	switch {
	case interactive[r]:
		g.add(unless(name(), "no name"), place)
	case r == "image" || r == "img" || r == "graphicsdocument":
		g.add(unless(name(), "no name"), place)
	case r == "heading":
		g.headings++
		g.add(unless(name(), "no name"), place)
	case r == "main":
		g.mains++
	case r == "statictext" || r == "text":
		g.texts++
	case r == "generic" || r == "none" || r == "group" && !name():
		if focusable, _ := v.Get("focusable").JSON().Bool(); focusable {
			g.add("can be focused and does not say what it is", place)
		}
	}
}

// placeOf says what a node is: its role, value and the first text in it.
func placeOf(v tree.Value, r string) string {
	const looked, limit = 50, 60
	said, n := r, 0
	if url := v.Get("url").Text(); url != "" {
		return said + " " + tree.Cut(url, limit)
	}
	for c := range v.Walk {
		if n++; n > looked {
			break
		}
		if name := c.Get("name").Text(); strings.TrimSpace(name) != "" {
			return said + " " + quoted(tree.Cut(name, limit))
		}
	}
	return said
}
