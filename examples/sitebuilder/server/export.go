package server

import (
	"fmt"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
	"github.com/evalengine/evalengine/examples/sitebuilder/render"
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

type export struct {
	Site        site.SiteInfo          `json:"site"`
	Pages       []exportedPage         `json:"pages"`
	Styles      []*site.Style          `json:"styles"`
	StyleSheet  string                 `json:"style_sheet"`
	Collections []site.CollectionState `json:"collections"`
}

type exportedPage struct {
	site.PageInfo
	Elements []exportedElement `json:"elements"`
	Draft    string            `json:"draft_html"`
	Live     string            `json:"live_html"`
}

type exportedElement struct {
	ID         string            `json:"id"`
	Selector   string            `json:"selector"`
	Tag        string            `json:"tag"`
	Text       string            `json:"text"`
	Classes    []string          `json:"classes"`
	Attributes map[string]string `json:"attributes"`
	Style      map[string]string `json:"style"`
}

func exportSite(in *Instance, a siteRef) (any, error) {
	info, err := in.store.Site(a.SiteID)
	if err != nil {
		return nil, err
	}
	state := in.store.State()
	out := export{Site: info, Styles: state.Styles, Collections: state.Collections, StyleSheet: render.Sheet(state.Styles)}
	for _, p := range state.Pages {
		if p.SiteID != a.SiteID {
			continue
		}
		page := exportedPage{PageInfo: p.PageInfo, Draft: in.document(false, p.Path), Live: in.document(true, p.Path)}
		body := &element.Element{Tag: "body", Children: p.Elements}
		flatten(body, "body", render.Resolved(body, state.Styles), &page.Elements)
		out.Pages = append(out.Pages, page)
	}
	return encode(out)
}

func (in *Instance) document(live bool, path string) string {
	doc := ""
	in.store.View(live, func(name string, c *site.Content) {
		doc, _ = render.View{Name: name, Content: c}.Document(path)
	})
	return doc
}

func flatten(e *element.Element, selector string, styles map[string]map[string]string, out *[]exportedElement) {
	for i, c := range e.Children {
		if c.Tag == element.TextTag {
			continue
		}
		at := fmt.Sprintf("%s > %s:nth-child(%d)", selector, c.Tag, i+1)
		*out = append(*out, exportedElement{c.ID, at, c.Tag, c.Text, c.Classes, c.Attributes, styles[c.ID]})
		flatten(c, at, styles, out)
	}
}
