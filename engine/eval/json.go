package eval

import "errors"

// JSON is one JSON value as bytes, kept as it was received. It is encoding/json's
// RawMessage without the import, which would triple the size of a scorer module.
// The empty JSON means "absent" and is written as null.
type JSON []byte

// ErrNoJSON is returned by [JSON.UnmarshalJSON] on a nil receiver.
var ErrNoJSON = errors.New("eval: UnmarshalJSON on a nil JSON")

// MarshalJSON returns j, or null where j is empty.
func (j JSON) MarshalJSON() ([]byte, error) {
	if len(j) == 0 {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps a copy of b.
func (j *JSON) UnmarshalJSON(b []byte) error {
	if j == nil {
		return ErrNoJSON
	}
	*j = append((*j)[:0], b...)
	return nil
}

// IsZero reports whether j is absent, for omitzero.
func (j JSON) IsZero() bool { return len(j) == 0 }
