package wire

// Elements returns the elements of the array in b that starts at at.Start; nil
// where there is none. b must be valid JSON there.
func Elements(b []byte, at Range) []Range {
	i := space(b, at.Start)
	if i >= int64(len(b)) || b[i] != '[' {
		return nil
	}
	var list []Range
	i = space(b, i+1)
	for i < int64(len(b)) && b[i] != ']' {
		end := skip(b, i)
		list = append(list, Range{i, end})
		i = space(b, end)
		if i < int64(len(b)) && b[i] == ',' {
			i = space(b, i+1)
		}
	}
	return list
}

// Members returns the members of the object in b that starts at at.Start, by
// their names; nil where there is none. b must be valid JSON there.
func Members(b []byte, at Range) map[string]Range {
	i := space(b, at.Start)
	if i >= int64(len(b)) || b[i] != '{' {
		return nil
	}
	members := map[string]Range{}
	i = space(b, i+1)
	for i < int64(len(b)) && b[i] == '"' {
		end := skip(b, i)
		name := unquote(string(b[i:end]))
		i = space(b, space(b, end)+1)
		end = skip(b, i)
		members[name] = Range{i, end}
		i = space(b, end)
		if i < int64(len(b)) && b[i] == ',' {
			i = space(b, i+1)
		}
	}
	return members
}

func space(b []byte, i int64) int64 {
	for i < int64(len(b)) {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
			i++
		default:
			return i
		}
	}
	return i
}

// skip is the end of the value that starts at i. It always moves on.
func skip(b []byte, i int64) int64 {
	depth := 0
	for start := i; i < int64(len(b)); {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth--; depth < 0 {
				return max(i, start+1)
			}
			i++
		case ',', ' ', '\t', '\r', '\n', ':':
			if depth == 0 {
				return max(i, start+1)
			}
			i++
			continue
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return int64(len(b))
}

func skipString(b []byte, i int64) int64 {
	for i++; i < int64(len(b)); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return int64(len(b))
}
