package agentout

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Names maps a session's MCP servers to names that an agent program can carry in
// tool names of the form mcp__SERVER__TOOL, and back. The zero Names has no
// server.
type Names struct {
	servers []named // longest wire name first
}

type named struct{ server, wire string }

const (
	prefix  = "mcp__"
	between = "__"
)

// NewNames gives every server a wire name: its own, with each character outside
// A-Z, a-z, 0-9, _ and those in also replaced by _, and made so that no tool name
// can be read as of two servers.
func NewNames(servers []string, also string) Names {
	var n Names
	for _, s := range servers {
		base := safe(s, also)
		wire := base
		for i := 2; n.clashes(wire); i++ {
			// The number goes in front: "b" at the end of "a__b" would still begin
			// with "a__".
			wire = fmt.Sprintf("s%d_%s", i, base)
		}
		n.servers = append(n.servers, named{s, wire})
	}
	slices.SortStableFunc(n.servers, func(a, b named) int { return len(b.wire) - len(a.wire) })
	return n
}

// clashes reports whether a tool of a server of that name could be taken for one
// of a server that is there, or the other way round.
func (n Names) clashes(wire string) bool {
	for _, s := range n.servers {
		if s.wire == wire || strings.HasPrefix(s.wire, wire+between) || strings.HasPrefix(wire, s.wire+between) {
			return true
		}
	}
	return false
}

func safe(s, also string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', strings.ContainsRune(also, r):
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "server"
	}
	return s
}

// Wire is the name under which the agent program knows the server.
func (n Names) Wire(server string) string {
	for _, s := range n.servers {
		if s.server == server {
			return s.wire
		}
	}
	return ""
}

// Server is the server of that wire name, ok whether there is one.
func (n Names) Server(wire string) (server string, ok bool) {
	for _, s := range n.servers {
		if s.wire == wire {
			return s.server, true
		}
	}
	return "", false
}

// Servers are the servers' own names, sorted.
func (n Names) Servers() []string {
	var list []string
	for _, s := range n.servers {
		list = append(list, s.server)
	}
	slices.Sort(list)
	return list
}

// Keep writes names.json, from server to wire name, into the folder of the raw
// output, where a name had to be changed: without it that output cannot be read.
func (n Names) Keep(rawDir string) error {
	table, changed := map[string]string{}, false
	for _, s := range n.servers {
		table[s.server] = s.wire
		changed = changed || s.server != s.wire
	}
	if !changed || rawDir == "" {
		return nil
	}
	b, err := json.MarshalIndent(table, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(rawDir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(rawDir, "names.json"), append(b, '\n'), 0o600)
}

// Split reads a tool's name as the agent program writes it. A name of no
// configured server is a built-in tool's, or one that the model made up: then
// server is empty and tool the whole name.
func (n Names) Split(name string) (server, tool string) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return "", name
	}
	for _, s := range n.servers {
		if t, ok := strings.CutPrefix(rest, s.wire+between); ok && t != "" {
			return s.server, t
		}
	}
	return "", name
}
