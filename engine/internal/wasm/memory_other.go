//go:build !linux

package wasm

import "bytes"

// linear is the memory of an instance, on systems without copy-on-write images.
type linear struct {
	limit uint64
	b     []byte
	im    *image
}

func newLinear(limit uint64, im *image) *linear {
	m := &linear{limit: limit, im: im}
	if im != nil {
		m.b = bytes.Clone(im.b)
	}
	return m
}

// Reallocate implements experimental.LinearMemory.
func (m *linear) Reallocate(size uint64) []byte {
	if size > m.limit {
		return nil
	}
	if size > uint64(len(m.b)) {
		m.b = append(m.b, make([]byte, size-uint64(len(m.b)))...)
	}
	return m.b[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *linear) Free() { m.b = nil }

// image is a memory as it was at one moment, from which others begin.
type image struct {
	b    []byte
	size int
}

func takeImage(m *linear) (*image, error) {
	return &image{b: bytes.Clone(m.b), size: len(m.b)}, nil
}

func (im *image) close() {}

func (im *image) restore(m *linear) error {
	copy(m.b, im.b)
	return nil
}
