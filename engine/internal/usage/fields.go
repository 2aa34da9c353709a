package usage

import (
	"bytes"
	"math"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// fields are the mapped fields of one line, valid until the next.
type fields [fieldCount][]byte

const (
	session = iota
	at
	tool
	action
	outcome
	latency
	fieldCount
)

var fieldNames = [fieldCount]string{"session", "time", "tool", "action", "ok", "latency"}

// usable reports whether a text can be a name: short, without control characters and
// without the wildcards of the suite language.
func usable(b []byte) bool {
	if len(b) > maxName || !utf8.Valid(b) {
		return false
	}
	return !bytes.ContainsFunc(b, func(r rune) bool {
		return r == '*' || r == '?' || r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r != ' ' && unicode.IsSpace(r)
	}) && len(bytes.TrimSpace(b)) == len(b)
}

// parseOutcome takes the usual words; no text is not known.
func parseOutcome(b []byte) (Outcome, bool) {
	if len(b) > 10 {
		return Unknown, false
	}
	switch string(bytes.ToLower(b)) {
	case "", "null":
		return Unknown, true
	case "true", "t", "1", "yes", "ok", "success", "succeeded":
		return Succeeded, true
	case "false", "f", "0", "no", "error", "failure", "failed", "fail":
		return Failed, true
	}
	return Unknown, false
}

// parseLatency takes milliseconds; no text is not known, which is -1.
func parseLatency(b []byte) (float64, bool) {
	if len(b) == 0 || string(b) == "null" {
		return -1, true
	}
	if len(b) > 40 {
		return -1, false
	}
	ms, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(ms) || math.IsInf(ms, 0) || ms < 0 {
		return -1, false
	}
	return ms, true
}

// parseTime takes RFC 3339, and Unix time in seconds, milliseconds, microseconds or
// nanoseconds, which are told apart by how large the number is: seconds end at 1e11,
// in the year 5138. It returns Unix nanoseconds.
func parseTime(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 40 {
		return 0, false
	}
	if len(b) > 5 && b[4] == '-' {
		return parseDate(b)
	}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return scale(n)
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > 1e18 {
		return 0, false
	}
	whole, part := math.Modf(v)
	n, ok := scale(int64(whole))
	if math.Abs(whole) < 1e11 {
		n += int64(part * 1e9)
	}
	return n, ok
}

// scale makes nanoseconds of a number; false where they do not fit, which is beyond
// the year 2262.
func scale(n int64) (int64, bool) {
	unit := int64(1)
	switch size := max(n, -n); {
	case size < 0: // the smallest number has no opposite
		return 0, false
	case size < 1e11:
		unit = 1e9
	case size < 1e14:
		unit = 1e6
	case size < 1e17:
		unit = 1e3
	}
	return n * unit, n <= math.MaxInt64/unit && n >= math.MinInt64/unit
}

// parseDate takes RFC 3339, also with a space in the place of its T and without a
// zone, which is UTC then.
func parseDate(b []byte) (int64, bool) {
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04:05"} {
		t, err := time.Parse(layout, string(b))
		if err != nil {
			continue
		}
		if y := t.Year(); y < 1700 || y > 2200 {
			return 0, false
		}
		return t.UnixNano(), true
	}
	return 0, false
}
