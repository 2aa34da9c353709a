package jsonpath

import "regexp"

// pattern compiles an I-Regexp (RFC 9485), nil where it is none.
func (r *run) pattern(p string, whole bool) *regexp.Regexp {
	key := "s" + p
	if whole {
		key = "m" + p
	}
	if re, ok := r.patterns[key]; ok {
		return re
	}
	if r.patterns == nil || len(r.patterns) >= 100 {
		r.patterns = map[string]*regexp.Regexp{}
	}
	r.left -= 1000 // compiling is dear
	re := compile(p, whole)
	r.patterns[key] = re
	return re
}

func compile(p string, whole bool) *regexp.Regexp {
	const limit = 1000
	if len(p) > limit {
		return nil
	}
	p = anyButNewlines(p)
	if whole {
		p = `\A(?:` + p + `)\z`
	}
	re, err := regexp.Compile(p)
	if err != nil {
		return nil
	}
	return re
}

// anyButNewlines writes each dot outside a class as what RFC 9485 means by it:
// anything but a line feed or a carriage return.
func anyButNewlines(p string) string {
	out := make([]byte, 0, len(p)+16)
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\' && i+1 < len(p):
			out = append(out, c)
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '.' && !class:
			out = append(out, `[^\n\r]`...)
			continue
		}
		out = append(out, p[i])
	}
	return string(out)
}
