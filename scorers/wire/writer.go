package wire

import (
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// writer appends one message. It runs twice over a value: first it only counts
// (sizes of nested messages go into sizes, in order), then it writes. So the two
// can never disagree, and a message is written without moving bytes.
type writer struct {
	counting bool
	n        int // bytes counted in the message at hand
	sizes    []int
	next     int // sizes used up while writing

	out []byte
	// cut, where positive, is the length from which bytes are not copied to out
	// but become a segment of their own. large counts those; what of out lies
	// before start is in segments.
	cut, large, start int
	segments          [][]byte
}

// run writes one value with f and returns the segments that make it up.
func (w *writer) run(f func(*writer)) {
	w.counting, w.n = true, 0
	f(w)
	w.counting, w.next = false, 0
	w.out = append(make([]byte, 0, len(w.out)+w.n-w.large), w.out...)
	f(w)
}

// flush makes a segment of what was written since the last one.
func (w *writer) flush() {
	if w.start < len(w.out) {
		w.segments = append(w.segments, w.out[w.start:len(w.out):len(w.out)])
		w.start = len(w.out)
	}
}

func varintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

func (w *writer) varint(v uint64) {
	if w.counting {
		w.n += varintLen(v)
		return
	}
	for v >= 0x80 {
		w.out = append(w.out, byte(v)|0x80)
		v >>= 7
	}
	w.out = append(w.out, byte(v))
}

func (w *writer) tag(num, typ int) { w.varint(uint64(num)<<3 | uint64(typ)) }

func (w *writer) raw(b []byte) {
	whole := w.cut > 0 && len(b) >= w.cut
	switch {
	case w.counting:
		w.n += len(b)
		if whole {
			w.large += len(b)
		}
	case whole:
		w.flush()
		w.segments = append(w.segments, b)
	default:
		w.out = append(w.out, b...)
	}
}

// bytes writes a bytes field; empty is left out, as proto3 does.
func (w *writer) bytes(num int, b []byte) {
	if len(b) > 0 {
		w.tag(num, typeBytes)
		w.varint(uint64(len(b)))
		w.raw(b)
	}
}

// bytesAlways writes one element of a list, also an empty one.
func (w *writer) bytesAlways(num int, b []byte) {
	w.tag(num, typeBytes)
	w.varint(uint64(len(b)))
	w.raw(b)
}

// doubles writes a packed list.
func (w *writer) doubles(num int, list []float64) {
	if len(list) == 0 {
		return
	}
	w.tag(num, typeBytes)
	w.varint(uint64(8 * len(list)))
	for _, v := range list {
		w.fixed(v)
	}
}

func (w *writer) fixed(v float64) {
	if w.counting {
		w.n += 8
		return
	}
	u := math.Float64bits(v)
	for i := range 8 {
		w.out = append(w.out, byte(u>>(8*i)))
	}
}

func (w *writer) str(num int, s string) {
	if s != "" {
		w.element(num, s)
	}
}

// element writes one string of a list, also an empty one.
func (w *writer) element(num int, s string) {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	w.tag(num, typeBytes)
	w.varint(uint64(len(s)))
	if w.cut > 0 && len(s) >= w.cut {
		w.raw(unsafe.Slice(unsafe.StringData(s), len(s)))
		return
	}
	if w.counting {
		w.n += len(s)
		return
	}
	w.out = append(w.out, s...)
}

func (w *writer) strs(num int, list []string) {
	for _, s := range list {
		w.element(num, s)
	}
}

func (w *writer) int(num int, v int) { w.int64(num, int64(int32(v))) }

func (w *writer) int64(num int, v int64) {
	if v != 0 {
		w.tag(num, typeVarint)
		w.varint(uint64(v))
	}
}

func (w *writer) bool(num int, v bool) {
	if v {
		w.int64(num, 1)
	}
}

func (w *writer) boolPtr(num int, v *bool) {
	if v == nil {
		return
	}
	w.tag(num, typeVarint)
	n := uint64(0)
	if *v {
		n = 1
	}
	w.varint(n)
}

func (w *writer) double(num int, v float64) {
	if math.Float64bits(v) != 0 {
		w.doublePtr(num, &v)
	}
}

func (w *writer) doublePtr(num int, v *float64) {
	if v == nil {
		return
	}
	w.tag(num, typeFixed8)
	w.fixed(*v)
}

// message writes a nested message with f.
func message[T any](w *writer, num int, f func(*writer, *T), v *T) {
	w.tag(num, typeBytes)
	if w.counting {
		outer, slot := w.n, len(w.sizes)
		w.sizes = append(w.sizes, 0)
		w.n = 0
		f(w, v)
		size := w.n
		w.sizes[slot] = size
		w.n = outer + varintLen(uint64(size)) + size
		return
	}
	size := w.sizes[w.next]
	w.next++
	w.varint(uint64(size))
	f(w, v)
}

func messages[T any](w *writer, num int, f func(*writer, *T), list []T) {
	for i := range list {
		message(w, num, f, &list[i])
	}
}
