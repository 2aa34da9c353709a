package model

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// maxProblems bounds how many errors of one script are reported.
const maxProblems = 20

// A checker gathers what is wrong with a script while it is read, so that all
// of it is reported at once.
type checker struct {
	src      []byte
	problems []error
}

func (c *checker) errorf(off int, path, format string, args ...any) {
	if len(c.problems) >= maxProblems {
		return
	}
	line, col := position(c.src, off)
	msg := fmt.Sprintf(format, args...)
	if path != "" {
		msg = path + ": " + msg
	}
	c.problems = append(c.problems, fmt.Errorf("%d:%d: %s", line, col, msg))
}

func (c *checker) err() error { return errors.Join(c.problems...) }

// position is the line and column, both from 1, of a byte offset.
func position(src []byte, off int) (line, col int) {
	off = max(0, min(off, len(src)))
	before := string(src[:off])
	line = 1 + strings.Count(before, "\n")
	return line, off - strings.LastIndexByte(before, '\n')
}

// fields gives the members of an object, refusing names that are not allowed.
// It is usable, and empty, when n is not an object.
func (c *checker) fields(n *node, path string, allowed ...string) fields {
	f := fields{c: c, n: n, path: path}
	if n.kind != objectNode {
		c.errorf(n.off, path, "want an object, found %v", n.kind)
		return f
	}
	f.members = map[string]*node{}
	for _, m := range n.members {
		if !slices.Contains(allowed, m.name) {
			c.errorf(m.off, path, "unknown field %q%s", m.name, didYouMean(m.name, allowed))
			continue
		}
		f.members[m.name] = m.value
	}
	return f
}

// fields is an object of a script being read.
type fields struct {
	c       *checker
	n       *node
	path    string
	members map[string]*node
}

func (f fields) has(name string) bool { return f.members[name] != nil }

func (f fields) sub(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

func (f fields) of(name string, kind nodeKind) *node {
	n := f.members[name]
	if n == nil {
		return nil
	}
	if n.kind != kind {
		f.c.errorf(n.off, f.sub(name), "want %v, found %v", kind, n.kind)
		return nil
	}
	return n
}

func (f fields) str(name string) string {
	if n := f.of(name, stringNode); n != nil {
		return n.str
	}
	return ""
}

func (f fields) flag(name string) bool {
	n := f.of(name, boolNode)
	return n != nil && n.truth
}

// whole reads a whole number between lo and hi.
func (f fields) whole(name string, lo, hi int) int {
	n := f.of(name, numberNode)
	if n == nil {
		return 0
	}
	v, err := strconv.Atoi(n.str)
	if err != nil || v < lo || v > hi {
		f.c.errorf(n.off, f.sub(name), "want a whole number from %d to %d, found %s", lo, hi, n.str)
		return 0
	}
	return v
}

func (f fields) list(name string) []*node {
	if n := f.of(name, arrayNode); n != nil {
		return n.items
	}
	return nil
}

func (f fields) regex(name string) *regexp.Regexp {
	n := f.of(name, stringNode)
	if n == nil {
		return nil
	}
	re, err := regexp.Compile(n.str)
	if err != nil {
		f.c.errorf(n.off, f.sub(name), "%v", err)
		return nil
	}
	return re
}

// oneOf reads a string that must be one of the given ones.
func (f fields) oneOf(name string, allowed ...string) string {
	n := f.of(name, stringNode)
	if n == nil {
		return ""
	}
	if !slices.Contains(allowed, n.str) {
		hint := didYouMean(n.str, allowed)
		if hint == "" {
			hint = "; want " + strings.Join(allowed, ", ")
		}
		f.c.errorf(n.off, f.sub(name), "unknown value %q%s", n.str, hint)
		return ""
	}
	return n.str
}

func didYouMean(got string, known []string) string {
	best, dist := "", len(got)/3+2
	sorted := append([]string(nil), known...)
	sort.Strings(sorted)
	for _, k := range sorted {
		if d := distance(got, k); d < dist {
			best, dist = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the Levenshtein distance of two short names.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
