package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestToolList(t *testing.T) {
	s := connect(t, start(t, "blank"))
	res, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, tool := range res.Tools {
		kind := "changes"
		switch a := tool.Annotations; {
		case a.ReadOnlyHint:
			kind = "reads"
		case a.DestructiveHint == nil || *a.DestructiveHint:
			kind = "destroys"
		}
		got[kind] = append(got[kind], tool.Name)
		if tool.Description == "" || tool.Title == "" {
			t.Errorf("%s has no description or title", tool.Name)
		}
	}
	want := map[string][]string{
		"reads": {"collection_items_list", "collections_get", "collections_list", "designer_take_snapshot", "pages_get", "pages_list",
			"site_export", "sites_get", "sites_list", "styles_list"},
		"changes": {"collection_fields_create", "collection_items_create", "collection_items_publish", "collection_items_update", "collections_create",
			"designer_insert_element", "designer_move_element", "designer_open_canvas", "designer_set_style", "element_builder", "elements_move",
			"elements_update", "pages_create", "pages_update_settings", "sites_publish", "styles_create", "styles_update"},
		"destroys": {"collection_items_delete", "collections_delete", "data_cms_tool", "elements_delete", "pages_delete", "sites_delete"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	in := start(t, "demo")
	s := connect(t, in)
	before := in.State()
	tests := []struct{ tool, args, want string }{
		{"sites_list", `{"site":1}`, `unknown argument "site"; this tool takes none`},
		{"sites_get", `{"siteId":"site_1"}`, `unknown argument "siteId"; the arguments are: site_id`},
		{"pages_list", `{}`, `argument "site_id" is missing`},
		{"pages_list", `{"site_id":null}`, `argument "site_id" is missing`},
		{"pages_list", `{"site_id":7}`, `argument "site_id": want string, got number`},
		{"pages_list", `{"site_id":"site_9"}`, `site "site_9" not found; sites_list gives the ids`},
		{"pages_create", `{"site_id":"site_1","title":"X","slug":"About Us"}`, `slug "About Us" of the page: use lower case letters, digits and -, for example "about-us"`},
		{"element_builder", `{"page_id":"page_1","html":"<section></section><section></section>"}`,
			`html has 2 root elements (section, section); there must be exactly one: wrap them in one, or call once for each`},
		{"element_builder", `{"page_id":"page_1","element":[{"tag":"p"},{"tag":"p"},{"tag":"p"}]}`,
			`element is a list of 3; there must be exactly one root element: wrap them in one, or call once for each`},
		{"element_builder", `{"page_id":"page_1"}`, `give either html or element`},
		{"element_builder", `{"page_id":"page_1","html":"<p>a</p>","element":{"tag":"p"}}`, `give either html or element`},
		{"element_builder", `{"page_id":"page_1","element":"<p>a</p>"}`, `element must be an object with tag, text, classes, attributes and children`},
		{"element_builder", `{"page_id":"page_1","html":"<p>a</p>","target_id":"el_999"}`, `element "el_999" is not on page page_1; pages_get gives the ids`},
		{"elements_update", `{"page_id":"page_1","element_id":"el_2"}`, `nothing to change: give text, classes or attributes`},
		{"styles_update", `{"style_id":"style_9","properties":{"color":7}}`, `argument "properties": want string, got number`},
		{"collection_fields_create", `{"collection_id":"col_2","name":"Tint","type":"colour"}`,
			`type "colour" of field "Tint" is not known; use one of text, richtext, number, boolean, date, image, link, option, reference`},
		{"collection_items_create", `{"collection_id":"col_2","items":[]}`, `no items given`},
		{"collection_items_create", `{"collection_id":"col_2","items":[{"name":"x"}]}`, `arguments: unknown field "name"`},
		{"collection_items_list", `{"collection_id":"col_2","limit":0}`, `offset must be at least 0 and limit at least 1`},
		{"data_cms_tool", `{"actions":[]}`, `give 1 to 20 actions, not 0`},
		{"data_cms_tool", `{"actions":[{"drop_collection":{}}]}`, `action 1: "drop_collection" is not known; use one of list_collections, get_collection, create_collection, ` +
			`create_field, list_items, create_items, update_items, publish_items, delete_items`},
		{"data_cms_tool", `{"actions":[{"list_items":{},"get_collection":{}}]}`, `action 1 has 2 keys; each action is an object with one key, the action's name`},
		{"data_cms_tool", `{"actions":[{"list_items":{"collection":"col_1"}}]}`,
			`action 1 of 1 (list_items): unknown argument "collection"; the arguments are: collection_id, offset, limit; done before it: []`},
	}
	for _, tt := range tests {
		got, isError := s.call(tt.tool, tt.args)
		if !isError || got != tt.want {
			t.Errorf("%s(%s) = %s, isError %v\nwant %s, isError true", tt.tool, tt.args, got, isError, tt.want)
		}
	}
	if diff := cmp.Diff(before, in.State()); diff != "" {
		t.Errorf("a refused call changed the account:\n%s", diff)
	}
}

func TestUnknownTool(t *testing.T) {
	s := connect(t, start(t, "blank"))
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "sites_destroy"})
	if err == nil || !strings.Contains(err.Error(), `unknown tool "sites_destroy"`) {
		t.Errorf("sites_destroy: %v; want a protocol error", err)
	}
}

func TestMultiAction(t *testing.T) {
	in := start(t, "blank")
	s := connect(t, in)
	got := s.ok("data_cms_tool", `{"actions":[
		{"create_collection":{"site_id":"site_1","name":"Notes","fields":[{"name":"Text","type":"text"}]}},
		{"create_items":{"collection_id":"col_1","items":[{"fields":{"text":"one"}},{"fields":{"text":"two"}}]}},
		{"delete_items":{"collection_id":"col_1","item_ids":["item_1"]}}]}`)
	for _, part := range []string{`{"results":[{"action":"create_collection","ok":true,"result":{"collection":{"id":"col_1"`,
		`{"action":"create_items","ok":true,"result":{"items":[{"id":"item_1","slug":"one"`, `{"action":"delete_items","ok":true,"result":{"deleted":["item_1"]}}]}`} {
		if !strings.Contains(got, part) {
			t.Errorf("got %s\nwant it to hold %s", got, part)
		}
	}
	text, isError := s.call("data_cms_tool", `{"actions":[
		{"create_field":{"collection_id":"col_1","name":"Done","type":"boolean"}},
		{"create_items":{"collection_id":"col_1","items":[{"fields":{"done":"yes"}}]}},
		{"create_collection":{"site_id":"site_1","name":"Never"}}]}`)
	want := `action 2 of 3 (create_items): field "done" of type boolean: want true or false, got a string; done before it: ` +
		`[{"action":"create_field","ok":true,"result":{"field":{"id":"field_2","name":"Done","slug":"done","type":"boolean","required":false}}}]`
	if text != want || !isError {
		t.Errorf("got %s, %v\nwant %s, true", text, isError, want)
	}
	c := in.State().Collections
	if len(c) != 1 || len(c[0].Fields) != 2 || len(c[0].Items) != 1 {
		t.Errorf("collections = %+v; want one with two fields and one item", c)
	}
}

// TestResultsFitTheirSchemas calls every tool that publishes the schema of its result.
func TestResultsFitTheirSchemas(t *testing.T) {
	s := connect(t, start(t, "demo"))
	args := map[string]string{"sites_list": `{}`, "sites_get": `{"site_id":"site_1"}`, "pages_list": `{"site_id":"site_1"}`,
		"collections_list": `{"site_id":"site_1"}`, "collections_get": `{"collection_id":"col_2"}`, "collection_items_list": `{"collection_id":"col_2"}`}
	seen := 0
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.OutputSchema == nil {
			continue
		}
		seen++
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(args[tool.Name])})
		if err != nil || res.IsError {
			t.Fatalf("%s: %v, %+v", tool.Name, err, res)
		}
		raw, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(res.StructuredContent); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
	if seen != len(args) {
		t.Errorf("%d tools publish a result schema; want %d", seen, len(args))
	}
}
