package server

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

type itemsRef struct {
	collectionRef
	ItemIDs []string `json:"item_ids"`
}

type itemList struct {
	Items []site.ItemInfo `json:"items"`
	Total int             `json:"total"`
}

type itemsView struct {
	Items []site.ItemInfo `json:"items"`
}

func itemTools() []*tool {
	fields := table("Values by field slug. Text for text, richtext (HTML), date (2026-03-31), link, option and reference (an item's id); a number; true or false; {url, alt} for an image.", &jsonschema.Schema{})
	slug := text("Address part of the item. Made from its first text field if left out.")
	draft := flag("True holds the item back when the site is published.")
	ids := need("item_ids", list("Ids of items, from collection_items_list.", text("")))
	return []*tool{
		answers[itemList](define("collection_items_list", "List collection items", reads, "Lists items of a CMS collection: the draft values, the published values, and whether they are live, changed, staged or draft.", object("", collectionID(),
			may("offset", number("How many to skip.")), may("limit", number("How many to give, at most 100 (the default)."))), listItems)),
		define("collection_items_create", "Create collection items", adds, "Creates items in a CMS collection of the draft.", object("", collectionID(),
			need("items", list("The items.", object("", need("fields", fields), may("slug", slug), may("draft", draft))))), createItems),
		define("collection_items_update", "Update collection items", changes, "Updates items of a CMS collection. Fields that are left out stay; null removes a value.", object("", collectionID(),
			need("items", list("The changes.", object("", need("id", text("Id of the item.")), may("fields", fields), may("slug", slug), may("draft", draft))))), updateItems),
		define("collection_items_publish", "Publish collection items", changes, "Makes items live at once, without publishing the rest of the site. The site must have been published with the collection before.", object("", collectionID(), ids), publishItems),
		define("collection_items_delete", "Delete collection items", destroys, "Deletes items of a CMS collection from the draft. They stay live until the site is published again.", object("", collectionID(), ids), deleteItems),
	}
}

const maxListed = 100

func listItems(in *Instance, a struct {
	collectionRef
	Offset int  `json:"offset"`
	Limit  *int `json:"limit"`
}) (any, error) {
	limit := maxListed
	if a.Limit != nil {
		limit = min(*a.Limit, maxListed)
	}
	items, total, err := in.store.Items(a.CollectionID, a.Offset, limit)
	return itemList{items, total}, err
}

func createItems(in *Instance, a struct {
	collectionRef
	Items []site.ItemSpec `json:"items"`
}) (any, error) {
	items, err := in.store.CreateItems(a.CollectionID, a.Items)
	return itemsView{items}, err
}

func updateItems(in *Instance, a struct {
	collectionRef
	Items []site.ItemPatch `json:"items"`
}) (any, error) {
	items, err := in.store.UpdateItems(a.CollectionID, a.Items)
	return itemsView{items}, err
}

func publishItems(in *Instance, a itemsRef) (any, error) {
	items, err := in.store.PublishItems(a.CollectionID, a.ItemIDs)
	return itemsView{items}, err
}

func deleteItems(in *Instance, a itemsRef) (any, error) {
	return map[string]any{"deleted": a.ItemIDs}, in.store.DeleteItems(a.CollectionID, a.ItemIDs)
}
