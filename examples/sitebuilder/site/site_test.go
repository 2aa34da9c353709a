package site

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
)

func newStore(t *testing.T, template string) *Store {
	t.Helper()
	s, err := New(template)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func tree(t *testing.T, html string) *element.Element {
	t.Helper()
	return must[*element.Element](t)(element.FromHTML(html))
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v; want one with %q", err, want)
	}
}

func TestTemplates(t *testing.T) {
	tests := []struct {
		template    string
		published   bool
		pages       []string
		collections []string
		posts       []string // live posts
	}{
		{"blank", false, []string{"/"}, nil, nil},
		{"demo", true, []string{"/", "/pricing", "/blog", "/about"}, []string{"authors", "blog-posts"},
			[]string{"reading-the-wind", "how-we-test-a-seam", "spruce-or-carbon"}},
		{"cluttered", true, []string{"/", "/pricing", "/blog", "/about"}, []string{"authors", "blog-posts", "blog-posts-2"},
			[]string{"reading-the-wind", "how-we-test-a-seam", "spruce-or-carbon"}},
	}
	for _, tt := range tests {
		t.Run(tt.template, func(t *testing.T) {
			st := newStore(t, tt.template).State()
			if st.Sites[0].Name != "Demo" || st.Sites[0].Published != tt.published || st.Sites[0].UnpublishedChanges == tt.published {
				t.Errorf("site = %+v; want Demo, published %v, changes %v", st.Sites[0], tt.published, !tt.published)
			}
			var pages, collections, posts []string
			for _, p := range st.Pages {
				pages = append(pages, p.Path)
			}
			for _, c := range st.Collections {
				collections = append(collections, c.Slug)
			}
			for _, c := range st.Published.Collections {
				for _, it := range c.Items {
					if c.Slug == "blog-posts" {
						posts = append(posts, it.Slug)
					}
				}
			}
			if diff := cmp.Diff([][]string{tt.pages, tt.collections, tt.posts}, [][]string{pages, collections, posts}); diff != "" {
				t.Error(diff)
			}
		})
	}
	_, err := New("shop")
	wantError(t, err, `template "shop": not known; use one of blank, demo, cluttered`)
}

func TestStateIsDeterministicAndApart(t *testing.T) {
	a, b := newStore(t, "demo"), newStore(t, "demo")
	if diff := cmp.Diff(a.State(), b.State()); diff != "" {
		t.Errorf("two fresh accounts differ:\n%s", diff)
	}
	built, err := build("demo")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(built.State(), a.State()); diff != "" {
		t.Errorf("the copied demo differs from a built one:\n%s", diff)
	}
	must[CollectionInfo](t)(a.CreateCollection("site_1", "Recipes", "", nil))
	if _, err := a.DeleteElement("page_1", "el_2"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(built.State(), b.State()); diff != "" {
		t.Errorf("a change of one account shows in another:\n%s", diff)
	}
}

func TestRecipes(t *testing.T) {
	s := newStore(t, "blank")
	c := must[CollectionInfo](t)(s.CreateCollection("site_1", "Recipes", "", []FieldSpec{
		{Name: "Name", Type: "text", Required: true}, {Name: "Cooking time", Type: "number"}}))
	must[Field](t)(s.CreateField(c.ID, FieldSpec{Name: "Level", Type: "option", Options: []string{"easy", "hard"}}))
	items := must[[]ItemInfo](t)(s.CreateItems(c.ID, []ItemSpec{{Fields: map[string]any{"name": "Crème brûlée – 🍮", "cooking_time": 45.0, "level": "hard"}}}))
	want := []ItemInfo{{ID: "item_1", Slug: "crème-brûlée", Status: "staged",
		Fields: map[string]any{"name": "Crème brûlée – 🍮", "cooking_time": 45.0, "level": "hard"}}}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Error(diff)
	}
	if got := s.State().Published; len(got.Collections) != 0 {
		t.Errorf("before publish, published collections = %v; want none", got.Collections)
	}
	report := must[PublishReport](t)(s.Publish("site_1"))
	if want := (PublishReport{Pages: 1, Items: 1}); report != want {
		t.Errorf("Publish() = %+v; want %+v", report, want)
	}
	live := s.State().Published.Collections
	if len(live) != 1 || live[0].Name != "Recipes" || len(live[0].Fields) != 3 || live[0].Items[0].Status != "live" {
		t.Errorf("published collections = %+v; want Recipes with three fields and a live item", live)
	}
}

func TestDraftAgainstLive(t *testing.T) {
	s := newStore(t, "demo")
	title := func() (draft, live any) {
		st := s.State()
		return st.Collections[1].Items[0].Fields["title"], st.Published.Collections[1].Items[0].Fields["title"]
	}
	got := must[[]ItemInfo](t)(s.UpdateItems("col_2", []ItemPatch{{ID: "item_3", Fields: map[string]any{"title": "Reading clouds"}}}))
	if got[0].Status != "changed" || got[0].Published["title"] != "Reading the wind" || got[0].Slug != "reading-the-wind" {
		t.Errorf("after update item = %+v; want it changed, the old title published", got[0])
	}
	if d, l := title(); d != "Reading clouds" || l != "Reading the wind" {
		t.Errorf("titles = %v, %v; want the draft new and the live old", d, l)
	}
	if _, err := s.PublishItems("col_2", []string{"item_3"}); err != nil {
		t.Fatal(err)
	}
	if d, l := title(); d != "Reading clouds" || l != "Reading clouds" {
		t.Errorf("titles = %v, %v; want both new", d, l)
	}
	if err := s.DeleteItems("col_2", []string{"item_3"}); err != nil {
		t.Fatal(err)
	}
	if st := s.State(); len(st.Collections[1].Items) != 3 || len(st.Published.Collections[1].Items) != 3 {
		t.Errorf("after delete: %d draft, %d live items; want 3 and 3 (one draft is not live)", len(st.Collections[1].Items), len(st.Published.Collections[1].Items))
	}
	must[PublishReport](t)(s.Publish("site_1"))
	if st := s.State(); len(st.Published.Collections[1].Items) != 2 {
		t.Errorf("after publish: %d live items; want 2", len(st.Published.Collections[1].Items))
	}
}

func TestHeldBackItem(t *testing.T) {
	s := newStore(t, "demo")
	report := must[PublishReport](t)(s.Publish("site_1"))
	if want := (PublishReport{Pages: 4, Items: 5, HeldBack: 1}); report != want {
		t.Errorf("Publish() = %+v; want %+v", report, want)
	}
	got := must[[]ItemInfo](t)(s.PublishItems("col_2", []string{"item_6"}))
	if got[0].Status != "live" || got[0].Draft {
		t.Errorf("published draft = %+v; want it live and no draft", got[0])
	}
	if n := len(s.State().Published.Collections[1].Items); n != 4 {
		t.Errorf("%d live posts; want 4", n)
	}
	s = newStore(t, "blank")
	c := must[CollectionInfo](t)(s.CreateCollection("site_1", "Notes", "", []FieldSpec{{Name: "Text", Type: "text"}}))
	must[[]ItemInfo](t)(s.CreateItems(c.ID, []ItemSpec{{Fields: map[string]any{"text": "x"}}}))
	_, err := s.PublishItems(c.ID, []string{"item_1"})
	wantError(t, err, "collection col_1 (Notes) is not live yet; publish the site first with sites_publish")
}

func TestCollisions(t *testing.T) {
	s := newStore(t, "demo")
	st := must[*Style](t)(s.CreateStyle("site_1", "button", map[string]string{"color": "red"}, nil))
	if st.Name != "button-2" {
		t.Errorf("second button = %q; want button-2", st.Name)
	}
	if st = must[*Style](t)(s.CreateStyle("site_1", ".button", map[string]string{"color": "red"}, nil)); st.Name != "button-3" {
		t.Errorf("third button = %q; want button-3", st.Name)
	}
	c := must[CollectionInfo](t)(s.CreateCollection("site_1", "Blog posts", "", nil))
	if c.Slug != "blog-posts-2" {
		t.Errorf("second collection = %q; want blog-posts-2", c.Slug)
	}
	_, err := s.CreatePage("site_1", PageSpec{Title: "About", Slug: "about"})
	wantError(t, err, `slug "about" is taken by page page_4 (About)`)
	if p := must[PageInfo](t)(s.CreatePage("site_1", PageSpec{Title: "About"})); p.Path != "/about-2" {
		t.Errorf("path of a second About = %q; want /about-2", p.Path)
	}
	if p := must[PageInfo](t)(s.CreatePage("site_1", PageSpec{Title: "Preview"})); p.Path != "/preview-2" {
		t.Errorf("path of a page named Preview = %q; want /preview-2", p.Path)
	}
}

func TestUpdateStyle(t *testing.T) {
	s := newStore(t, "demo")
	got := must[*Style](t)(s.UpdateStyle("style_9", map[string]string{"background-color": "#2b8a3e", "border-radius": ""},
		map[string]map[string]string{"tiny": {"display": "block"}}))
	want := &Style{ID: "style_9", Name: "button",
		Properties: map[string]string{"background-color": "#2b8a3e", "color": "#ffffff", "display": "inline-block", "padding": "12px 24px", "text-decoration": "none"},
		Variants:   map[string]map[string]string{"hover": {"background-color": "#1864ab"}, "tiny": {"display": "block"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	st := s.State()
	if st.Styles[8].Properties["background-color"] != "#2b8a3e" || st.Published.Styles[8].Properties["background-color"] != "#1c7ed6" {
		t.Error("the live style changed before the site was published")
	}
}

func TestStyleRefuses(t *testing.T) {
	s := newStore(t, "blank")
	for _, tt := range []struct{ name, property, value, want string }{
		{"a b!", "color", "red", `class "a-b!" is not a name`},
		{"x", "backgroundColor", "red", `"backgroundColor" is not the name of a CSS property`},
		{"x", "color", "red; } body { display: none", "is not a value that the property color can have"},
		{"x", "color", "</style><script>", "is not a value"},
		{"x", "content", `"open`, "is not a value"},
		{"x", "width", "calc(1px", "is not a value"},
		{"x", "width", ")(", "is not a value"},
		{"x", "color", "red/*", "is not a value"},
		{"x", "color", " ", "is not a value"},
	} {
		_, err := s.CreateStyle("site_1", tt.name, map[string]string{tt.property: tt.value}, nil)
		wantError(t, err, tt.want)
	}
	_, err := s.CreateStyle("site_1", "x", nil, map[string]map[string]string{"print": {"color": "red"}})
	wantError(t, err, `variant "print" is not known; use one of hover, medium, small, tiny`)
	if n := len(s.State().Styles); n != 0 {
		t.Errorf("%d styles were made; want none", n)
	}
}

func TestElements(t *testing.T) {
	s := newStore(t, "blank")
	insert := func(target, position, html string) *element.Element {
		t.Helper()
		return must[*element.Element](t)(s.Insert("page_1", target, position, tree(t, html)))
	}
	main := insert("", "", `<main><h1>One</h1><p>Two</p></main>`)
	if main.ID != "el_2" || main.Children[0].ID != "el_3" || main.Children[1].ID != "el_4" {
		t.Errorf("ids = %s, %s, %s; want el_2, el_3, el_4", main.ID, main.Children[0].ID, main.Children[1].ID)
	}
	insert("el_2", "before", `<header>Top</header>`)
	insert("el_3", "after", `<p>Between</p>`)
	insert("el_4", "append", `<b>bold</b>`)
	text := func() string { return s.State().Pages[0].Text }
	if got, want := text(), "Top One Between Two bold"; got != want {
		t.Errorf("text = %q; want %q", got, want)
	}
	_, err := s.MoveElement("page_1", "el_2", "el_4", "append")
	wantError(t, err, "element el_2 cannot be moved into or next to itself")
	must[*element.Element](t)(s.MoveElement("page_1", "el_3", "el_4", "after"))
	if got, want := text(), "Top Between Two bold One"; got != want {
		t.Errorf("after move, text = %q; want %q", got, want)
	}
	n, err := s.DeleteElement("page_1", "el_4")
	if err != nil || n != 3 {
		t.Errorf("DeleteElement() = %d, %v; want 3 (the element, its text, the bold)", n, err)
	}
	_, err = s.DeleteElement("page_1", "el_1")
	wantError(t, err, "element el_1 is the body of the page and cannot be deleted")
	_, err = s.Insert("page_1", "", "inside", tree(t, "<p>x</p>"))
	wantError(t, err, `position "inside" is not known; use append, prepend, before or after`)
	_, err = s.Insert("page_1", "", "before", tree(t, "<p>x</p>"))
	wantError(t, err, "element el_1 is the body of the page; use append or prepend")
	_, err = s.Insert("page_1", "", "", tree(t, `<collection-list collection="news"><p>{{title}}</p></collection-list>`))
	wantError(t, err, `<collection-list> names the collection "news", which the site does not have`)
	if got, want := text(), "Top Between One"; got != want {
		t.Errorf("at the end, text = %q; want %q", got, want)
	}
}

func TestUpdateElement(t *testing.T) {
	s := newStore(t, "demo")
	var id string
	for _, h := range s.State().Pages[0].Elements[1].Children {
		if h.Attributes["id"] == "hero" {
			id = h.Children[0].ID
		}
	}
	headline, title := "Kites that fly in any wind", "x"
	must[*element.Element](t)(s.UpdateElement("page_1", id, ElementPatch{Text: &headline, Attributes: map[string]*string{"title": &title}}))
	e := must[*element.Element](t)(s.UpdateElement("page_1", id, ElementPatch{Attributes: map[string]*string{"title": nil}}))
	if e.Text != headline || len(e.Attributes) != 0 || !slices.Equal(e.Classes, []string{"hero-title"}) {
		t.Errorf("element = %+v; want the new text, the old class, no attribute", e)
	}
	st := s.State()
	has := func(p PageState, text string) bool {
		return slices.Contains(p.Headings, element.Heading{Level: 1, Text: text})
	}
	if !has(st.Pages[0], headline) || !has(st.Published.Pages[0], "Kites taht fly in any wind") || st.Pages[0].Status != "changed" {
		t.Errorf("headings = %v, live %v; want the draft mended and the live page as it was", st.Pages[0].Headings, st.Published.Pages[0].Headings)
	}
	_, err := s.UpdateElement("page_1", "el_4", ElementPatch{Text: &headline})
	wantError(t, err, `element el_4 has child elements, so it has no text of its own; change the text of its children: el_5 <a> "Home"`)
	_, err = s.UpdateElement("page_1", id, ElementPatch{})
	wantError(t, err, "nothing to change")
	bad := "javascript:x"
	_, err = s.UpdateElement("page_1", "el_5", ElementPatch{Attributes: map[string]*string{"href": &bad}})
	wantError(t, err, "not an address a page may use")
}

func TestFieldsAndValuesRefused(t *testing.T) {
	s := newStore(t, "demo")
	for _, tt := range []struct {
		spec FieldSpec
		want string
	}{
		{FieldSpec{Name: "Tint", Type: "colour"}, `type "colour" of field "Tint" is not known; use one of text, richtext, number, boolean, date, image, link, option, reference`},
		{FieldSpec{Name: "Kind", Type: "option"}, `field "Kind" of type option needs options`},
		{FieldSpec{Name: "Kind", Type: "text", Options: []string{"a"}}, `has options, which only the type option can have`},
		{FieldSpec{Name: "By", Type: "reference", CollectionID: "col_7"}, `field "By" of type reference: collection "col_7" not found`},
		{FieldSpec{Name: "Title", Type: "text"}, `collection "Blog posts" already has a field with the slug "title"`},
		{FieldSpec{Name: " ", Type: "text"}, "the field needs a name"},
		{FieldSpec{Name: "URL", Type: "text"}, `slug "url" of field "URL" is reserved`},
	} {
		_, err := s.CreateField("col_2", tt.spec)
		wantError(t, err, tt.want)
	}
	for _, tt := range []struct {
		fields map[string]any
		want   string
	}{
		{map[string]any{"title": "x"}, `field "body" of collection "Blog posts" is required`},
		{map[string]any{"title": "x", "body": ""}, `field "body" of collection "Blog posts" is required`},
		{map[string]any{"titel": "x"}, `collection "Blog posts" has no field "titel"; its fields are: title (text), summary (text), body (richtext)`},
		{map[string]any{"title": 3.0}, `field "title" of type text: want a string, got a number`},
		{map[string]any{"body": "<script>x</script>"}, `field "body": element <script> is not supported`},
		{map[string]any{"published_on": "31.3.2026"}, `field "published_on": "31.3.2026" is not a date; write it like 2026-03-31`},
		{map[string]any{"category": "Sport"}, `field "category": "Sport" is not one of the options Flying, Workshop, News`},
		{map[string]any{"author": "item_3"}, `field "author": "item_3" is not the id of an item of collection "Authors"`},
	} {
		_, err := s.CreateItems("col_2", []ItemSpec{{Fields: tt.fields}})
		wantError(t, err, tt.want)
	}
	c := must[CollectionInfo](t)(s.CreateCollection("site_1", "Kites", "", []FieldSpec{
		{Name: "Span", Type: "number"}, {Name: "Sold", Type: "boolean"}, {Name: "Photo", Type: "image"}, {Name: "Shop", Type: "link"}}))
	for _, tt := range []struct {
		fields map[string]any
		want   string
	}{
		{map[string]any{"span": "80"}, `field "span" of type number: want a number, got a string`},
		{map[string]any{"sold": "no"}, `field "sold" of type boolean: want true or false, got a string`},
		{map[string]any{"photo": true}, `field "photo" of type image: want an address, or an object with url and alt, got a boolean`},
		{map[string]any{"photo": map[string]any{"src": "/a.png"}}, `an image has the texts url and alt, not "src"`},
		{map[string]any{"photo": "javascript:x"}, `"javascript:x" is not the address of an image`},
		{map[string]any{"shop": "java script:x"}, `is not an address`},
	} {
		_, err := s.CreateItems(c.ID, []ItemSpec{{Fields: tt.fields}})
		wantError(t, err, tt.want)
	}
	_, err := s.CreateItems(c.ID, []ItemSpec{{Fields: map[string]any{"span": 1.0}}, {Fields: map[string]any{"span": "2"}}})
	wantError(t, err, "item 2 of 2 (nothing was changed)")
	if _, n, _ := s.Items(c.ID, 0, 10); n != 0 {
		t.Errorf("%d kites after refused calls; want none", n)
	}
}

func TestDeletes(t *testing.T) {
	s := newStore(t, "cluttered")
	_, err := s.DeleteCollection("col_1")
	wantError(t, err, `collection col_1 (Authors) is referred to by the field "Author" of collection col_2 (Blog posts)`)
	wantError(t, s.DeleteItems("col_1", []string{"item_1"}), "item item_1 is referred to by item item_3 of collection col_2 (Blog posts)")
	n, err := s.DeleteCollection("col_3")
	if err != nil || n != 1 {
		t.Errorf("DeleteCollection(col_3) = %d, %v; want 1 item", n, err)
	}
	wantError(t, s.DeletePage("page_1"), "page page_1 is the home page and cannot be deleted")
	if err := s.DeletePage("page_2"); err != nil {
		t.Fatal(err)
	}
	st := s.State()
	if len(st.Collections) != 2 || len(st.Published.Collections) != 3 || len(st.Pages) != 3 || len(st.Published.Pages) != 4 {
		t.Errorf("draft %d collections, %d pages, live %d and %d; want 2, 3, 3, 4",
			len(st.Collections), len(st.Pages), len(st.Published.Collections), len(st.Published.Pages))
	}
	if err := s.DeleteSite("site_1"); err != nil {
		t.Fatal(err)
	}
	want := State{Sites: []SiteInfo{}, Pages: []PageState{}, Styles: []*Style{}, Collections: []CollectionState{}, Published: emptyPart()}
	if diff := cmp.Diff(want, s.State()); diff != "" {
		t.Error(diff)
	}
}

func TestPageSettings(t *testing.T) {
	s := newStore(t, "demo")
	slug, bad, yes := "our-story", "Our Story", true
	p := must[PageInfo](t)(s.UpdatePage("page_4", PagePatch{Slug: &slug, Draft: &yes}))
	if p.Path != "/our-story" || p.Title != "About" || p.Status != "changed" {
		t.Errorf("page = %+v; want /our-story, About, changed", p)
	}
	must[PublishReport](t)(s.Publish("site_1"))
	if n := len(s.State().Published.Pages); n != 3 {
		t.Errorf("%d live pages; want 3 without the draft", n)
	}
	_, err := s.UpdatePage("page_4", PagePatch{Slug: &bad})
	wantError(t, err, `slug "Our Story" of the page: use lower case letters, digits and -, for example "our-story"`)
	_, err = s.UpdatePage("page_1", PagePatch{Slug: &slug})
	wantError(t, err, "page page_1 is the home page; its slug stays empty")
}

func TestOpenKeepsTheAccount(t *testing.T) {
	file := filepath.Join(t.TempDir(), "account.json")
	s := must[*Store](t)(Open(file, "demo"))
	c := must[CollectionInfo](t)(s.CreateCollection("site_1", "Recipes", "", nil))
	again := must[*Store](t)(Open(file, "blank"))
	if diff := cmp.Diff(s.State(), again.State()); diff != "" {
		t.Errorf("the account read back differs:\n%s", diff)
	}
	next := must[CollectionInfo](t)(again.CreateCollection("site_1", "Notes", "", nil))
	if c.ID != "col_3" || next.ID != "col_4" {
		t.Errorf("ids = %s, %s; want col_3, col_4", c.ID, next.ID)
	}
	names, err := filepath.Glob(file + "*")
	if err != nil || len(names) != 1 {
		t.Errorf("files = %v, %v; want only the account", names, err)
	}
	if err := os.WriteFile(file, []byte(`{"sites":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(file, "blank")
	wantError(t, err, "not written by this program")
}
