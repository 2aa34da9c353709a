package site

import (
	"fmt"
	"slices"
	"strings"
)

// ItemInfo is an item as drafted, with what visitors see of it.
type ItemInfo struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	// Status is draft (held back), staged (goes live at the next publish), live, or changed (live, but not as the
	// draft is).
	Status string         `json:"status"`
	Draft  bool           `json:"draft"`
	Fields map[string]any `json:"fields"`
	// Published holds the live values, or is nil while the item is not live.
	Published map[string]any `json:"published"`
}

func (w *Site) itemInfo(c *Collection, it *Item) ItemInfo {
	own := it.clone()
	info := ItemInfo{ID: it.ID, Slug: it.Slug, Draft: it.Draft, Fields: own.Fields}
	live := w.Live.collection(c.ID).item(it.ID)
	switch {
	case live == nil && it.Draft:
		info.Status = "draft"
	case live == nil:
		info.Status = "staged"
	default:
		info.Published = live.clone().Fields
		info.Status = "changed"
		if live.equal(it) {
			info.Status = "live"
		}
	}
	return info
}

// Items lists items of a collection of the draft from offset on, at most limit, and says how many there are.
func (s *Store) Items(collectionID string, offset, limit int) (list []ItemInfo, total int, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	w, c, err := s.collection(collectionID)
	if err != nil {
		return nil, 0, err
	}
	if offset < 0 || limit < 1 {
		return nil, 0, fmt.Errorf("offset must be at least 0 and limit at least 1")
	}
	list = []ItemInfo{}
	for _, it := range c.Items[min(offset, len(c.Items)):] {
		if len(list) == limit {
			break
		}
		list = append(list, w.itemInfo(c, it))
	}
	return list, len(c.Items), nil
}

// An ItemSpec is what a new item is made from. Slug may be empty: it is then made from the first text field.
type ItemSpec struct {
	Slug   string         `json:"slug"`
	Fields map[string]any `json:"fields"`
	// Draft holds the item back when the site is published.
	Draft bool `json:"draft"`
}

// CreateItems adds items to a collection of the draft, all or none.
func (s *Store) CreateItems(collectionID string, specs []ItemSpec) (out []ItemInfo, err error) {
	err = s.change(func() error {
		w, c, err := s.collection(collectionID)
		if err != nil {
			return err
		}
		if len(specs) == 0 {
			return errNoItems
		}
		if len(c.Items)+len(specs) > maxItems {
			return fmt.Errorf("collection %q would have %d items; the limit is %d", c.Name, len(c.Items)+len(specs), maxItems)
		}
		all := slices.Clone(c.Items)
		for i, spec := range specs {
			it, err := s.newItem(c, all, spec)
			if err != nil {
				return numbered(i, len(specs), err)
			}
			all = append(all, it)
		}
		for _, it := range all[len(c.Items):] {
			it.ID = s.newID("item")
		}
		first := len(c.Items)
		c.Items = all
		for _, it := range all[first:] {
			out = append(out, w.itemInfo(c, it))
		}
		return nil
	})
	return out, err
}

func numbered(i, n int, err error) error {
	if n == 1 {
		return err
	}
	return fmt.Errorf("item %d of %d (nothing was changed): %w", i+1, n, err)
}

func (s *Store) newItem(c *Collection, all []*Item, spec ItemSpec) (*Item, error) {
	fields, err := s.checkFields(c, spec.Fields)
	if err != nil {
		return nil, err
	}
	it := &Item{Slug: spec.Slug, Draft: spec.Draft, Fields: fields}
	if it.Slug == "" {
		name := slugify(it.Title(c.Fields), "-")
		if name == "" {
			name = "item"
		}
		it.Slug = free(name, func(n string) bool { return slugTaken(all, n, "") })
	}
	return it, checkItemSlug(all, it.Slug, "")
}

func slugTaken(all []*Item, slug, own string) bool {
	return slices.ContainsFunc(all, func(o *Item) bool { return o.Slug == slug && o.ID != own })
}

func checkItemSlug(all []*Item, slug, own string) error {
	if err := checkSlug("item", slug); err != nil {
		return err
	}
	if slugTaken(all, slug, own) {
		return fmt.Errorf("slug %q is taken by another item", slug)
	}
	return nil
}

// An ItemPatch names what to change of one item; nil leaves a part as it is. Fields are merged into those there; null
// removes one.
type ItemPatch struct {
	ID     string         `json:"id"`
	Slug   *string        `json:"slug"`
	Fields map[string]any `json:"fields"`
	Draft  *bool          `json:"draft"`
}

// UpdateItems changes items in the draft, all or none. What visitors see stays as it was.
func (s *Store) UpdateItems(collectionID string, patches []ItemPatch) (out []ItemInfo, err error) {
	err = s.change(func() error {
		w, c, err := s.collection(collectionID)
		if err != nil {
			return err
		}
		if len(patches) == 0 {
			return errNoItems
		}
		next := c.clone()
		for i, patch := range patches {
			if err := s.patchItem(next, patch); err != nil {
				return numbered(i, len(patches), err)
			}
		}
		c.Items = next.Items
		for _, patch := range patches {
			out = append(out, w.itemInfo(c, c.item(patch.ID)))
		}
		return nil
	})
	return out, err
}

func (s *Store) patchItem(c *Collection, patch ItemPatch) error {
	it, err := c.needItem(patch.ID)
	if err != nil {
		return err
	}
	if patch.Slug == nil && patch.Fields == nil && patch.Draft == nil {
		return fmt.Errorf("item %s: nothing to change: give fields, slug or draft", it.ID)
	}
	values := cloneMap(it.Fields)
	for k, v := range patch.Fields {
		values[k] = v
	}
	fields, err := s.checkFields(c, values)
	if err != nil {
		return err
	}
	if patch.Slug != nil {
		if err := checkItemSlug(c.Items, *patch.Slug, it.ID); err != nil {
			return err
		}
	}
	it.Fields = fields
	set(&it.Slug, patch.Slug)
	set(&it.Draft, patch.Draft)
	return nil
}

func (c *Collection) needItem(id string) (*Item, error) {
	if it := c.item(id); it != nil {
		return it, nil
	}
	return nil, fmt.Errorf("item %q not found in collection %s (%s); collection_items_list gives the ids", id, c.ID, c.Name)
}

// DeleteItems removes items from the draft, all or none. The live site keeps them until it is published again.
func (s *Store) DeleteItems(collectionID string, ids []string) error {
	return s.change(func() error {
		w, c, err := s.collection(collectionID)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return errNoItems
		}
		for _, id := range ids {
			if _, err := c.needItem(id); err != nil {
				return err
			}
			if from := w.referrers(c.ID, id); len(from) > 0 {
				return fmt.Errorf("item %s is referred to by %s", id, strings.Join(from, ", "))
			}
		}
		c.Items = slices.DeleteFunc(c.Items, func(it *Item) bool { return slices.Contains(ids, it.ID) })
		return nil
	})
}

// referrers lists the items of other collections that point at an item.
func (w *Site) referrers(collectionID, itemID string) []string {
	var out []string
	for _, c := range w.Draft.Collections {
		for _, f := range c.Fields {
			if f.CollectionID != collectionID || c.ID == collectionID {
				continue
			}
			for _, it := range c.Items {
				if it.Fields[f.Slug] == itemID {
					out = append(out, fmt.Sprintf("item %s of collection %s (%s)", it.ID, c.ID, c.Name))
				}
			}
		}
	}
	return out
}
