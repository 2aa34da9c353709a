package agentout

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Text is a string that may have come as another JSON value: then it is that
// value's text.
type Text string

// UnmarshalJSON accepts any value; null is empty.
func (t *Text) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	switch {
	case bytes.Equal(b, []byte("null")):
		*t = ""
	case len(b) > 0 && b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = Text(s)
	default:
		var compact bytes.Buffer
		if err := json.Compact(&compact, b); err != nil {
			return err
		}
		*t = Text(strings.ToValidUTF8(compact.String(), "\uFFFD"))
	}
	return nil
}

// Count is a number of tokens, turns or the like: 0 where none was told, [Unknown]
// where what was told cannot be true. A count must never fail a line.
type Count int64

// Unknown is what stands for a number that is none, less than nothing or past all
// reason: as one of a sum it would be worse than nothing.
const Unknown Count = -1

// maxCount is far above any true count and far below where sums overflow.
const maxCount = 1 << 34

// UnmarshalJSON accepts any value.
func (c *Count) UnmarshalJSON(b []byte) error {
	*c = 0
	if text := bytes.Trim(b, `" `); !bytes.Equal(text, []byte("null")) {
		*c = countOf(string(text))
	}
	return nil
}

func countOf(text string) Count {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > maxCount {
		return Unknown
	}
	return Count(f)
}

// Known reports whether all counts are known.
func Known(counts ...Count) bool { return !slices.Contains(counts, Unknown) }

// Status is an HTTP status, 0 for anything that is none.
type Status int

// UnmarshalJSON accepts any value.
func (s *Status) UnmarshalJSON(b []byte) error {
	*s = 0
	n, err := strconv.Atoi(string(bytes.Trim(b, `" `)))
	if err == nil && n >= 100 && n <= 599 {
		*s = Status(n)
	}
	return nil
}
