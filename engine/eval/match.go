package eval

// MatchTool reports whether a tool pattern of a suite covers the tool. The
// pattern is compared with the tool's name and with "server/tool"; "*" stands
// for any run of characters, slashes included, "?" for one. A tool that the host
// brought along has no server: "/Bash" covers it and nothing else.
func MatchTool(pattern, server, tool string) bool {
	return glob(pattern, tool) || glob(pattern, server+"/"+tool)
}

// Glob reports whether a pattern covers the whole text: "*" stands for any run of
// characters, "?" for one.
func Glob(pattern, s string) bool { return glob(pattern, s) }

// glob goes back to the last star alone, so that it is never exponential.
func glob(pattern, s string) bool {
	p, i := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			i = nextRune(s, i)
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark = nextRune(s, mark)
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// nextRune is where the character after the one at i begins.
func nextRune(s string, i int) int {
	i++
	for i < len(s) && s[i]&0xC0 == 0x80 {
		i++
	}
	return i
}
