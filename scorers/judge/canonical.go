package main

import (
	"slices"
	"strings"

	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

const (
	// maxCanonical bounds what is put in order, and how deep.
	maxCanonical = 4 << 20
	maxNesting   = 100
)

// canonical returns JSON as text without white space, its members in order of
// their names, of several of one name the last; what is no JSON as it is.
func canonical(b []byte) string {
	v, err := jsonv.Parse(b)
	if err != nil || len(b) > maxCanonical {
		return string(b)
	}
	c := canon{src: v.Raw(), out: make([]byte, 0, len(b))}
	c.value(0, 0)
	return string(c.out)
}

// canon writes a JSON text that was checked, in one pass: a container's members are
// not looked for again within each of those around it.
type canon struct {
	src, out []byte
	// members are those of the objects that are open.
	members []entry
	spare   []byte
}

// entry is a member of an object: where its name and value stand in what is written.
type entry struct {
	name     string
	from, to int
}

// space returns where the white space that begins at i ends.
func (c *canon) space(i int) int {
	for i < len(c.src) && c.src[i] <= ' ' {
		i++
	}
	return i
}

// value writes the value that begins at i and returns where it ends.
func (c *canon) value(i, depth int) int {
	switch c.src[i] {
	case '"':
		return c.text(i)
	case '{', '[':
		if depth == maxNesting {
			end := c.end(i)
			c.out = append(c.out, c.src[i:end]...)
			return end
		}
		if c.src[i] == '{' {
			return c.object(i, depth)
		}
		return c.array(i, depth)
	}
	end := i
	for end < len(c.src) && c.src[end] != ',' && c.src[end] != '}' && c.src[end] != ']' && c.src[end] > ' ' {
		end++
	}
	c.out = append(c.out, c.src[i:end]...)
	return end
}

// text writes a string. Most are as they are to be written.
func (c *canon) text(i int) int {
	end := i + 1
	for ; c.src[end] != '"' && c.src[end] != '\\' && c.src[end] < 0x7f; end++ {
	}
	if c.src[end] == '"' {
		c.out = append(c.out, c.src[i:end+1]...)
		return end + 1
	}
	end = c.end(i)
	v, err := jsonv.Parse(c.src[i:end])
	if err != nil {
		panic("canonical: a string within what was checked") // Parse checked all of it
	}
	c.out = jsonv.AppendString(c.out, v.String())
	return end
}

// end returns where the string or container that begins at i ends.
func (c *canon) end(i int) int {
	for depth := 0; ; i++ {
		switch c.src[i] {
		case '"':
			for i++; c.src[i] != '"'; i++ {
				if c.src[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 {
			return i + 1
		}
	}
}

func (c *canon) array(i, depth int) int {
	c.out = append(c.out, '[')
	i = c.space(i + 1)
	for n := 0; c.src[i] != ']'; n++ {
		if n > 0 {
			c.out = append(c.out, ',')
			i = c.space(i + 1)
		}
		i = c.space(c.value(i, depth+1))
	}
	c.out = append(c.out, ']')
	return i + 1
}

func (c *canon) object(i, depth int) int {
	first, start := len(c.members), len(c.out)+1
	c.out = append(c.out, '{')
	i = c.space(i + 1)
	for n := 0; c.src[i] != '}'; n++ {
		if n > 0 {
			c.out = append(c.out, ',')
			i = c.space(i + 1)
		}
		from := len(c.out)
		end := c.text(i)
		name := string(c.out[from+1 : len(c.out)-1])
		if strings.IndexByte(name, '\\') >= 0 {
			v, err := jsonv.Parse(c.out[from:])
			if err != nil {
				panic("canonical: a name that was written") // AppendString wrote it
			}
			name = v.String()
		}
		c.out = append(c.out, ':')
		i = c.space(c.value(c.space(c.space(end)+1), depth+1))
		c.members = append(c.members, entry{name, from, len(c.out)})
	}
	c.order(c.members[first:], start)
	c.members = c.members[:first]
	c.out = append(c.out, '}')
	return i + 1
}

// order puts members in order that were written from start on.
func (c *canon) order(members []entry, start int) {
	inOrder := true
	for i := 1; i < len(members) && inOrder; i++ {
		inOrder = members[i-1].name < members[i].name
	}
	if inOrder {
		return
	}
	slices.SortStableFunc(members, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	c.spare = append(c.spare[:0], c.out[start:]...)
	c.out = c.out[:start]
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			continue
		}
		if len(c.out) > start {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, c.spare[m.from-start:m.to-start]...)
	}
}
