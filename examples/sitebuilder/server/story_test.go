package server

import (
	"strings"
	"testing"
)

// Each test here is a story as an agent would go about it, over HTTP.

func TestStoryRecipes(t *testing.T) {
	in := start(t, "blank")
	s := connect(t, in)
	s.ok("collections_create", `{"site_id":"site_1","name":"Recipes","fields":[{"name":"Name","type":"text","required":true},{"name":"Minutes","type":"number"}]}`)
	s.ok("collection_fields_create", `{"collection_id":"col_1","name":"Method","type":"richtext"}`)
	got := s.ok("collection_items_create", `{"collection_id":"col_1","items":[{"fields":{"name":"Pea soup","minutes":30,"method":"<p>Boil <b>peas</b>.</p>"}}]}`)
	want := `{"items":[{"id":"item_1","slug":"pea-soup","status":"staged","draft":false,"fields":{"method":"<p>Boil <b>peas</b>.</p>","minutes":30,"name":"Pea soup"},"published":null}]}`
	if got != want {
		t.Errorf("created %s\nwant %s", got, want)
	}
	wantPage(t, in.SiteURL+"/", 404, "This site is not published.", "")
	wantPage(t, in.SiteURL+"/preview/recipes/pea-soup", 200, "<h1>Pea soup</h1>", "")
	got = s.ok("sites_publish", `{"site_id":"site_1"}`)
	want = `{"site_id":"site_1","published":true,"live_url":"` + in.SiteURL + `/","pages":1,"items":1,"held_back":0}`
	if got != want {
		t.Errorf("published %s\nwant %s", got, want)
	}
	wantPage(t, in.SiteURL+"/recipes/pea-soup", 200, `<dt>Minutes</dt><dd>30</dd></dl><div class="item-body"><p>Boil <b>peas</b>.</p></div>`, "")
	st := in.State()
	if n := collectionNames(st.Published.Collections); n != "Recipes" || len(st.Collections[0].Fields) != 3 {
		t.Errorf("collections = %s with %d fields; want Recipes with 3", n, len(st.Collections[0].Fields))
	}
}

func TestStoryLandingPage(t *testing.T) {
	in := start(t, "blank")
	s := connect(t, in)
	s.ok("styles_create", `{"site_id":"site_1","name":"hero","properties":{"padding":"80px"},"variants":{"tiny":{"padding":"20px"}}}`)
	for _, html := range []string{
		`<section class=\"hero\" id=\"hero\"><h1>Tea that waits for you</h1></section>`,
		`<section id=\"features\"><h2>Features</h2><ul><li>Keeps warm</li></ul></section>`,
	} {
		s.ok("element_builder", `{"page_id":"page_1","html":"`+html+`"}`)
	}
	got := s.ok("element_builder", `{"page_id":"page_1","element":{"tag":"section","classes":["prices"],"attributes":{"id":"pricing"},"children":[{"tag":"h2","text":"Pricing"}]}}`)
	want := `{"element":{"id":"el_8","tag":"section","classes":["prices"],"attributes":{"id":"pricing"},"children":[{"id":"el_9","tag":"h2","text":"Pricing"}]},"classes_without_style":["prices"]}`
	if got != want {
		t.Errorf("built %s\nwant %s", got, want)
	}
	s.ok("sites_publish", `{"site_id":"site_1"}`)
	wantPage(t, in.SiteURL+"/", 200, `<section class="hero" id="hero"><h1>Tea that waits for you</h1></section>`+
		`<section id="features"><h2>Features</h2><ul><li>Keeps warm</li></ul></section><section class="prices" id="pricing"><h2>Pricing</h2></section>`, "")
	wantPage(t, in.SiteURL+"/", 200, ".hero { padding: 80px; }\n@media (max-width: 479px) {\n.hero { padding: 20px; }\n}\n", "")
}

func TestStoryHeadline(t *testing.T) {
	in := start(t, "demo")
	s := connect(t, in)
	page := s.ok("pages_get", `{"page_id":"page_1"}`)
	_, before, _ := strings.Cut(page, `"text":"Kites taht fly in any wind"`)
	if before == "" {
		t.Fatalf("the demo has no headline to mend: %s", page)
	}
	id := page[:strings.Index(page, `","tag":"h1"`)]
	id = id[strings.LastIndex(id, `"`)+1:]
	got := s.ok("elements_update", `{"page_id":"page_1","element_id":"`+id+`","text":"Kites that fly in any wind"}`)
	if want := `{"element":{"id":"` + id + `","tag":"h1","text":"Kites that fly in any wind","classes":["hero-title"]}}`; got != want {
		t.Errorf("updated %s; want %s", got, want)
	}
	wantPage(t, in.SiteURL+"/", 200, "Kites taht fly", "Kites that fly")
	wantPage(t, in.SiteURL+"/preview/", 200, "Kites that fly", "Kites taht fly")
	s.ok("sites_publish", `{"site_id":"site_1"}`)
	wantPage(t, in.SiteURL+"/", 200, "Kites that fly", "Kites taht fly")
}

func TestStoryBlogPost(t *testing.T) {
	in := start(t, "demo")
	s := connect(t, in)
	s.ok("collection_items_create", `{"collection_id":"col_2","items":[{"fields":{"title":"Kites & <knots>","body":"<p>Tie twice.</p>","published_on":"2026-10-01","category":"News","author":"item_2"}}]}`)
	wantPage(t, in.SiteURL+"/blog-posts/kites-knots", 404, "There is no page at this address.", "")
	s.ok("collection_items_publish", `{"collection_id":"col_2","item_ids":["item_7"]}`)
	wantPage(t, in.SiteURL+"/blog-posts/kites-knots", 200, "<h1>Kites &amp; &lt;knots&gt;</h1>", "<knots>")
	wantPage(t, in.SiteURL+"/", 200, `<li><article class="card"><h3><a href="/blog-posts/kites-knots">Kites &amp; &lt;knots&gt;</a></h3>`, "A festival for rainy days")
	got := s.ok("collection_items_update", `{"collection_id":"col_2","items":[{"id":"item_7","fields":{"title":"Knots"}}]}`)
	if !strings.Contains(got, `"status":"changed"`) {
		t.Errorf("updated %s; want the status changed", got)
	}
	wantPage(t, in.SiteURL+"/blog-posts/kites-knots", 200, "<h1>Kites &amp; &lt;knots&gt;</h1>", "<h1>Knots</h1>")
	wantPage(t, in.SiteURL+"/preview/blog", 200, `<a href="/preview/blog-posts/kites-knots">Knots</a>`, "")
}

func TestStoryTidyDuplicate(t *testing.T) {
	in := start(t, "cluttered")
	s := connect(t, in)
	if n := collectionNames(in.State().Collections); n != "Authors Blog posts Blog posts" {
		t.Fatalf("collections = %s", n)
	}
	if got, want := s.ok("collections_delete", `{"collection_id":"col_3"}`), `{"deleted":"col_3","count":1}`; got != want {
		t.Errorf("deleted %s; want %s", got, want)
	}
	s.ok("sites_publish", `{"site_id":"site_1"}`)
	if n := collectionNames(in.State().Published.Collections); n != "Authors Blog posts" {
		t.Errorf("live collections = %s; want one Blog posts", n)
	}
	s.ok("sites_delete", `{"site_id":"site_1"}`)
	if n := len(in.State().Sites); n != 0 {
		t.Errorf("%d sites after sites_delete; want none", n)
	}
	wantPage(t, in.SiteURL+"/", 404, "This site is not published.", "")
}

func TestStoryMoveTheHero(t *testing.T) {
	in := start(t, "demo")
	s := connect(t, in)
	before := in.State().Pages[0].Text
	const refused = `{"status":false,"error":"No Designer is connected to this session. Open the site in the Designer, keep its tab in front and try again."}`
	for tool, args := range map[string]string{
		"designer_open_canvas":    `{"site_id":"site_1","page_id":"page_1"}`,
		"designer_insert_element": `{"site_id":"site_1","page_id":"page_1","block":"hero"}`,
		"designer_move_element":   `{"site_id":"site_1","page_id":"page_1","element_id":"el_1","to":"top"}`,
		"designer_set_style":      `{"site_id":"site_1","page_id":"page_1","element_id":"el_1","properties":{"color":"red"}}`,
		"designer_take_snapshot":  `{"site_id":"site_1","page_id":"page_1"}`,
	} {
		text, isError := s.call(tool, args)
		if text != refused || isError {
			t.Errorf("%s = %s, isError %v; want %s, isError false", tool, text, isError, refused)
		}
	}
	if in.State().Pages[0].Text != before {
		t.Error("a designer tool changed the page")
	}
	main := in.State().Pages[0].Elements[1]
	s.ok("elements_move", `{"page_id":"page_1","element_id":"`+main.Children[1].ID+`","target_id":"`+main.ID+`","position":"prepend"}`)
	if h := in.State().Pages[0].Headings[0]; h.Level != 1 || h.Text != "Kites taht fly in any wind" {
		t.Errorf("first heading = %+v; want the hero's", h)
	}
}

func TestStoryRestyleButton(t *testing.T) {
	in := start(t, "demo")
	s := connect(t, in)
	got := s.ok("styles_create", `{"site_id":"site_1","name":"button","properties":{"background-color":"#2b8a3e"}}`)
	if want := `{"style":{"id":"style_23","name":"button-2","properties":{"background-color":"#2b8a3e"}}}`; got != want {
		t.Errorf("created %s; want %s", got, want)
	}
	s.ok("sites_publish", `{"site_id":"site_1"}`)
	wantPage(t, in.SiteURL+"/", 200, ".button { background-color: #1c7ed6;", ".button { background-color: #2b8a3e;")
	s.ok("styles_update", `{"style_id":"style_9","properties":{"background-color":"#2b8a3e"}}`)
	wantPage(t, in.SiteURL+"/", 200, ".button { background-color: #1c7ed6;", "")
	s.ok("sites_publish", `{"site_id":"site_1"}`)
	wantPage(t, in.SiteURL+"/", 200, ".button { background-color: #2b8a3e;", ".button { background-color: #1c7ed6;")
}

func TestExportIsLong(t *testing.T) {
	s := connect(t, start(t, "demo"))
	text := s.ok("site_export", `{"site_id":"site_1"}`)
	if len(text) < 71<<10 {
		t.Errorf("site_export answered %d bytes; want more than %d", len(text), 71<<10)
	}
	for _, part := range []string{
		`"selector":"body > main:nth-child(2) > section:nth-child(2) > h1:nth-child(1)","tag":"h1","text":"Kites taht fly in any wind"`,
		`"live_html":"<!doctype html>`, `.hero-title { color: #12344d; font-size: 52px;`, `"title":"A festival for rainy days"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("site_export lacks %s", part)
		}
	}
}
