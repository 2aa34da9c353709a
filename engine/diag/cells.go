package diag

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cell is one character as people see it, with what combines with it.
type cell struct {
	text string
	wide int
	// marked cells are underlined.
	marked bool
}

type cells []cell

// tabStop is how far a tab in an excerpt goes.
const tabStop = 4

// layOut splits a line into cells and marks those between the bytes from and
// to. An empty range marks nothing but the place: see underline.
func layOut(line string, from, to int) cells {
	var out cells
	column := 0
	for i := 0; i < len(line); {
		n := clusterLen(line[i:])
		text, wide := shown(line[i:i+n], column)
		out = append(out, cell{text, wide, i >= from && i < to})
		column += wide
		i += n
	}
	if from == to && to > 0 || from >= len(line) && to > 0 {
		out = markPlace(out, line, from)
	}
	return out
}

// markPlace marks the cell at an empty range, which may be behind the line's
// end.
func markPlace(c cells, line string, from int) cells {
	at := len(c)
	for i, pos := 0, 0; pos < len(line); i++ {
		if pos >= from {
			at = i
			break
		}
		pos += clusterLen(line[pos:])
	}
	if at == len(c) {
		return append(c, cell{" ", 1, true})
	}
	c[at].marked = true
	return c
}

// shown is how a cluster is printed: tabs as spaces, and no character that a
// terminal would obey.
func shown(cluster string, column int) (string, int) {
	if cluster == "\t" {
		n := tabStop - column%tabStop
		return strings.Repeat(" ", n), n
	}
	if s := clean(cluster); s != cluster {
		return s, Width(s)
	}
	return cluster, Width(cluster)
}

func (c cells) text() string {
	var b strings.Builder
	for _, e := range c {
		b.WriteString(e.text)
	}
	return b.String()
}

func (c cells) wide() int {
	n := 0
	for _, e := range c {
		n += e.wide
	}
	return n
}

// first is the first marked cell.
func (c cells) first() int {
	return max(0, slices.IndexFunc(c, func(e cell) bool { return e.marked }))
}

// fit cuts the cells to a width so that the cell at keep is seen, with dots
// where something is left out.
func (c cells) fit(width, keep int) cells {
	if c.wide() <= width {
		return c
	}
	from := 0
	if c[:keep].wide() > width*2/3 {
		from = keep
		for used := 0; from > 0 && used+c[from-1].wide <= width/3; from-- {
			used += c[from-1].wide
		}
	}
	var out cells
	if from > 0 {
		out = append(out, cell{text: "...", wide: 3})
	}
	used := out.wide()
	for i := from; i < len(c); i++ {
		if used+c[i].wide > width-3 && c[i:].wide() > width-used {
			return append(out, cell{text: "...", wide: 3})
		}
		out = append(out, c[i])
		used += c[i].wide
	}
	return out
}

type marks struct{ before, wide int }

// underline is where the marked cells are.
func (c cells) underline() marks {
	first := c.first()
	m := marks{before: c[:min(first, len(c))].wide()}
	for _, e := range c[min(first, len(c)):] {
		if !e.marked {
			break
		}
		m.wide += e.wide
	}
	m.wide = max(1, m.wide)
	return m
}

// span is the subject's bytes within its first line.
func span(r Range, line string, start int) (from, to int) {
	from = offset(r.Start, line, start)
	to = len(line)
	if r.End.Line == r.Start.Line {
		to = max(from, offset(r.End, line, start))
	}
	if r.End.Line == 0 {
		to = from
	}
	if from == 0 && to == 0 {
		// Something must be marked, also at the line's begin.
		to = min(len(line), max(1, clusterLen(line)))
	}
	return from, to
}

// offset is the byte of a place within the line: its own where that fits, and
// otherwise that of its column.
func offset(p Pos, line string, start int) int {
	at := p.Byte - start
	if at > 0 && at <= len(line) || at == 0 && p.Column <= 1 {
		return at
	}
	i := 0
	for column := 1; column < p.Column && i < len(line); column++ {
		i += clusterLen(line[i:])
	}
	return i
}

const (
	joiner     = '\u200d'
	emojiStyle = '\ufe0f'
)

// clusterLen is the length in bytes of the first character as people see it. It
// joins what source text holds in practice: combining marks, variation
// selectors, joined emoji, skin tones and flags.
func clusterLen(s string) int {
	if s == "" {
		return 0
	}
	first, n := utf8.DecodeRuneInString(s)
	flag := regional(first)
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		prev, _ := utf8.DecodeLastRuneInString(s[:n])
		switch {
		case extends(r), prev == joiner && first != joiner:
			n += size
		case flag && regional(r):
			n += size
			flag = false
		default:
			return n
		}
	}
	return n
}

func regional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

func extends(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me) || r == joiner || r >= 0x1F3FB && r <= 0x1F3FF
}

// Width is how many cells of a terminal a text takes.
func Width(s string) int {
	n := 0
	for s != "" {
		size := clusterLen(s)
		n += clusterWidth(s[:size])
		s = s[size:]
	}
	return n
}

func clusterWidth(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case extends(r) || unicode.Is(unicode.Cf, r) && r != 0xAD:
		return 0
	case unicode.Is(wideRunes, r), regional(r) && n < len(s), strings.ContainsRune(s[n:], emojiStyle):
		return 2
	}
	return 1
}

// clean replaces what a terminal would obey or show the wrong way round.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == utf8.RuneError:
			return '\uFFFD'
		}
		return r
	}, s)
}

// wideRunes take two cells: East Asian wide and fullwidth characters and emoji.
var wideRunes = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115F, 1}, {0x231A, 0x231B, 1}, {0x2329, 0x232A, 1}, {0x23E9, 0x23EC, 1}, {0x23F0, 0x23F3, 3},
		{0x25FD, 0x25FE, 1}, {0x2614, 0x2615, 1}, {0x2648, 0x2653, 1}, {0x267F, 0x2693, 20}, {0x26A1, 0x26A1, 1},
		{0x26AA, 0x26AB, 1}, {0x26BD, 0x26BE, 1}, {0x26C4, 0x26C5, 1}, {0x26CE, 0x26D4, 6}, {0x26EA, 0x26EA, 1},
		{0x26F2, 0x26F3, 1}, {0x26F5, 0x26FA, 5}, {0x26FD, 0x2705, 8}, {0x270A, 0x270B, 1}, {0x2728, 0x2728, 1},
		{0x274C, 0x274E, 2}, {0x2753, 0x2755, 1}, {0x2757, 0x2757, 1}, {0x2795, 0x2797, 1}, {0x27B0, 0x27BF, 15},
		{0x2B1B, 0x2B1C, 1}, {0x2B50, 0x2B55, 5}, {0x2E80, 0x303E, 1}, {0x3041, 0x4DBF, 1}, {0x4E00, 0xA4CF, 1},
		{0xA960, 0xA97F, 1}, {0xAC00, 0xD7A3, 1}, {0xF900, 0xFAFF, 1}, {0xFE10, 0xFE19, 1}, {0xFE30, 0xFE6F, 1},
		{0xFF00, 0xFF60, 1}, {0xFFE0, 0xFFE6, 1},
	},
	R32: []unicode.Range32{
		{0x16FE0, 0x18AFF, 1}, {0x1B000, 0x1B2FF, 1}, {0x1F004, 0x1F0CF, 0xCB}, {0x1F18E, 0x1F18E, 1},
		{0x1F191, 0x1F19A, 1}, {0x1F200, 0x1F320, 1}, {0x1F32D, 0x1F335, 1}, {0x1F337, 0x1F37C, 1},
		{0x1F37E, 0x1F393, 1}, {0x1F3A0, 0x1F3CA, 1}, {0x1F3CF, 0x1F3D3, 1}, {0x1F3E0, 0x1F3F0, 1},
		{0x1F3F4, 0x1F3F4, 1}, {0x1F3F8, 0x1F43E, 1}, {0x1F440, 0x1F440, 1}, {0x1F442, 0x1F4FC, 1},
		{0x1F4FF, 0x1F53D, 1}, {0x1F54B, 0x1F54E, 1}, {0x1F550, 0x1F567, 1}, {0x1F57A, 0x1F57A, 1},
		{0x1F595, 0x1F596, 1}, {0x1F5A4, 0x1F5A4, 1}, {0x1F5FB, 0x1F64F, 1}, {0x1F680, 0x1F6C5, 1},
		{0x1F6CC, 0x1F6CC, 1}, {0x1F6D0, 0x1F6D2, 1}, {0x1F6D5, 0x1F6DF, 1}, {0x1F6EB, 0x1F6FC, 1},
		{0x1F7E0, 0x1F7F0, 1}, {0x1F90C, 0x1F9FF, 1}, {0x1FA70, 0x1FAFF, 1}, {0x20000, 0x3FFFD, 1},
	},
}
