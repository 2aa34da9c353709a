package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Findings are the facts of the protocol that its users should mend, so far.
func (g *Gateway) Findings() []eval.Finding {
	g.mu.Lock()
	list := slices.Clone(g.found)
	g.mu.Unlock()
	for _, s := range g.servers {
		list = append(list, s.listFindings()...)
		list = append(list, s.up.findings()...)
		list = append(list, s.noticeFindings()...)
		list = append(list, s.waitFindings()...)
	}
	return list
}

func (s *server) listFindings() []eval.Finding {
	l := &s.tools
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []eval.Finding
	if len(l.digests) > 1 {
		list = append(list, s.finding("mcp_tools_changed", eval.SeverityInfo,
			"the server's list of tools changed during the trial: %d different lists, %d notifications of a change", len(l.digests), l.notified))
	}
	if l.empty && len(l.digests) > 1 {
		list = append(list, s.finding("mcp_tools_late", eval.SeverityMajor,
			"the server's list of tools was empty at first and had tools later; an agent that does not ask again never sees them"))
	}
	return list
}

func (s *server) finding(kind string, severity eval.Severity, format string, args ...any) eval.Finding {
	return eval.Finding{Kind: kind, Severity: severity, Source: "engine",
		Text: fmt.Sprintf("MCP server %q: ", s.cfg.Name) + fmt.Sprintf(format, args...)}
}

// troubled notes why there is no connection to the server.
func (s *server) troubled(kind string, text string) {
	s.mu.Lock()
	first := s.trouble == ""
	s.trouble = text
	s.mu.Unlock()
	if first {
		s.g.find(s.finding(kind, eval.SeverityCritical, "%s", text))
	}
}

// checkCall looks for a failure that a tool's success hides, once a tool.
func (s *server) checkCall(f *flight) {
	var why string
	s.g.calls.change(f.call, func(c *Call) { why = c.HiddenError })
	if why == "" {
		return
	}
	s.mu.Lock()
	known := s.hidden[f.tool]
	s.hidden[f.tool] = true
	s.mu.Unlock()
	if known {
		return
	}
	finding := s.finding("mcp_error_in_success", eval.SeverityMinor, "tool %q answered without isError, but its result reads like a failure: %s", f.tool, why)
	finding.Tool = f.tool
	finding.Suggestion = "set isError in the tool's result when it fails, so that agents can tell"
	s.g.find(finding)
}

// failureStarts are how a text begins that is a failure and nothing else.
var failureStarts = []string{"error:", "error executing ", "error calling ", "error while ", "exception:", "failed:", "failed to ", "failure:", "fatal:", "traceback (most recent call last)", "unhandled exception"}

// hiddenError says why a tool result without isError reads like a failure; empty
// where it does not.
func hiddenError(result []byte) string {
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if json.Unmarshal(result, &r) != nil {
		return ""
	}
	if why := failedObject(r.Structured); why != "" {
		return why
	}
	for _, c := range r.Content {
		if c.Type != "text" {
			continue
		}
		text := strings.TrimSpace(c.Text)
		if strings.HasPrefix(text, "{") {
			if why := failedObject([]byte(text)); why != "" {
				return why
			}
			continue
		}
		low := strings.ToLower(text[:min(len(text), 64)])
		for _, start := range failureStarts {
			if strings.HasPrefix(low, start) {
				return quote(text)
			}
		}
	}
	return ""
}

// failedObject says which member of a JSON object tells of a failure.
func failedObject(b []byte) string {
	var o map[string]json.RawMessage
	if len(b) == 0 || json.Unmarshal(b, &o) != nil {
		return ""
	}
	for _, name := range []string{"status", "success", "ok", "isError", "is_error", "error", "errors"} {
		v, there := o[name]
		if there && failedMember(name, v) && (name != "status" || explained(o)) {
			return quote(fmt.Sprintf("%q: %s", name, v))
		}
	}
	return ""
}

// explained tells a failure of the call from a thing whose status is failed.
func explained(o map[string]json.RawMessage) bool {
	for _, name := range []string{"message", "error", "errors", "detail", "reason"} {
		if _, there := o[name]; there {
			return true
		}
	}
	return string(o["status"]) == "false"
}

func failedMember(name string, raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	switch name {
	case "success", "ok":
		return v == false
	case "isError", "is_error":
		return v == true
	case "status":
		s, _ := v.(string)
		return v == false || slices.Contains([]string{"error", "failed", "failure"}, strings.ToLower(s))
	}
	switch v := v.(type) { // error, errors
	case string:
		return v != ""
	case bool:
		return v
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

// quote is a short form of text for a sentence.
func quote(text string) string {
	const most = 200
	if len(text) > most {
		text = string(wholeRunes([]byte(text[:most]))) + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// sleep waits, or returns false when stop ends first.
func sleep(d time.Duration, stop <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
		return false
	}
}
