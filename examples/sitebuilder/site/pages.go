package site

import (
	"fmt"
	"slices"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
)

// PageInfo is a page without its elements.
type PageInfo struct {
	ID          string `json:"id"`
	SiteID      string `json:"site_id"`
	Title       string `json:"title"`
	Slug        string `json:"slug"`
	Path        string `json:"path"`
	SEOTitle    string `json:"seo_title"`
	Description string `json:"description"`
	Draft       bool   `json:"draft"`
	// Status is unpublished, live or changed (live, but not as the draft is).
	Status string `json:"status"`
}

func (w *Site) pageInfo(p *Page) PageInfo {
	status := "changed"
	live := w.Live.page(p.ID)
	switch {
	case live == nil:
		status = "unpublished"
	case live.equal(p):
		status = "live"
	}
	return PageInfo{p.ID, w.ID, p.Title, p.Slug, p.Path(), p.SEOTitle, p.Description, p.Draft, status}
}

// Pages lists the pages of a site.
func (s *Store) Pages(siteID string) ([]PageInfo, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	w, err := s.site(siteID)
	if err != nil {
		return nil, err
	}
	out := []PageInfo{}
	for _, p := range w.Draft.Pages {
		out = append(out, w.pageInfo(p))
	}
	return out, nil
}

// Page returns a page as drafted and its tree; the root of the tree is the page's body.
func (s *Store) Page(id string) (PageInfo, *element.Element, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	w, p, err := s.page(id)
	if err != nil {
		return PageInfo{}, nil, err
	}
	return w.pageInfo(p), p.Body.Clone(), nil
}

// A PageSpec is what a new page is made from. Slug may be empty: it is then made from the title.
type PageSpec struct {
	Title       string `json:"title"`
	Slug        string `json:"slug"`
	SEOTitle    string `json:"seo_title"`
	Description string `json:"description"`
}

// CreatePage adds an empty page to a site's draft.
func (s *Store) CreatePage(siteID string, spec PageSpec) (info PageInfo, err error) {
	err = s.change(func() error {
		w, err := s.site(siteID)
		if err != nil {
			return err
		}
		if len(w.Draft.Pages) >= maxPages {
			return fmt.Errorf("site %q has %d pages, which is the limit", siteID, maxPages)
		}
		if err := checkName("page", spec.Title); err != nil {
			return err
		}
		slug := spec.Slug
		if slug == "" {
			slug = free(slugify(spec.Title, "-"), func(n string) bool { return w.checkPageSlug(n, "") != nil })
		}
		if err := w.checkPageSlug(slug, ""); err != nil {
			return err
		}
		p := s.newPage(w, spec.Title, slug)
		p.SEOTitle, p.Description = spec.SEOTitle, spec.Description
		info = w.pageInfo(p)
		return nil
	})
	return info, err
}

func (s *Store) newPage(w *Site, title, slug string) *Page {
	p := &Page{ID: s.newID("page"), Title: title, Slug: slug, Body: &element.Element{ID: s.newID("el"), Tag: "body"}}
	w.Draft.Pages = append(w.Draft.Pages, p)
	return p
}

func (w *Site) checkPageSlug(slug, own string) error {
	if err := checkSlug("page", slug); err != nil {
		return err
	}
	if slug == "mcp" || slug == "preview" {
		return fmt.Errorf("slug %q is reserved", slug)
	}
	for _, p := range w.Draft.Pages {
		if p.Slug == slug && p.ID != own {
			return fmt.Errorf("slug %q is taken by page %s (%s)", slug, p.ID, p.Title)
		}
	}
	return nil
}

// A PagePatch names the settings to change; nil leaves one as it is.
type PagePatch struct {
	Title       *string `json:"title"`
	Slug        *string `json:"slug"`
	SEOTitle    *string `json:"seo_title"`
	Description *string `json:"description"`
	Draft       *bool   `json:"draft"`
}

// UpdatePage changes a page's settings in the draft.
func (s *Store) UpdatePage(id string, patch PagePatch) (info PageInfo, err error) {
	err = s.change(func() error {
		w, p, err := s.page(id)
		if err != nil {
			return err
		}
		if patch.Title != nil {
			if err := checkName("page", *patch.Title); err != nil {
				return err
			}
		}
		if patch.Slug != nil && *patch.Slug != p.Slug {
			if p.Slug == "" {
				return fmt.Errorf("page %s is the home page; its slug stays empty", id)
			}
			if err := w.checkPageSlug(*patch.Slug, id); err != nil {
				return err
			}
		}
		set(&p.Title, patch.Title)
		set(&p.Slug, patch.Slug)
		set(&p.SEOTitle, patch.SEOTitle)
		set(&p.Description, patch.Description)
		set(&p.Draft, patch.Draft)
		info = w.pageInfo(p)
		return nil
	})
	return info, err
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// DeletePage removes a page from the draft. The live site keeps it until it is published again.
func (s *Store) DeletePage(id string) error {
	return s.change(func() error {
		w, p, err := s.page(id)
		if err != nil {
			return err
		}
		if p.Slug == "" {
			return fmt.Errorf("page %s is the home page and cannot be deleted", id)
		}
		w.Draft.Pages = slices.DeleteFunc(w.Draft.Pages, func(q *Page) bool { return q == p })
		return nil
	})
}
