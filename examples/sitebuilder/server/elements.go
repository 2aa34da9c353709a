package server

import (
	"encoding/json"
	"errors"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

type elementRef struct {
	pageRef
	ElementID string `json:"element_id"`
}

type elementView struct {
	Element *element.Element `json:"element"`
	// Unstyled are the classes that no style has yet.
	Unstyled []string `json:"classes_without_style,omitempty"`
}

func elementSchema() *jsonschema.Schema {
	return object("An element with everything in it.",
		need("tag", text("HTML tag, for example section, h1, p, a, img, ul, li; or collection-list.")),
		may("text", text("Text of the element.")),
		may("classes", list("Names of styles.", text(""))),
		may("attributes", table("HTML attributes, for example href, src, alt, id.", text(""))),
		may("children", list("Elements inside, in order.", &jsonschema.Schema{Ref: "#/$defs/element"})))
}

func builderSchema() *jsonschema.Schema {
	s := object("", pageID(),
		may("html", text("The element as HTML, with exactly one root element and no script, style or style attributes. Give this or element.")),
		may("element", &jsonschema.Schema{Ref: "#/$defs/element"}),
		may("target_id", text("Element that the position is seen from. The body of the page if left out.")),
		may("position", choice("Where to put it. append if left out.", "append", "prepend", "before", "after")))
	s.Defs = map[string]*jsonschema.Schema{"element": elementSchema()}
	return s
}

func elementTools() []*tool {
	return []*tool{
		define("element_builder", "Build element", adds, "Builds one element with everything inside it on a page of the draft, from HTML or from a nested object. One root element in a call. "+
			"A collection-list element repeats what is inside it for each item of a collection: give it the attribute collection (the slug) and, if wanted, limit and sort (a field, with - before it for descending), and write {{field}} or {{url}} in the texts and attributes inside.",
			builderSchema(), buildElement),
		define("elements_update", "Update element", changes, "Changes text, classes or attributes of one element in the draft. What is left out stays; an attribute set to null is removed.", object("", pageID(), elementID(),
			may("text", text("New text. Only for an element without children.")),
			may("classes", list("All classes that the element has from now on.", text(""))),
			may("attributes", table("Attributes to set.", &jsonschema.Schema{Types: []string{"string", "null"}}))), updateElement),
		define("elements_move", "Move element", changes, "Moves an element, with everything in it, to another place on the same page of the draft.", object("", pageID(), elementID(),
			may("target_id", text("Element that the position is seen from. The body of the page if left out.")),
			may("position", choice("Where to put it. append if left out.", "append", "prepend", "before", "after"))), moveElement),
		define("elements_delete", "Delete element", destroys, "Deletes an element and everything in it from a page of the draft.", object("", pageID(), elementID()), deleteElement),
	}
}

func buildElement(in *Instance, a struct {
	pageRef
	HTML     string          `json:"html"`
	Element  json.RawMessage `json:"element"`
	TargetID string          `json:"target_id"`
	Position string          `json:"position"`
}) (any, error) {
	var tree *element.Element
	var err error
	switch {
	case (a.HTML == "") == (len(a.Element) == 0):
		return nil, errors.New("give either html or element")
	case a.HTML != "":
		tree, err = element.FromHTML(a.HTML)
	default:
		tree, err = element.FromJSON(a.Element)
	}
	if err != nil {
		return nil, err
	}
	tree, err = in.store.Insert(a.PageID, a.TargetID, a.Position, tree)
	return in.elementView(a.PageID, tree, err)
}

func (in *Instance) elementView(pageID string, e *element.Element, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return elementView{e, in.store.Unstyled(pageID, e)}, nil
}

func updateElement(in *Instance, a struct {
	elementRef
	site.ElementPatch
}) (any, error) {
	e, err := in.store.UpdateElement(a.PageID, a.ElementID, a.ElementPatch)
	return in.elementView(a.PageID, e, err)
}

func moveElement(in *Instance, a struct {
	elementRef
	TargetID string `json:"target_id"`
	Position string `json:"position"`
}) (any, error) {
	e, err := in.store.MoveElement(a.PageID, a.ElementID, a.TargetID, a.Position)
	return in.elementView(a.PageID, e, err)
}

func deleteElement(in *Instance, a elementRef) (any, error) {
	n, err := in.store.DeleteElement(a.PageID, a.ElementID)
	return deleted{a.ElementID, n}, err
}
