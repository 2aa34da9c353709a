package server

import (
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

type siteRef struct {
	SiteID string `json:"site_id"`
}

type siteView struct {
	site.SiteInfo
	LiveURL    string `json:"live_url"`
	PreviewURL string `json:"preview_url"`
}

type siteList struct {
	Sites []site.SiteInfo `json:"sites"`
}

type publishView struct {
	SiteID    string `json:"site_id"`
	Published bool   `json:"published"`
	LiveURL   string `json:"live_url"`
	site.PublishReport
}

func siteTools() []*tool {
	return []*tool{
		answers[siteList](define("sites_list", "List sites", reads, "Lists the sites of the account with their ids and whether they are published.", object(""),
			func(in *Instance, _ struct{}) (any, error) { return siteList{in.store.Sites()}, nil })),
		answers[siteView](define("sites_get", "Get site", reads, "Gets one site: whether it is published, whether the draft has changes that are not live, and the addresses of the live site and the draft preview.",
			object("", siteID()), getSite)),
		define("sites_publish", "Publish site", changes, "Publishes a site: everything in the draft that is not marked draft becomes what visitors see.", object("", siteID()), publishSite),
		define("sites_delete", "Delete site", destroys, "Deletes a site with all its pages, styles and collections, for good. The live site goes too.", object("", siteID()), deleteSite),
		define("site_export", "Export site", reads, "Exports everything about a site in one answer: every element of every page with the style in effect on it, the rendered HTML of draft and live pages, the style sheet, and all collections with all items. Long.",
			object("", siteID()), exportSite),
	}
}

func getSite(in *Instance, a siteRef) (any, error) {
	info, err := in.store.Site(a.SiteID)
	return siteView{info, in.SiteURL + "/", in.SiteURL + "/preview/"}, err
}

func publishSite(in *Instance, a siteRef) (any, error) {
	report, err := in.store.Publish(a.SiteID)
	return publishView{a.SiteID, true, in.SiteURL + "/", report}, err
}

type deleted struct {
	Deleted string `json:"deleted"`
	// Count is how many parts went with it.
	Count int `json:"count,omitempty"`
}

func deleteSite(in *Instance, a siteRef) (any, error) {
	return deleted{Deleted: a.SiteID}, in.store.DeleteSite(a.SiteID)
}
