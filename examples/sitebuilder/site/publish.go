package site

import (
	"errors"
	"fmt"
	"slices"
)

// SiteInfo is a site without its content.
type SiteInfo struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Slug        string `json:"slug"`
	Published   bool   `json:"published"`
	Publishes   int    `json:"publishes"`
	Pages       int    `json:"pages"`
	Collections int    `json:"collections"`
	// UnpublishedChanges says whether publishing would alter what visitors see.
	UnpublishedChanges bool `json:"unpublished_changes"`
}

func (w *Site) info() SiteInfo {
	return SiteInfo{
		ID: w.ID, Name: w.Name, Slug: w.Slug, Published: w.Live != nil, Publishes: w.Publishes,
		Pages: len(w.Draft.Pages), Collections: len(w.Draft.Collections),
		UnpublishedChanges: w.Live == nil || !w.Draft.publishable().equal(w.Live),
	}
}

// Sites lists the sites of the account.
func (s *Store) Sites() []SiteInfo {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := []SiteInfo{}
	for _, w := range s.data.Sites {
		out = append(out, w.info())
	}
	return out
}

// Site returns one site.
func (s *Store) Site(id string) (SiteInfo, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	w, err := s.site(id)
	if err != nil {
		return SiteInfo{}, err
	}
	return w.info(), nil
}

// DeleteSite removes a site with all that belongs to it, live pages included. Nothing brings it back.
func (s *Store) DeleteSite(id string) error {
	return s.change(func() error {
		w, err := s.site(id)
		if err != nil {
			return err
		}
		s.data.Sites = slices.DeleteFunc(s.data.Sites, func(o *Site) bool { return o == w })
		return nil
	})
}

// PublishReport counts what visitors see after a publish.
type PublishReport struct {
	Pages int `json:"pages"`
	Items int `json:"items"`
	// HeldBack counts the pages and items that are marked draft and so are not live.
	HeldBack int `json:"held_back"`
}

// Publish makes the draft of a site live, but for the pages and items that are marked draft.
func (s *Store) Publish(siteID string) (report PublishReport, err error) {
	err = s.change(func() error {
		w, err := s.site(siteID)
		if err != nil {
			return err
		}
		w.Live = w.Draft.publishable().clone()
		w.Publishes++
		report.Pages = len(w.Live.Pages)
		report.HeldBack = len(w.Draft.Pages) - len(w.Live.Pages)
		for i, c := range w.Live.Collections {
			report.Items += len(c.Items)
			report.HeldBack += len(w.Draft.Collections[i].Items) - len(c.Items)
		}
		return nil
	})
	return report, err
}

// publishable is what a publish would make live. It shares its parts with the draft.
func (c *Content) publishable() *Content {
	out := &Content{Pages: []*Page{}, Styles: c.Styles, Collections: []*Collection{}}
	for _, p := range c.Pages {
		if !p.Draft {
			out.Pages = append(out.Pages, p)
		}
	}
	for _, l := range c.Collections {
		live := *l
		live.Items = []*Item{}
		for _, it := range l.Items {
			if !it.Draft {
				live.Items = append(live.Items, it)
			}
		}
		out.Collections = append(out.Collections, &live)
	}
	return out
}

// PublishItems makes items of a published collection live at once, without the rest of the site, and takes the draft
// mark off them. All or none.
func (s *Store) PublishItems(collectionID string, ids []string) (out []ItemInfo, err error) {
	err = s.change(func() error {
		w, c, err := s.collection(collectionID)
		if err != nil {
			return err
		}
		live := w.Live.collection(collectionID)
		if live == nil {
			return fmt.Errorf("collection %s (%s) is not live yet; publish the site first with sites_publish", c.ID, c.Name)
		}
		if len(ids) == 0 {
			return errors.New("no item ids given")
		}
		for _, id := range ids {
			if _, err := c.needItem(id); err != nil {
				return err
			}
		}
		for _, id := range ids {
			c.item(id).Draft = false
		}
		live.Items = liveItems(c, live, ids)
		for _, id := range ids {
			out = append(out, w.itemInfo(c, c.item(id)))
		}
		return nil
	})
	return out, err
}

// liveItems is the list of live items after some were published: in the order of the draft, and at the end those that
// the draft no longer has.
func liveItems(c, live *Collection, ids []string) []*Item {
	out := []*Item{}
	for _, it := range c.Items {
		if slices.Contains(ids, it.ID) {
			out = append(out, it.clone())
		} else if old := live.item(it.ID); old != nil {
			out = append(out, old)
		}
	}
	for _, old := range live.Items {
		if c.item(old.ID) == nil {
			out = append(out, old)
		}
	}
	return out
}

// View calls f with the content of the site that visitors see (live) or the draft. f must neither keep nor alter it.
// Without such content View returns false.
func (s *Store) View(live bool, f func(name string, c *Content)) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.data.Sites) == 0 {
		return false
	}
	w := s.data.Sites[0]
	c := w.Draft
	if live {
		c = w.Live
	}
	if c == nil {
		return false
	}
	f(w.Name, c)
	return true
}
