package server

import (
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

type collectionRef struct {
	CollectionID string `json:"collection_id"`
}

type collectionList struct {
	Collections []site.CollectionInfo `json:"collections"`
}

type collectionView struct {
	Collection site.CollectionInfo `json:"collection"`
}

func fieldArguments() []argument {
	return []argument{
		need("name", text("Name of the field.")),
		need("type", choice("Type of the values.", site.FieldTypes()...)),
		may("slug", text("Key of the field in items, for example cooking_time. Made from the name if left out.")),
		may("required", flag("Whether every item must have a value.")),
		may("options", list("The choices of an option field.", text(""))),
		may("reference_collection_id", text("Collection that a reference field points at.")),
	}
}

func collectionTools() []*tool {
	return []*tool{
		answers[collectionList](define("collections_list", "List collections", reads, "Lists the CMS collections of a site with their fields and numbers of items.", object("", siteID()), listCollections)),
		answers[collectionView](define("collections_get", "Get collection", reads, "Gets one CMS collection with its fields.", object("", collectionID()), getCollection)),
		define("collections_create", "Create collection", adds, "Creates a CMS collection, with fields if given. Each item also has a slug, so no field is needed for that.", object("", siteID(),
			need("name", text("Name of the collection, for example Recipes.")),
			may("slug", text("Address part of its items, for example recipes. Made from the name if left out.")),
			may("fields", list("Fields of the collection.", object("", fieldArguments()...)))), createCollection),
		define("collection_fields_create", "Create collection field", adds, "Adds a typed field to a CMS collection.", object("",
			append([]argument{collectionID()}, fieldArguments()...)...), createField),
		define("collections_delete", "Delete collection", destroys, "Deletes a CMS collection with all its items from the draft. It stays live until the site is published again.", object("", collectionID()), deleteCollection),
	}
}

func listCollections(in *Instance, a siteRef) (any, error) {
	all, err := in.store.Collections(a.SiteID)
	return collectionList{all}, err
}

func getCollection(in *Instance, a collectionRef) (any, error) {
	c, err := in.store.Collection(a.CollectionID)
	return collectionView{c}, err
}

func createCollection(in *Instance, a struct {
	siteRef
	Name   string           `json:"name"`
	Slug   string           `json:"slug"`
	Fields []site.FieldSpec `json:"fields"`
}) (any, error) {
	c, err := in.store.CreateCollection(a.SiteID, a.Name, a.Slug, a.Fields)
	return collectionView{c}, err
}

func createField(in *Instance, a struct {
	ID string `json:"collection_id"`
	site.FieldSpec
}) (any, error) {
	f, err := in.store.CreateField(a.ID, a.FieldSpec)
	return map[string]any{"field": f}, err
}

func deleteCollection(in *Instance, a collectionRef) (any, error) {
	n, err := in.store.DeleteCollection(a.CollectionID)
	return deleted{a.CollectionID, n}, err
}
