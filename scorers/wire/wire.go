// Package wire is the messages between the engine and a scorer module, as bytes:
// the protobuf of proto/evalengine/scorer/v1, read and written by hand. It uses
// no reflection and little of the standard library, because it is compiled into
// every module built with the Go SDK. It is not for anything else: the engine's
// other protobuf goes through the generated code.
//
// Decoded values share the memory of the bytes they were decoded from: the
// caller must not change those afterwards. Unknown fields are ignored.
package wire

import (
	"errors"
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// ErrMalformed is returned for bytes that are not a protobuf message.
var ErrMalformed = errors.New("wire: malformed message")

// Protobuf wire types.
const (
	typeVarint = 0
	typeFixed8 = 1
	typeBytes  = 2
	typeFixed4 = 5
)

// reader walks one message. After an error it yields no more fields.
type reader struct {
	b   []byte
	err error

	num  int    // the field's number
	typ  int    // its wire type
	n    uint64 // its value for varint and fixed
	data []byte // its value for bytes
}

// next moves to the next field and reports whether there is one.
func (r *reader) next() bool {
	if r.err != nil || len(r.b) == 0 {
		return false
	}
	tag, ok := r.varint()
	if !ok || tag>>3 == 0 || tag>>3 > 1<<29-1 {
		return r.fail()
	}
	r.num, r.typ = int(tag>>3), int(tag&7)
	r.n, r.data = 0, nil
	switch r.typ {
	case typeVarint:
		r.n, ok = r.varint()
	case typeFixed8:
		r.n, ok = r.fixed(8)
	case typeFixed4:
		r.n, ok = r.fixed(4)
	case typeBytes:
		var n uint64
		if n, ok = r.varint(); ok && n <= uint64(len(r.b)) {
			r.data, r.b = r.b[:n:n], r.b[n:]
		} else {
			ok = false
		}
	default:
		ok = false
	}
	if !ok {
		return r.fail()
	}
	return true
}

// count returns how many fields of that number come, up to the first error.
func (r *reader) count(num int) int {
	at, n := *r, 0
	for at.next() {
		if at.num == num {
			n++
		}
	}
	return n
}

func (r *reader) fail() bool {
	r.err = ErrMalformed
	r.b = nil
	return false
}

func (r *reader) varint() (uint64, bool) {
	var v uint64
	for i := 0; i < len(r.b) && i < 10; i++ {
		c := r.b[i]
		if i == 9 && c > 1 {
			return 0, false
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.b = r.b[i+1:]
			return v, true
		}
	}
	return 0, false
}

func (r *reader) fixed(n int) (uint64, bool) {
	if len(r.b) < n {
		return 0, false
	}
	var v uint64
	for i := range n {
		v |= uint64(r.b[i]) << (8 * i)
	}
	r.b = r.b[n:]
	return v, true
}

// want reports whether the field has the wire type. A known field of another
// type is malformed.
func (r *reader) want(typ int) bool {
	if r.typ != typ {
		r.fail()
		return false
	}
	return true
}

func (r *reader) bytes() []byte {
	if !r.want(typeBytes) {
		return nil
	}
	return r.data
}

// str returns the field as a string that shares the message's memory. Invalid
// UTF-8, which no protobuf string may hold, becomes U+FFFD.
func (r *reader) str() string {
	if !r.want(typeBytes) || len(r.data) == 0 {
		return ""
	}
	s := unsafe.String(&r.data[0], len(r.data))
	if !utf8.ValidString(s) {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

func (r *reader) int() int {
	if !r.want(typeVarint) {
		return 0
	}
	return int(int32(r.n))
}

func (r *reader) int64() int64 {
	if !r.want(typeVarint) {
		return 0
	}
	return int64(r.n)
}

func (r *reader) bool() bool { return r.want(typeVarint) && r.n != 0 }

func (r *reader) double() float64 {
	if !r.want(typeFixed8) {
		return 0
	}
	return math.Float64frombits(r.n)
}

func (r *reader) doublePtr() *float64 { v := r.double(); return &v }

// doubles reads the field as a packed list or as one more element of a list.
func (r *reader) doubles(list []float64) []float64 {
	if r.typ == typeFixed8 {
		return append(list, r.double())
	}
	in := reader{b: r.bytes()}
	for len(in.b) > 0 {
		u, ok := in.fixed(8)
		if !ok {
			r.fail()
			return list
		}
		list = append(list, math.Float64frombits(u))
	}
	return list
}

// sub reads the field as a message.
func sub[T any](r *reader, read func(*reader, *T), v *T) {
	if !r.want(typeBytes) {
		return
	}
	in := reader{b: r.data}
	read(&in, v)
	if in.err != nil {
		r.fail()
	}
}

// add reads the field as one more message of a list.
func add[T any](r *reader, read func(*reader, *T), list []T) []T {
	var zero T
	list = append(list, zero)
	sub(r, read, &list[len(list)-1])
	return list
}
