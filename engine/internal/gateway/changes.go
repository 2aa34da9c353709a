package gateway

import (
	"bytes"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// change is one tool change with its count of calls.
type change struct {
	eval.ToolChange
	calls atomic.Int64
}

func compile(list []eval.ToolChange) []*change {
	var out []*change
	for _, c := range list {
		out = append(out, &change{ToolChange: c})
	}
	return out
}

func (s *server) matching(tool string) []*change {
	var out []*change
	for _, c := range s.changes {
		if eval.MatchTool(c.Pattern, s.cfg.Name, tool) {
			out = append(out, c)
		}
	}
	return out
}

func (s *server) hides(tool string) bool {
	for _, c := range s.matching(tool) {
		if c.Hide {
			return true
		}
	}
	return false
}

// fault is what this call is to fail with; empty lets it pass.
func (s *server) fault(tool string) string {
	text := ""
	for _, c := range s.matching(tool) {
		if c.Fault == "" {
			continue
		}
		if n := c.calls.Add(1); text == "" && n%int64(max(1, c.FaultEvery)) == 0 {
			text = c.Fault
		}
	}
	return text
}

// latency is the sum of what the matching changes add.
func (s *server) latency(tool string) time.Duration {
	var sum time.Duration
	for _, c := range s.matching(tool) {
		sum += c.Latency
	}
	return sum
}

// description is the last matching change's, and whether there is one.
func (s *server) description(tool string) (string, bool) {
	text := ""
	for _, c := range s.matching(tool) {
		if c.Description != "" {
			text = c.Description
		}
	}
	return text, text != ""
}

// rewriteTools is the array of tools in b with the changes applied; nil where
// none of them matches.
func (s *server) rewriteTools(b []byte, at wire.Range) []byte {
	if len(s.changes) == 0 || !at.Present() {
		return nil
	}
	var kept [][]byte
	touched := false
	for _, r := range wire.Elements(b, at) {
		tool := b[r.Start:r.End]
		name := toolName(tool)
		if s.hides(name) {
			touched = true
			continue
		}
		if text, ok := s.description(name); ok {
			tool, touched = describe(tool, text), true
		}
		kept = append(kept, tool)
	}
	if !touched {
		return nil
	}
	return append(append([]byte{'['}, bytes.Join(kept, []byte{','})...), ']')
}

func toolName(tool []byte) string {
	var t struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(tool, &t) != nil {
		return ""
	}
	return t.Name
}

// describe replaces the tool's description, or adds one, and leaves every other
// byte.
func describe(tool []byte, text string) []byte {
	quoted, _ := json.Marshal(text)
	members := wire.Members(tool, wire.Range{End: int64(len(tool))})
	if at, ok := members["description"]; ok {
		return bytes.Join([][]byte{tool[:at.Start], quoted, tool[at.End:]}, nil)
	}
	i := bytes.IndexByte(tool, '{') + 1
	sep := []byte{','}
	if len(members) == 0 {
		sep = nil
	}
	return bytes.Join([][]byte{tool[:i], []byte(`"description":`), quoted, sep, tool[i:]}, nil)
}
