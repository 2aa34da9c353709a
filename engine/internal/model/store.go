package model

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxEntry bounds a stored answer.
const maxEntry = 8 << 20

// store keeps answers in a folder, by key. What cannot be read is not there.
type store struct {
	dir  string
	mu   sync.Mutex
	busy map[string]*holder
}

// holder is a key that is being worked on, and how many want it.
type holder struct {
	place chan struct{}
	n     int
}

// entry is the file of an answer.
type entry struct {
	Key    string            `json:"key"`
	Answer *eval.ModelAnswer `json:"answer"`
}

func newStore(dir string) *store {
	if dir == "" {
		return nil
	}
	return &store{dir: dir, busy: map[string]*holder{}}
}

// lock makes the caller the only one that asks for a key, so that the same
// request is not sent twice at once. The caller must call unlock.
func (s *store) lock(ctx context.Context, key string) (unlock func(), err error) {
	s.mu.Lock()
	h := s.busy[key]
	if h == nil {
		h = &holder{place: make(chan struct{}, 1)}
		s.busy[key] = h
	}
	h.n++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if h.n--; h.n == 0 {
			delete(s.busy, key)
		}
	}
	select {
	case h.place <- struct{}{}:
		return func() { <-h.place; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

func (s *store) path(key string) string { return filepath.Join(s.dir, key[:2], key+".json") }

// get returns the answer of a key, nil where there is none that can be used.
func (s *store) get(key string) *eval.ModelAnswer {
	f, err := os.Open(s.path(key))
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxEntry+1))
	if err != nil {
		return nil
	}
	return readEntry(key, b)
}

// readEntry reads a stored answer, nil where it is not whole or of another key.
func readEntry(key string, b []byte) *eval.ModelAnswer {
	var e entry
	if len(b) > maxEntry || json.Unmarshal(b, &e) != nil || e.Key != key || e.Answer == nil || e.Answer.Stop != eval.StopEnd {
		return nil
	}
	return e.Answer
}

// put stores an answer, whole or not at all. One that is too big is not stored.
func (s *store) put(key string, a *eval.ModelAnswer) error {
	b, err := json.Marshal(entry{key, a})
	if err != nil || len(b) > maxEntry {
		return err
	}
	path := s.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
