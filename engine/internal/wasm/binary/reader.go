package binary

import "fmt"

// reader reads from the front of b. After the first error everything it yields
// is zero, so callers check err once at the end of a step and in every loop.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

func (r *reader) ok() bool { return r.err == nil }

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail(ErrTruncated)
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)) {
		r.fail(ErrTruncated)
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// u32 reads an unsigned LEB128.
func (r *reader) u32() uint32 {
	var v uint64
	for i := range 5 {
		c := r.byte()
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if v > 1<<32-1 {
				break
			}
			return uint32(v)
		}
	}
	r.fail(fmt.Errorf("malformed number"))
	return 0
}

// skipLEB skips one LEB128 of at most n bytes.
func (r *reader) skipLEB(n int) {
	for i := 0; i < n && i < len(r.b); i++ {
		if r.b[i] < 0x80 {
			r.b = r.b[i+1:]
			return
		}
	}
	r.fail(fmt.Errorf("malformed number"))
}

// count reads the length of a vector whose entries take at least one byte each.
func (r *reader) count(what string, limit int) int {
	n := r.u32()
	switch {
	case !r.ok():
	case uint64(n) > uint64(len(r.b)):
		r.fail(fmt.Errorf("%d %s claimed in %d bytes: %w", n, what, len(r.b), ErrTruncated))
	case int64(n) > int64(limit):
		r.fail(fmt.Errorf("%d %s, at most %d are allowed", n, what, limit))
	}
	if !r.ok() {
		return 0
	}
	return int(n)
}

func (r *reader) name() string {
	n := r.u32()
	if n > maxName {
		r.fail(fmt.Errorf("name of %d bytes", n))
		return ""
	}
	return string(r.take(n))
}

func (r *reader) valueType() byte {
	c := r.byte()
	switch c {
	case I32, I64, F32, F64, V128, FuncRef, ExternRef:
		return c
	}
	r.fail(fmt.Errorf("unknown value type %#x", c))
	return 0
}

func (r *reader) limits() Limits {
	var l Limits
	switch flag := r.byte(); flag {
	case 0:
		l.Min = r.u32()
	case 1:
		l.Min, l.Max, l.HasMax = r.u32(), r.u32(), true
	default:
		r.fail(fmt.Errorf("unknown kind of limits %#x (shared and 64-bit memories are not supported)", flag))
	}
	return l
}

// offset reads the initial value of a data segment's place: its number where it
// is written as one, and else -1.
func (r *reader) offset() int64 {
	at := *r
	if at.byte() == 0x41 {
		if v := at.s32(); at.byte() == 0x0b && at.ok() {
			*r = at
			return int64(uint32(v))
		}
	}
	r.constExpr()
	return -1
}

// s32 reads a signed LEB128.
func (r *reader) s32() int32 {
	var v int64
	for i := range 5 {
		c := r.byte()
		v |= int64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if shift := 64 - 7*(i+1); shift > 0 {
				v = v << shift >> shift
			}
			return int32(v)
		}
	}
	r.fail(fmt.Errorf("malformed number"))
	return 0
}

// constExpr skips an initial value.
func (r *reader) constExpr() {
	switch op := r.byte(); op {
	case 0x41, 0x23, 0xd2: // i32.const, global.get, ref.func
		r.skipLEB(5)
	case 0x42: // i64.const
		r.skipLEB(10)
	case 0x43:
		r.take(4)
	case 0x44:
		r.take(8)
	case 0xd0: // ref.null
		r.byte()
	case 0xfd:
		if r.u32() != 12 { // v128.const
			r.fail(fmt.Errorf("initial value is not constant"))
		}
		r.take(16)
	default:
		r.fail(fmt.Errorf("initial value is not constant"))
	}
	if r.byte() != 0x0b {
		r.fail(fmt.Errorf("initial value of more than one instruction"))
	}
}
