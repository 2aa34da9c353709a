package tree

import "unicode/utf8"

// Show returns v's JSON for a person: without white space between tokens, cut
// to about limit bytes.
func (v Value) Show(limit int) string {
	if v.d == nil {
		return "nothing"
	}
	var out []byte
	raw := v.Raw()
	for i := 0; i < len(raw) && len(out) <= limit; {
		end := i + 1
		switch raw[i] {
		case ' ', '\n', '\t', '\r':
			i++
			continue
		case '"':
			end, _ = stringEnd(raw, i)
		}
		out = append(out, raw[i:min(end, i+limit+utf8.UTFMax)]...)
		i = end
	}
	return Cut(string(out), limit)
}

// Cut returns s as valid UTF-8 without control characters, for a reason: cut to
// about limit bytes on a whole character, with a mark where something is
// missing.
func Cut(s string, limit int) string {
	out := make([]byte, 0, min(len(s), limit)+utf8.UTFMax)
	for i, r := range s {
		if i >= limit {
			return string(append(out, "…"...))
		}
		if r < ' ' || r == 0x7f {
			r = ' '
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
