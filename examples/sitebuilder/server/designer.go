package server

// noDesigner is what every designer tool answers: these tools act on the Designer in a person's browser, and no browser
// is ever connected to a headless session. As in real products, the answer does not count as an error.
type noDesigner struct {
	Status bool   `json:"status"`
	Error  string `json:"error"`
}

// designerTools are the family that a headless agent cannot use.
func designerTools() []*tool {
	canvas := func(name, title string, e effect, description string, args ...argument) *tool {
		return define(name, title, e, description, object("", append([]argument{siteID()}, args...)...),
			func(*Instance, map[string]any) (any, error) {
				return noDesigner{Error: "No Designer is connected to this session. Open the site in the Designer, keep its tab in front and try again."}, nil
			})
	}
	return []*tool{
		canvas("designer_open_canvas", "Open page in Designer", changes, "Designer: opens a page on the visual canvas, ready for editing. Start here for any change to how a page looks or is laid out.", pageID()),
		canvas("designer_insert_element", "Insert on canvas", adds, "Designer: drops a ready-made block (hero, features, pricing, footer) on the canvas, styled to match the site. The fastest way to a finished page.", pageID(),
			need("block", choice("The block.", "hero", "features", "pricing", "testimonials", "footer")),
			may("after_element_id", text("Element to put it after."))),
		canvas("designer_move_element", "Move on canvas", changes, "Designer: moves an element on the canvas with live guides, so that spacing stays right. The most exact way to rearrange a page.", pageID(), elementID(),
			need("to", choice("Where to.", "top", "up", "down", "bottom"))),
		canvas("designer_set_style", "Set style on canvas", changes, "Designer: sets the style of an element and shows the effect at once on all breakpoints.", pageID(), elementID(),
			need("properties", table("CSS declarations.", text("")))),
		canvas("designer_take_snapshot", "Take canvas snapshot", reads, "Designer: takes a picture of the page as it looks on the canvas. Recommended before and after each visual change.", pageID(),
			may("element_id", text("Only this element."))),
	}
}
