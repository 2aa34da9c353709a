package tree

import (
	"errors"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// ErrPointer is returned by [CheckPointer] for what is no JSON pointer.
var ErrPointer = errors.New("a JSON pointer is empty or begins with /, and holds ~ as ~0 and / as ~1")

// CheckPointer says whether p is a JSON pointer (RFC 6901).
func CheckPointer(p string) error {
	if p != "" && p[0] != '/' {
		return ErrPointer
	}
	for i := range len(p) {
		if p[i] == '~' && (i+1 == len(p) || (p[i+1] != '0' && p[i+1] != '1')) {
			return ErrPointer
		}
	}
	return nil
}

// Find returns the value below v that a checked JSON pointer names.
func (v Value) Find(pointer string) Value {
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		switch v.Kind() {
		case jsonv.Object:
			v = v.Get(strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"))
		case jsonv.Array:
			v = v.element(token)
		default:
			return Value{}
		}
	}
	return v
}

// element returns the element whose index is written as a pointer has it.
func (v Value) element(token string) Value {
	i, err := strconv.ParseUint(token, 10, 31)
	if err != nil || strconv.FormatUint(i, 10) != token {
		return Value{}
	}
	return v.At(int(i))
}
