package redact

import (
	"errors"
	"io"
	"os"
)

// chunk is how much of a file is looked at at once, beside as much as the longest
// secret may take.
const chunk = 256 << 10

// File rewrites the file in place where it holds a secret, a part at a time: a
// file of any size takes the same memory, and a secret that lies across two parts
// is seen. Nothing may write to the file meanwhile.
func (s *Set) File(path string) error {
	if s.none() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) && os.Chmod(path, 0o600) == nil {
		f, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		return err
	}
	err = s.rewrite(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// rewrite redacts f. A mark is never longer than what it replaces, so what is
// written stays behind what was read.
func (s *Set) rewrite(f *os.File) error {
	var at int64
	changed := false
	err := s.stream(f, func(b []byte, same bool) error {
		changed = changed || !same
		if changed {
			if _, err := f.WriteAt(b, at); err != nil {
				return err
			}
		}
		at += int64(len(b))
		return nil
	})
	if err != nil || !changed {
		return err
	}
	return f.Truncate(at)
}

// stream reads all of r and tells emit the redacted text part by part; same says
// that a part is as it was read.
func (s *Set) stream(r io.Reader, emit func(b []byte, same bool) error) error {
	s.mu.RLock()
	window := s.index.longest
	s.mu.RUnlock()
	buf := make([]byte, chunk+2*window)
	n := 0
	for {
		m, err := io.ReadFull(r, buf[n:])
		n += m
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return err
		}
		limit := n
		if !end {
			limit = n - window
		}
		done, err := s.part(buf[:n], limit, emit)
		if err != nil || end {
			return err
		}
		n = copy(buf, buf[done:n])
	}
}

// part emits b up to limit, or up to the end of a secret that begins before it.
func (s *Set) part(b []byte, limit int, emit func(b []byte, same bool) error) (done int, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for done < limit {
		from, to := s.index.find(b, done, limit)
		if from < 0 {
			// Backslashes at the end belong to what follows.
			stop := limit
			for limit < len(b) && stop > done && limit-stop < maxBackslashes && b[stop-1] == '\\' {
				stop--
			}
			if stop == done {
				stop = limit
			}
			return stop, emit(b[done:stop], true)
		}
		if from > done {
			if err := emit(b[done:from], true); err != nil {
				return 0, err
			}
		}
		if err := emit([]byte(Mark), false); err != nil {
			return 0, err
		}
		done = to
	}
	return done, nil
}
