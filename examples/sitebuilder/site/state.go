package site

import "github.com/evalengine/evalengine/examples/sitebuilder/element"

// State is the whole account as plain data: the draft at the top, what visitors see under Published. Equal accounts
// give equal states. Lists are never null.
type State struct {
	Sites       []SiteInfo        `json:"sites"`
	Pages       []PageState       `json:"pages"`
	Styles      []*Style          `json:"styles"`
	Collections []CollectionState `json:"collections"`
	Published   PublishedState    `json:"published"`
}

// PublishedState is what visitors see of all sites.
type PublishedState struct {
	Pages       []PageState       `json:"pages"`
	Styles      []*Style          `json:"styles"`
	Collections []CollectionState `json:"collections"`
}

// PageState is a page with its elements and the facts that conditions ask for most.
type PageState struct {
	PageInfo
	Text     string             `json:"text"`
	Headings []element.Heading  `json:"headings"`
	Classes  []string           `json:"classes"`
	Elements []*element.Element `json:"elements"`
}

// CollectionState is a collection with its items.
type CollectionState struct {
	ID     string     `json:"id"`
	SiteID string     `json:"site_id"`
	Name   string     `json:"name"`
	Slug   string     `json:"slug"`
	Fields []Field    `json:"fields"`
	Items  []ItemInfo `json:"items"`
}

// State returns the account as it is now.
func (s *Store) State() State {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := State{Sites: []SiteInfo{}}
	draft, live := emptyPart(), emptyPart()
	for _, w := range s.data.Sites {
		out.Sites = append(out.Sites, w.info())
		draft.add(w, w.Draft)
		if w.Live != nil {
			live.add(w, w.Live)
		}
	}
	out.Pages, out.Styles, out.Collections = draft.Pages, draft.Styles, draft.Collections
	out.Published = live
	return out
}

func emptyPart() PublishedState {
	return PublishedState{Pages: []PageState{}, Styles: []*Style{}, Collections: []CollectionState{}}
}

func (p *PublishedState) add(w *Site, c *Content) {
	for _, page := range c.Pages {
		elements := page.Body.Clone().Children
		if elements == nil {
			elements = []*element.Element{}
		}
		p.Pages = append(p.Pages, PageState{w.pageInfo(page), page.Body.PlainText(), page.Body.Outline(), page.Body.ClassNames(), elements})
	}
	for _, st := range c.Styles {
		p.Styles = append(p.Styles, st.clone())
	}
	for _, l := range c.Collections {
		state := CollectionState{l.ID, w.ID, l.Name, l.Slug, l.clone().Fields, []ItemInfo{}}
		for _, it := range l.Items {
			state.Items = append(state.Items, w.itemInfo(l, it))
		}
		p.Collections = append(p.Collections, state)
	}
}
