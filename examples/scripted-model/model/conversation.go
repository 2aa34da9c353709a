package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A conversation is what a request says has happened so far, whichever
// protocol it came in. The place in the script is computed from it alone, so a
// retried request, a resumed session and trials side by side need no memory of
// the server's.
type conversation struct {
	turns   []userTurn
	results []toolResult // in the order of the calls: hosts write those of parallel calls as they come in

	calls    map[string]madeCall // by id
	lastID   string              // of the last call
	rounds   int                 // rounds of calls begun, over all turns
	answered int                 // the latest round that has a result
	fresh    bool                // nothing but calls has come since the last call
	inPrompt bool                // the last thing was the user's: more text belongs to it
}

// A userTurn is a user's prompt and how often tools have answered since.
type userTurn struct {
	prompt string
	rounds int
}

type madeCall struct {
	name  toolName
	round int
	seq   int
}

// A toolResult is what the model was told that a tool answered.
type toolResult struct {
	name    toolName
	texts   []string
	isError bool
	seq     int // of its call
}

// user adds a text of a user's message. What a host puts there on its own
// account is not a prompt and is left out. Texts with nothing of the
// assistant's between them are one prompt.
func (c *conversation) user(text string) {
	text = ownWords(text)
	if text == "" {
		return
	}
	c.fresh = false
	if c.inPrompt {
		c.turns[len(c.turns)-1].prompt += "\n" + text
		return
	}
	c.turns = append(c.turns, userTurn{prompt: text})
	c.inPrompt = true
}

// assistant notes that the assistant said or thought something.
func (c *conversation) assistant() {
	c.inPrompt, c.fresh = false, false
}

// call adds a tool call. Calls are of one round if nothing lies between them or
// if their ids say that one response made them: a host may write each result
// straight after its call.
func (c *conversation) call(id string, name toolName) {
	if !c.fresh && !sameResponse(id, c.lastID) {
		c.rounds++
	}
	c.inPrompt, c.fresh, c.lastID = false, true, id
	if c.calls == nil {
		c.calls = map[string]madeCall{}
	}
	c.calls[id] = madeCall{name, c.rounds, len(c.calls)}
}

// result adds what a tool answered.
func (c *conversation) result(id string, texts []string, isError bool) {
	if _, known := c.calls[id]; !known {
		c.call(id, toolName{})
	}
	c.inPrompt, c.fresh = false, false
	if len(c.turns) == 0 {
		c.turns = append(c.turns, userTurn{})
	}
	made := c.calls[id]
	if made.round > c.answered {
		c.answered = made.round
		c.turns[len(c.turns)-1].rounds++
	}
	at := len(c.results)
	for at > 0 && c.results[at-1].seq > made.seq {
		at--
	}
	c.results = slices.Insert(c.results, at, toolResult{made.name, texts, isError, made.seq})
}

// place is the present turn and step, both from 0.
func (c *conversation) place() (turn, step int) {
	if len(c.turns) == 0 {
		return 0, 0
	}
	return len(c.turns) - 1, c.turns[len(c.turns)-1].rounds
}

// firstPrompt is what the session began with; it chooses the scenario, so that
// all turns of a session stay in one.
func (c *conversation) firstPrompt() string {
	if len(c.turns) == 0 {
		return ""
	}
	return c.turns[0].prompt
}

// find gives the nth result of a tool, or of any tool when none is named.
func (c *conversation) find(tool string, nth int) (toolResult, error) {
	var list []toolResult
	for _, r := range c.results {
		if tool == "" || r.name.is("", tool) {
			list = append(list, r)
		}
	}
	i := nth - 1
	if nth < 0 {
		i = len(list) + nth
	}
	if i < 0 || i >= len(list) {
		of := "any tool"
		if tool != "" {
			of = "the tool " + tool
		}
		return toolResult{}, fmt.Errorf("no result %d of %s: there are %d", nth, of, len(list))
	}
	return list[i], nil
}

// wallTime is what Codex writes before the answer of an MCP tool.
var wallTime = regexp.MustCompile(`^Wall time: [0-9.]+ seconds\nOutput:(\n|$)`)

// content is the texts without what a host put before them.
func (r toolResult) content() []string {
	var out []string
	for _, t := range r.texts {
		t = wallTime.ReplaceAllString(t, "")
		if t != "" || len(r.texts) == 1 {
			out = append(out, t)
		}
	}
	return out
}

func (r toolResult) text() string { return strings.Join(r.content(), "\n") }

// document is the result in the shape of an MCP tools/call result. Hosts hand
// the model structured content as JSON text in place of the content, so text
// that is JSON appears as both.
func (r toolResult) document() any {
	content := []any{}
	for _, t := range r.content() {
		content = append(content, map[string]any{"type": "text", "text": t})
	}
	doc := map[string]any{"content": content, "isError": r.isError}
	for _, t := range append([]string{r.text()}, r.content()...) {
		if v, ok := structured(t); ok {
			doc["structuredContent"] = v
			break
		}
	}
	return doc
}

// structured decodes a JSON object or list.
func structured(s string) (any, bool) {
	s = strings.TrimSpace(s)
	if s == "" || (s[0] != '{' && s[0] != '[') || !json.Valid([]byte(s)) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err == nil
}

var (
	reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)
	// hostElement is a text that is one element of a host's own: Codex tells
	// the model of its surroundings in such user messages.
	hostElement = regexp.MustCompile(`(?s)^<(environment_context|environments_instructions|user_instructions|model_instructions|managed_developer_instructions|plugins_instructions|skills_instructions|permissions instructions|instructions|INSTRUCTIONS|skill|turn_aborted|context_window|context_window_reminder|current_time_reminder|subagent_notification|user_shell_command|user_action|startup_context)>.*</[A-Za-z_ ]+>$`)
	// hostSays is how the hosts' other words in the user's name begin.
	hostSays = regexp.MustCompile(`^(# AGENTS\.md instructions|\[Request interrupted by user|Output token limit hit\. Resume directly)`)
)

// ownWords is the part of a user's text that the user wrote.
func ownWords(text string) string {
	text = strings.TrimSpace(reminder.ReplaceAllString(text, ""))
	if hostElement.MatchString(text) || hostSays.MatchString(text) {
		return ""
	}
	return text
}
