package server

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

// FuzzTool calls tools with arguments of any bytes: nothing panics, what is refused changes nothing, and the account can
// still be shown afterwards.
func FuzzTool(f *testing.F) {
	for _, s := range [][2]string{
		{"sites_list", `{}`}, {"element_builder", `{"page_id":"page_1","html":"<p>x</p>"}`},
		{"element_builder", `{"page_id":"page_1","element":{"tag":"p","children":[{"tag":"b"}]},"target_id":"el_1","position":"prepend"}`},
		{"elements_update", `{"page_id":"page_1","element_id":"el_2","attributes":{"href":null}}`},
		{"elements_move", `{"page_id":"page_1","element_id":"el_2","target_id":"el_9","position":"after"}`},
		{"collection_items_update", `{"collection_id":"col_2","items":[{"id":"item_3","fields":{"title":"x","author":null}}]}`},
		{"collections_create", `{"site_id":"site_1","name":"x","fields":[{"name":"a","type":"image"}]}`},
		{"styles_update", `{"style_id":"style_1","variants":{"tiny":{"color":""}}}`},
		{"data_cms_tool", `{"actions":[{"delete_items":{"collection_id":"col_2","item_ids":["item_3"]}}]}`},
		{"sites_publish", `{"site_id":"site_1"}`}, {"sites_delete", `{"site_id":"site_1"}`}, {"site_export", `{"site_id":"site_1"}`},
	} {
		f.Add(s[0], []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, name string, args []byte) {
		tool := tools().byName[name]
		if tool == nil {
			return
		}
		store, err := site.New("demo")
		if err != nil {
			t.Fatal(err)
		}
		in := &Instance{store: store}
		before := in.State()
		_, err = tool.run(in, args)
		if err != nil && name != "data_cms_tool" {
			if diff := cmp.Diff(before, in.State()); diff != "" {
				t.Fatalf("refused with %v, yet:\n%s", err, diff)
			}
		}
		after := in.State()
		if _, err := json.Marshal(after); err != nil {
			t.Fatal(err)
		}
		for _, p := range after.Pages {
			if in.document(false, p.Path) == "" {
				t.Fatalf("page %s cannot be shown", p.Path)
			}
		}
	})
}
