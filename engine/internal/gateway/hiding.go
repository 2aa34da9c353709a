package gateway

import (
	"bytes"
	"io"
)

// hiding writes stars in place of a key, also of one that comes in two parts.
// It keeps sizes: what follows may have been told them.
type hiding struct {
	w     io.Writer
	key   []byte
	stars []byte
	held  []byte
}

func newHiding(w io.Writer, key string) *hiding {
	return &hiding{w: w, key: []byte(key), stars: bytes.Repeat([]byte{'*'}, len(key))}
}

func (h *hiding) Write(p []byte) (int, error) {
	if len(h.key) == 0 {
		return h.w.Write(p)
	}
	b := append(h.held, p...)
	if bytes.Contains(b, h.key) {
		b = bytes.ReplaceAll(b, h.key, h.stars)
	}
	keep := h.begun(b)
	_, err := h.w.Write(b[:len(b)-keep])
	h.held = append([]byte(nil), b[len(b)-keep:]...)
	return len(p), err
}

// begun is how many bytes at the end of b may be the key's beginning.
func (h *hiding) begun(b []byte) int {
	for n := min(len(h.key)-1, len(b)); n > 0; n-- {
		if bytes.HasSuffix(b, h.key[:n]) {
			return n
		}
	}
	return 0
}

// Flush writes what was held back.
func (h *hiding) Flush() error {
	_, err := h.w.Write(h.held)
	h.held = nil
	return err
}
