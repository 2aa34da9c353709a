package site

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// Limits of one account, so that a runaway agent cannot eat the memory of its neighbours.
const (
	maxPages        = 200
	maxPageElements = 10000
	maxStyles       = 1000
	maxCollections  = 100
	maxFields       = 60
	maxItems        = 2000
)

// A Store is one account. It is safe for concurrent use; what it returns are copies.
type Store struct {
	mu   sync.RWMutex
	data account
	// file is where every change is written, or "" to stay in memory.
	file string
}

type account struct {
	Sequence map[string]int `json:"sequence"`
	Sites    []*Site        `json:"sites"`
}

// New returns an account made from a template (see [Templates]) that lives in memory.
func New(template string) (*Store, error) {
	if template == "demo" {
		return demoCopy()
	}
	return build(template)
}

func build(template string) (*Store, error) {
	s := &Store{data: account{Sequence: map[string]int{}}}
	if err := s.apply(template); err != nil {
		return nil, fmt.Errorf("template %q: %w", template, err)
	}
	return s, nil
}

// demoPattern is the demo account, built when first asked for and never altered: copying it is ten times as fast as
// building it, and one is made for every trial.
var demoPattern = sync.OnceValues(func() (*Store, error) { return build("demo") })

func demoCopy() (*Store, error) {
	pattern, err := demoPattern()
	if err != nil {
		return nil, err
	}
	s := &Store{data: account{Sequence: maps.Clone(pattern.data.Sequence)}}
	for _, w := range pattern.data.Sites {
		c := *w
		c.Draft, c.Live = w.Draft.clone(), w.Live.clone()
		s.data.Sites = append(s.data.Sites, &c)
	}
	return s, nil
}

// Open returns the account stored in the file, or makes it from the template if there is no such file. Every change is
// written to the file, whole or not at all.
func Open(file, template string) (*Store, error) {
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		s, err := New(template)
		if err != nil {
			return nil, err
		}
		s.file = file
		return s, s.save()
	}
	if err != nil {
		return nil, fmt.Errorf("open account: %w", err)
	}
	s := &Store{file: file}
	if err := json.Unmarshal(data, &s.data); err != nil {
		return nil, fmt.Errorf("account %s: %w", file, err)
	}
	if s.data.Sequence == nil {
		return nil, fmt.Errorf("account %s: not written by this program", file)
	}
	return s, nil
}

func (s *Store) save() error {
	if s.file == "" {
		return nil
	}
	data, err := json.Marshal(s.data)
	if err != nil {
		return fmt.Errorf("save account: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(s.file), filepath.Base(s.file)+".*")
	if err != nil {
		return fmt.Errorf("save account: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), s.file)
	}
	if err != nil {
		return fmt.Errorf("save account: %w", err)
	}
	return nil
}

// change runs f alone and stores the outcome. f checks everything before it alters anything.
func (s *Store) change(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := f(); err != nil {
		return err
	}
	return s.save()
}

func (s *Store) newID(kind string) string {
	s.data.Sequence[kind]++
	return kind + "_" + strconv.Itoa(s.data.Sequence[kind])
}

func (s *Store) site(id string) (*Site, error) {
	for _, w := range s.data.Sites {
		if w.ID == id {
			return w, nil
		}
	}
	return nil, fmt.Errorf("site %q not found; sites_list gives the ids", id)
}

func (s *Store) page(id string) (*Site, *Page, error) {
	for _, w := range s.data.Sites {
		for _, p := range w.Draft.Pages {
			if p.ID == id {
				return w, p, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("page %q not found; pages_list gives the ids", id)
}

func (s *Store) collection(id string) (*Site, *Collection, error) {
	for _, w := range s.data.Sites {
		for _, c := range w.Draft.Collections {
			if c.ID == id {
				return w, c, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("collection %q not found; collections_list gives the ids", id)
}

func (c *Content) page(id string) *Page {
	if c == nil {
		return nil
	}
	for _, p := range c.Pages {
		if p.ID == id {
			return p
		}
	}
	return nil
}

func (c *Content) collection(id string) *Collection {
	if c == nil {
		return nil
	}
	for _, l := range c.Collections {
		if l.ID == id {
			return l
		}
	}
	return nil
}

func (c *Collection) item(id string) *Item {
	if c == nil {
		return nil
	}
	for _, it := range c.Items {
		if it.ID == id {
			return it
		}
	}
	return nil
}
