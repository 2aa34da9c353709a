package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Kinds of tool that a call may pick.
const (
	pickReadOnly = "read-only"
	pickAny      = "any"
)

// A toolName is a tool's name on the wire. The namespace is Codex's.
type toolName struct {
	namespace, name string
}

func (n toolName) String() string {
	if n.namespace != "" {
		return n.namespace + "__" + n.name
	}
	return n.name
}

// A tool is one that a request offers.
type tool struct {
	toolName
	schema json.RawMessage
}

// How well a wire name fits a script's name.
const (
	noFit = iota
	looseFit
	mcpFit
	exactFit
)

// is reports whether the wire name is the named tool's.
func (n toolName) is(server, tool string) bool { return n.fit(server, tool) > noFit }

// fit compares a name on the wire with a tool's bare name. Hosts write
// mcp__server__tool (Claude Code), the namespace mcp__server (Codex, with '-'
// and '.' as '_') or server_tool (others).
func (n toolName) fit(server, tool string) int {
	wire, want := plainName(n.String()), plainName(tool)
	if server != "" {
		switch s := plainName(server); wire {
		case "mcp__" + s + "__" + want:
			return exactFit
		case s + "__" + want, s + "_" + want, "mcp_" + s + "_" + want:
			return mcpFit
		}
		return noFit
	}
	switch {
	case wire == want:
		return exactFit
	case n.mcp() && plainName(n.bare()) == want:
		return mcpFit
	case !n.mcp() && strings.HasSuffix(wire, "_"+want):
		return looseFit
	}
	return noFit
}

// mcp reports whether the name says that the tool is an MCP server's.
func (n toolName) mcp() bool { return strings.HasPrefix(n.String(), "mcp__") }

// bare is the name without the server.
func (n toolName) bare() string {
	if n.namespace != "" {
		return n.name
	}
	if parts := strings.SplitN(n.name, "__", 3); n.mcp() && len(parts) == 3 {
		return parts[2]
	}
	return n.name
}

// plainName makes names comparable: every host writes some characters as '_'.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, s)
}

// offered finds the tool of a call among those offered.
func offered(tools []tool, k call) (tool, error) {
	if k.pick != "" {
		return picked(tools, k)
	}
	best := noFit
	var found []tool
	for _, t := range tools {
		switch fit := t.fit(k.server, k.tool); {
		case fit == noFit || fit < best:
		case fit > best:
			best, found = fit, []tool{t}
		default:
			found = append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		of := k.tool
		if k.server != "" {
			of = fmt.Sprintf("%s of the server %s", k.tool, k.server)
		}
		return tool{}, fmt.Errorf("the tool %s is not offered; %s", of, listed(tools))
	default:
		return tool{}, fmt.Errorf("the tool %s is offered by several servers (%s); name the server", k.tool, names(found))
	}
}

// picked gives the nth tool of a kind, beginning again when there are fewer.
// Tools of MCP servers come before a host's own.
func picked(tools []tool, k call) (tool, error) {
	var mcp, other []tool
	for _, t := range tools {
		switch {
		case k.pick == pickReadOnly && !looksReadOnly(t.bare()):
		case t.mcp():
			mcp = append(mcp, t)
		default:
			other = append(other, t)
		}
	}
	if len(mcp) == 0 {
		mcp = other
	}
	if len(mcp) == 0 && k.pick == pickReadOnly {
		return tool{}, fmt.Errorf("no tool that looks read-only is offered; %s", listed(tools))
	}
	if len(mcp) == 0 {
		return tool{}, fmt.Errorf("no tool is offered")
	}
	return mcp[(k.nth-1)%len(mcp)], nil
}

const (
	readingWords  = " get list read search find show describe fetch query echo count view inspect status info "
	changingWords = " set add create update delete remove write edit move rename publish send put post insert clear reset toggle run execute trigger start stop "
)

// looksReadOnly judges by the words of a name: annotations are not on the wire.
func looksReadOnly(name string) bool {
	reads := false
	for _, word := range strings.Split(plainName(strings.ToLower(name)), "_") {
		if word == "" {
			continue
		}
		if strings.Contains(changingWords, " "+word+" ") {
			return false
		}
		reads = reads || strings.Contains(readingWords, " "+word+" ")
	}
	return reads
}

func listed(tools []tool) string {
	if len(tools) == 0 {
		return "the request offers no tools"
	}
	return "offered: " + names(tools)
}

func names(tools []tool) string {
	var list []string
	for i, t := range tools {
		if i == 20 {
			list = append(list, fmt.Sprintf("and %d more", len(tools)-i))
			break
		}
		list = append(list, t.String())
	}
	return strings.Join(list, ", ")
}
