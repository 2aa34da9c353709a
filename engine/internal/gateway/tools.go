package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// maxTools bounds what is kept of one server's list.
const maxTools = 10_000

// toolList is a server's tools as the agent last saw them.
type toolList struct {
	mu       sync.Mutex
	session  string
	tools    []eval.Tool
	lists    int      // lists that were read to their end
	digests  []string // of those, without repeats in a row
	notified int      // list_changed notifications
	empty    bool     // a list without tools came before one with some

	asked    bool   // the agent asked for the list
	answered bool   // and was given one
	offered  bool   // with a tool, hidden ones included
	refusal  string // what came instead, the last time
}

// wanted takes note of a tools/list request.
func (l *toolList) wanted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = true
}

// given takes note of the tools of an answer, or of what came instead.
func (l *toolList) given(tools int, refusal string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answered, l.offered = l.answered || refusal == "", l.offered || tools > 0
	l.refusal = refusal
}

// fault says why the agent could not know the server's tools; empty where it
// could.
func (l *toolList) fault() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.asked || l.answered:
		return ""
	case l.refusal == "":
		return "no answer"
	}
	return l.refusal
}

// offers reports whether the agent has read the server's list, and whether there
// was any tool in it.
func (l *toolList) offers() (read, some bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answered, l.offered
}

// listed takes note of a tools/list answer, after it was changed for the agent.
func (s *server) listed(f *flight, m *wire.Message, e *wire.Envelope) {
	if !m.Kept() {
		s.tools.given(0, "")
		return
	}
	if !e.Result.Present() {
		s.tools.given(0, "error "+quote(string(m.Slice(e.Error, maxQuote))))
		return
	}
	b := m.Slice(m.All(), m.Size)
	if !isArray(b, e.Tools) {
		s.tools.given(0, "its answer holds no list: "+quote(string(m.Slice(e.Result, maxQuote))))
		return
	}
	s.tools.given(len(wire.Elements(b, e.Tools)), "")
	if text := s.rewriteTools(b, e.Tools); text != nil {
		m.Edit(e.Tools, text)
		s.seen(f, text, e.More)
		return
	}
	s.seen(f, b[e.Tools.Start:e.Tools.End], e.More)
}

// maxQuote is how much of an answer is looked at to say what was wrong.
const maxQuote = 400

// isArray reports whether the value there is an array.
func isArray(b []byte, at wire.Range) bool {
	return at.Present() && bytes.HasPrefix(bytes.TrimLeft(b[at.Start:at.End], " \t\r\n"), []byte{'['})
}

// seen takes one page of tools.
func (s *server) seen(f *flight, array []byte, more bool) {
	page := s.parse(array)
	l := &s.tools
	l.mu.Lock()
	defer l.mu.Unlock()
	if !f.cursor || l.session != f.session {
		l.session, l.tools = f.session, nil
	}
	l.tools = append(l.tools, page...)
	if len(l.tools) > maxTools {
		l.tools = l.tools[:maxTools]
	}
	if more {
		return
	}
	l.lists++
	l.empty = l.empty || len(l.tools) == 0
	d := Digest(l.tools)
	f.digest, f.tools = d, len(l.tools)
	if n := len(l.digests); n == 0 || l.digests[n-1] != d {
		l.digests = append(l.digests, d)
	}
}

func (s *server) parse(array []byte) []eval.Tool {
	var raw []struct {
		Name        string    `json:"name"`
		Description string    `json:"description"`
		InputSchema eval.JSON `json:"inputSchema"`
		Annotations eval.JSON `json:"annotations"`
	}
	if json.Unmarshal(array, &raw) != nil {
		return nil
	}
	var list []eval.Tool
	for _, r := range raw {
		t := eval.Tool{Server: s.cfg.Name, Name: r.Name, Description: r.Description, InputSchema: present(r.InputSchema), Annotations: present(r.Annotations)}
		t.Destructive = hintedDestructive(t.Annotations)
		for _, rule := range s.g.o.Rules {
			if !eval.MatchTool(rule.Pattern, t.Server, t.Name) {
				continue
			}
			t.Destructive = t.Destructive || rule.Destructive
			for _, need := range rule.Requires {
				if !slices.Contains(t.Requires, need) {
					t.Requires = append(t.Requires, need)
				}
			}
		}
		list = append(list, t)
	}
	return list
}

func present(j eval.JSON) eval.JSON {
	if string(j) == "null" {
		return nil
	}
	return j
}

// hintedDestructive is the server's own word: absent is not taken for true,
// though the protocol's default is, because then every tool without hints would
// be destructive.
func hintedDestructive(annotations eval.JSON) bool {
	var a struct {
		Destructive bool `json:"destructiveHint"`
	}
	return json.Unmarshal(annotations, &a) == nil && a.Destructive
}

// Tools are the tools as the agent saw them in its last list of each server,
// with the suite's rules applied.
func (g *Gateway) Tools() []eval.Tool {
	var all []eval.Tool
	for _, s := range g.servers {
		s.tools.mu.Lock()
		all = append(all, s.tools.tools...)
		s.tools.mu.Unlock()
	}
	return all
}

// Digest is the SHA-256 of what a model sees of a list of tools. Their order and
// the white space in their schemas do not change it.
func Digest(tools []eval.Tool) string {
	lines := make([]string, 0, len(tools))
	for _, t := range tools {
		name, _ := json.Marshal([]string{t.Server, t.Name, t.Description})
		lines = append(lines, fmt.Sprintf("%s%s%s", name, compact(t.InputSchema), compact(t.Annotations)))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

func compact(j eval.JSON) string {
	var b bytes.Buffer
	if json.Compact(&b, j) != nil {
		return string(j)
	}
	return b.String()
}
