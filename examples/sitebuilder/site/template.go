package site

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
)

//go:embed templates
var templates embed.FS

// Templates names what an account can be made from: blank (one site with an empty, unpublished home page), demo (a
// small published marketing site with a blog) and cluttered (demo with a second, stale "Blog posts" collection that no
// page uses).
func Templates() []string { return []string{"blank", "demo", "cluttered"} }

func (s *Store) apply(template string) error {
	switch template {
	case "", "blank":
		s.newSite("Demo", "demo", "Home")
		return nil
	case "demo":
		_, err := s.demo()
		return err
	case "cluttered":
		return s.cluttered()
	}
	return fmt.Errorf("not known; use one of %s", strings.Join(Templates(), ", "))
}

func (s *Store) newSite(name, slug, home string) *Site {
	w := &Site{ID: s.newID("site"), Name: name, Slug: slug, Draft: (&Content{}).clone()}
	s.data.Sites = append(s.data.Sites, w)
	s.newPage(w, home, "")
	return w
}

type demoData struct {
	Styles  []Style    `json:"styles"`
	Authors []ItemSpec `json:"authors"`
	Posts   []ItemSpec `json:"posts"`
}

// demo builds the demo site with the calls that an agent has, so that it cannot hold what they refuse.
func (s *Store) demo() (postsID string, err error) {
	var data demoData
	raw, err := templates.ReadFile("templates/demo.json")
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(raw, &data); err != nil {
		return "", err
	}
	w := s.newSite("Demo", "demo", "Home")
	for _, st := range data.Styles {
		if _, err := s.CreateStyle(w.ID, st.Name, st.Properties, st.Variants); err != nil {
			return "", err
		}
	}
	postsID, err = s.demoBlog(w.ID, data)
	if err != nil {
		return "", err
	}
	if err := s.demoPages(w); err != nil {
		return "", err
	}
	_, err = s.Publish(w.ID)
	return postsID, err
}

func (s *Store) demoBlog(siteID string, data demoData) (postsID string, err error) {
	authors, err := s.CreateCollection(siteID, "Authors", "", []FieldSpec{
		{Name: "Name", Type: "text", Required: true}, {Name: "Role", Type: "text"}})
	if err != nil {
		return "", err
	}
	if _, err := s.CreateItems(authors.ID, data.Authors); err != nil {
		return "", err
	}
	posts, err := s.CreateCollection(siteID, "Blog posts", "", postFields(authors.ID))
	if err != nil {
		return "", err
	}
	_, err = s.CreateItems(posts.ID, data.Posts)
	return posts.ID, err
}

func postFields(authorsID string) []FieldSpec {
	return []FieldSpec{
		{Name: "Title", Type: "text", Required: true},
		{Name: "Summary", Type: "text"},
		{Name: "Body", Type: "richtext", Required: true},
		{Name: "Published on", Type: "date"},
		{Name: "Category", Type: "option", Options: []string{"Flying", "Workshop", "News"}},
		{Name: "Author", Type: "reference", CollectionID: authorsID},
	}
}

func (s *Store) demoPages(w *Site) error {
	home, err := templates.ReadFile("templates/home.html")
	if err != nil {
		return err
	}
	parts := strings.Split(string(home), "===\n")
	page := w.Draft.Pages[0]
	page.SEOTitle, page.Description = "Larkfield Kites: hand-made kites", "Kites for beginners, racers and rainy Sundays, made by hand in a barn by the sea."
	if err := s.fill(page.ID, parts[0], parts[1], parts[2]); err != nil {
		return err
	}
	for _, title := range []string{"Pricing", "Blog", "About"} {
		body, err := templates.ReadFile("templates/" + strings.ToLower(title) + ".html")
		if err != nil {
			return err
		}
		info, err := s.CreatePage(w.ID, PageSpec{Title: title, SEOTitle: title + " | Larkfield Kites"})
		if err != nil {
			return err
		}
		if err := s.fill(info.ID, parts[0], string(body), parts[2]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) fill(pageID string, html ...string) error {
	for _, src := range html {
		tree, err := element.FromHTML(src)
		if err != nil {
			return err
		}
		if _, err := s.Insert(pageID, "", "append", tree); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) cluttered() error {
	if _, err := s.demo(); err != nil {
		return err
	}
	w := s.data.Sites[0]
	twin, err := s.CreateCollection(w.ID, "Blog posts", "", []FieldSpec{
		{Name: "Title", Type: "text", Required: true}, {Name: "Body", Type: "richtext"}})
	if err != nil {
		return err
	}
	_, err = s.CreateItems(twin.ID, []ItemSpec{{Fields: map[string]any{"title": "Reading the wind", "body": "<p>An old copy.</p>"}}})
	if err != nil {
		return err
	}
	_, err = s.Publish(w.ID)
	return err
}
