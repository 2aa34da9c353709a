package server

import (
	"github.com/evalengine/evalengine/examples/sitebuilder/element"
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

type pageRef struct {
	PageID string `json:"page_id"`
}

type pageList struct {
	Pages []site.PageInfo `json:"pages"`
}

type pageView struct {
	Page       site.PageInfo    `json:"page"`
	LiveURL    string           `json:"live_url"`
	PreviewURL string           `json:"preview_url"`
	Body       *element.Element `json:"body,omitempty"`
}

func (in *Instance) pageView(p site.PageInfo, body *element.Element) pageView {
	return pageView{p, in.SiteURL + p.Path, in.SiteURL + "/preview" + p.Path, body}
}

func pageTools() []*tool {
	return []*tool{
		answers[pageList](define("pages_list", "List pages", reads, "Lists the pages of a site with ids, addresses and whether they are live, changed or unpublished.", object("", siteID()), listPages)),
		define("pages_create", "Create page", adds, "Creates an empty page in the draft. Fill it with element_builder.", object("", siteID(),
			need("title", text("Name of the page.")),
			may("slug", text("Address part, for example about-us. Made from the title if left out.")),
			may("seo_title", text("Title for search engines and the browser tab.")),
			may("description", text("Description for search engines."))), createPage),
		define("pages_get", "Get page", reads, "Gets a page of the draft with its whole tree of elements, each with its id.", object("", pageID()), getPage),
		define("pages_update_settings", "Update page settings", changes, "Changes a page's title, address or search engine settings in the draft. What is left out stays.", object("", pageID(),
			may("title", text("Name of the page.")),
			may("slug", text("Address part.")),
			may("seo_title", text("Title for search engines and the browser tab.")),
			may("description", text("Description for search engines.")),
			may("draft", flag("True holds the page back when the site is published."))), updatePage),
		define("pages_delete", "Delete page", destroys, "Deletes a page from the draft. It stays live until the site is published again.", object("", pageID()), deletePage),
	}
}

func listPages(in *Instance, a siteRef) (any, error) {
	pages, err := in.store.Pages(a.SiteID)
	return pageList{pages}, err
}

func createPage(in *Instance, a struct {
	siteRef
	site.PageSpec
}) (any, error) {
	p, err := in.store.CreatePage(a.SiteID, a.PageSpec)
	return in.pageView(p, nil), err
}

func getPage(in *Instance, a pageRef) (any, error) {
	p, body, err := in.store.Page(a.PageID)
	return in.pageView(p, body), err
}

func updatePage(in *Instance, a struct {
	pageRef
	site.PagePatch
}) (any, error) {
	p, err := in.store.UpdatePage(a.PageID, a.PagePatch)
	return in.pageView(p, nil), err
}

func deletePage(in *Instance, a pageRef) (any, error) {
	return deleted{Deleted: a.PageID}, in.store.DeletePage(a.PageID)
}
