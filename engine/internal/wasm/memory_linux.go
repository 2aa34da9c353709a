package wasm

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pageSize is the unit in which memory is compared and put back: the smallest
// page of any machine that the engine runs on, and a part of all others.
const pageSize = 4096

// linear is the memory of an instance. Its address space is reserved at once and
// given memory as it grows, so it never moves, and what an instance used goes back
// to the system when it is closed. It may begin as a copy-on-write view of an
// image.
type linear struct {
	reserved []byte
	size     uint64
	im       *image
}

func newLinear(limit uint64, im *image) *linear {
	m := &linear{im: im}
	limit = max(limit, 1)
	limit = (limit + 1<<16 - 1) &^ (1<<16 - 1)
	b, err := unix.Mmap(-1, 0, int(limit), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return m // Reallocate says no.
	}
	m.reserved = b
	if im == nil {
		return m
	}
	if err := im.mapOver(b); err != nil {
		m.im = nil
		m.Free()
	}
	return m
}

// Reallocate implements experimental.LinearMemory.
func (m *linear) Reallocate(size uint64) []byte {
	if size > uint64(len(m.reserved)) {
		return nil
	}
	from := m.size
	if m.im != nil {
		from = max(from, uint64(m.im.size))
	}
	if size > from {
		if err := unix.Mprotect(m.reserved[from:size], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil
		}
	}
	m.size = max(m.size, size)
	return m.reserved[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *linear) Free() {
	if m.reserved != nil {
		_ = unix.Munmap(m.reserved)
		m.reserved = nil
	}
}

// image is a memory as it was at one moment, from which others begin.
type image struct {
	fd   int
	size int
	// pristine is a read-only view.
	pristine []byte
	// zero has a bit for each page that is all zero.
	zero []bool
	// pagemap is /proc/self/pagemap, nil where the system does not have it.
	pagemap *os.File
	entries []byte
}

// takeImage copies m and makes m itself a view of the copy.
func takeImage(m *linear) (*image, error) {
	fd, err := unix.MemfdCreate("scorer", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	im := &image{fd: fd, size: int(m.size)}
	if err := unix.Ftruncate(fd, int64(im.size)); err != nil {
		im.close()
		return nil, err
	}
	im.zero = make([]bool, im.size/pageSize)
	for i := range im.zero {
		page := m.reserved[i*pageSize : (i+1)*pageSize]
		if im.zero[i] = isZero(page); im.zero[i] {
			continue
		}
		if _, err := unix.Pwrite(fd, page, int64(i*pageSize)); err != nil {
			im.close()
			return nil, err
		}
	}
	if im.pristine, err = unix.Mmap(fd, 0, im.size, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		im.close()
		return nil, err
	}
	if err := im.mapOver(m.reserved); err != nil {
		im.close()
		return nil, err
	}
	m.im = im
	if f, err := os.Open("/proc/self/pagemap"); err == nil && os.Getpagesize() == pageSize {
		im.pagemap, im.entries = f, make([]byte, len(im.zero)*8)
	} else if err == nil {
		f.Close()
	}
	return im, nil
}

func (im *image) close() {
	if im.pristine != nil {
		_ = unix.Munmap(im.pristine)
	}
	if im.pagemap != nil {
		im.pagemap.Close()
	}
	_ = unix.Close(im.fd)
}

// mapOver lays a copy-on-write view of the image over the start of b.
func (im *image) mapOver(b []byte) error {
	if len(b) < im.size {
		return fmt.Errorf("image of %d bytes in a memory of %d", im.size, len(b))
	}
	_, err := unix.MmapPtr(im.fd, 0, ptr(b), uintptr(im.size),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	return err
}

// Bits of an entry of /proc/self/pagemap.
const (
	pagePresent = 1 << 63
	pageSwapped = 1 << 62
	pageOfFile  = 1 << 61 // as mapped, not a private copy
)

// restoreMost is how many private pages are worth putting back by hand.
const restoreMost = 1024

// restore makes m, which has the image's size, what the image is. It costs about
// as much as the pages that were written to since the last time.
func (im *image) restore(m *linear) error {
	if im.pagemap == nil {
		return im.forget(m)
	}
	at := int64(uintptr(ptr(m.reserved))) / pageSize * 8
	if _, err := im.pagemap.ReadAt(im.entries, at); err != nil {
		return im.forget(m)
	}
	n := 0
	for i := range im.zero {
		e := binary.LittleEndian.Uint64(im.entries[i*8:])
		if e&(pagePresent|pageSwapped) == 0 || e&pageOfFile != 0 {
			continue
		}
		if n++; n > restoreMost {
			return im.forget(m)
		}
		page := m.reserved[i*pageSize : (i+1)*pageSize]
		if im.zero[i] {
			clear(page)
		} else {
			copy(page, im.pristine[i*pageSize:])
		}
	}
	return nil
}

// forget drops every private page, so that the next touch brings the image's.
func (im *image) forget(m *linear) error {
	return unix.Madvise(m.reserved[:im.size], unix.MADV_DONTNEED)
}

func isZero(page []byte) bool {
	for i := 0; i < len(page); i += 8 {
		if binary.LittleEndian.Uint64(page[i:]) != 0 {
			return false
		}
	}
	return true
}

func ptr(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
