package server

import "github.com/evalengine/evalengine/examples/sitebuilder/site"

type styleArgs struct {
	Properties map[string]string            `json:"properties"`
	Variants   map[string]map[string]string `json:"variants"`
}

type styleView struct {
	Style *site.Style `json:"style"`
}

func styleTools() []*tool {
	properties := table("CSS declarations, for example {\"background-color\": \"#fff\"}.", text(""))
	variants := table("Declarations that differ: hover, medium (up to 991px wide), small (767px) or tiny (479px).", table("", text("")))
	return []*tool{
		define("styles_list", "List styles", reads, "Lists the styles (classes) of a site with their CSS declarations.", object("", siteID()),
			func(in *Instance, a siteRef) (any, error) {
				styles, err := in.store.Styles(a.SiteID)
				return map[string]any{"styles": styles}, err
			}),
		define("styles_create", "Create style", adds, "Creates a style: a class that elements can name. The answer holds the style as created.", object("", siteID(),
			need("name", text("Name of the class, without a dot.")), need("properties", properties), may("variants", variants)), createStyle),
		define("styles_update", "Update style", changes, "Changes declarations of a style, for all elements that have its class. What is left out stays; an empty value removes a declaration.", object("",
			need("style_id", text("Id of the style, from styles_list.")), may("properties", properties), may("variants", variants)), updateStyle),
	}
}

func createStyle(in *Instance, a struct {
	siteRef
	Name string `json:"name"`
	styleArgs
}) (any, error) {
	st, err := in.store.CreateStyle(a.SiteID, a.Name, a.Properties, a.Variants)
	return styleView{st}, err
}

func updateStyle(in *Instance, a struct {
	StyleID string `json:"style_id"`
	styleArgs
}) (any, error) {
	st, err := in.store.UpdateStyle(a.StyleID, a.Properties, a.Variants)
	return styleView{st}, err
}
