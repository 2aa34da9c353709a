package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/scorers/internal/schema"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// Bounds of a reply: what is longer is no verdict.
const (
	maxReply      = 1 << 20
	maxCandidates = 100
)

// readReply finds the one object of a reply that satisfies the schema. The whole
// reply is meant where it is one JSON value, else the objects in fenced blocks, and
// without any the objects in the text. That two objects fit is an error, as is
// that none does: nobody guesses.
func readReply(reply string, s *schema.Schema) (jsonv.Value, error) {
	if len(reply) > maxReply {
		return jsonv.Value{}, errors.New("the reply is longer than " + strconv.Itoa(maxReply) + " bytes")
	}
	reply = strings.TrimSpace(reply)
	if reply == "" {
		return jsonv.Value{}, errors.New("the reply is empty")
	}
	if v, err := jsonv.Parse([]byte(reply)); err == nil {
		return v, check(v, s)
	}
	found, err := fenced(reply)
	if len(found) == 0 && err == nil {
		found, err = objects(reply)
	}
	if err != nil {
		return jsonv.Value{}, err
	}
	return only(found, s)
}

var (
	errBraces = errors.New("the reply holds too many braces to say which object is meant")
	// errBroken is for what begins as a JSON object does and is none. Nothing within
	// it is looked at: an object that is a part of it would be taken for the whole.
	errBroken = errors.New("the reply holds a JSON object that is broken or ends too early")
)

// only returns the one value that fits.
func only(found []jsonv.Value, s *schema.Schema) (jsonv.Value, error) {
	if len(found) == 0 {
		return jsonv.Value{}, errors.New("the reply holds no JSON object")
	}
	var fits []jsonv.Value
	var first error
	for _, v := range found {
		err := check(v, s)
		if err == nil {
			fits = append(fits, v)
		} else if first == nil {
			first = err
		}
	}
	switch len(fits) {
	case 0:
		return jsonv.Value{}, first
	case 1:
		return fits[0], nil
	}
	return jsonv.Value{}, errors.New("the reply holds " + strconv.Itoa(len(fits)) + " JSON objects that fit, and nothing says which one is meant")
}

func check(v jsonv.Value, s *schema.Schema) error {
	if problem := s.Check(tree.Of(v)); problem != "" {
		return errors.New(problem)
	}
	if name := repeated(v, 0); name != "" {
		return errors.New("the member " + strconv.Quote(tree.Cut(name, 80)) + " is there twice")
	}
	return nil
}

// repeated returns a name that an object within v has twice. It is called on what
// fits the schema, which is never deep.
func repeated(v jsonv.Value, depth int) string {
	if depth > maxNesting {
		return ""
	}
	for _, e := range v.Elements() {
		if name := repeated(e, depth+1); name != "" {
			return name
		}
	}
	seen := map[string]bool{}
	for name, e := range v.Members() {
		if seen[name] {
			return name
		}
		seen[name] = true
		if name := repeated(e, depth+1); name != "" {
			return name
		}
	}
	return ""
}

// fenced returns the objects that are alone within a fenced block.
func fenced(s string) ([]jsonv.Value, error) {
	const mark = "```"
	var list []jsonv.Value
	for {
		i := strings.Index(s, mark)
		if i < 0 {
			return list, nil
		}
		if len(list) == maxCandidates {
			return nil, errBraces
		}
		s = strings.TrimLeft(s[i:], "`")
		start := label(s)
		v, end := object(s[start:])
		switch rest := strings.TrimLeft(s[start+end:], " \t\r\n"); {
		case v.Exists() && strings.HasPrefix(rest, mark):
			list = append(list, v)
			s = rest[len(mark):]
		case !v.Exists() && begins(s[start:]):
			return nil, errBroken
		}
	}
}

// begins reports whether s begins as a JSON object does that has members; braces of
// prose do not.
func begins(s string) bool {
	if !strings.HasPrefix(s, "{") {
		return false
	}
	s = strings.TrimLeft(s[1:], " \t\r\n")
	if !strings.HasPrefix(s, `"`) {
		return false
	}
	end := quoteEnd(s, 0)
	return end < 0 || strings.HasPrefix(strings.TrimLeft(s[end+1:], " \t\r\n"), ":")
}

// label returns where a block begins behind its label and white space.
func label(s string) int {
	i := 0
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] >= '0' && s[i] <= '9') {
		i++
	}
	return len(s) - len(strings.TrimLeft(s[i:], " \t\r\n"))
}

// objects returns the objects that stand in a text, the outermost ones.
func objects(s string) ([]jsonv.Value, error) {
	var list []jsonv.Value
	for tries := 0; ; tries++ {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			return list, nil
		}
		if tries == maxCandidates {
			return nil, errBraces
		}
		s = s[i:]
		v, end := object(s)
		switch {
		case v.Exists():
			list = append(list, v)
		case begins(s):
			return nil, errBroken
		}
		s = s[max(end, 1):]
	}
}

// object reads the object that s begins with, and says where it ends.
func object(s string) (jsonv.Value, int) {
	if !strings.HasPrefix(s, "{") {
		return jsonv.Value{}, 0
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			if i = quoteEnd(s, i); i < 0 {
				return jsonv.Value{}, 0
			}
		case '{':
			depth++
		case '}':
			if depth--; depth > 0 {
				continue
			}
			v, err := jsonv.Parse([]byte(s[:i+1]))
			if err != nil {
				return jsonv.Value{}, 0
			}
			return v, i + 1
		}
	}
	return jsonv.Value{}, 0
}

// quoteEnd returns where a string ends that begins at i, or -1.
func quoteEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
