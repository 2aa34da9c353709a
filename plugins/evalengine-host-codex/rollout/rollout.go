// Package rollout reads the session file that Codex keeps under CODEX_HOME. It
// has what the program's own output lacks: calls of tools that do not exist, calls
// whose arguments could not be read, what each answer of the model consumed, also
// in turns that failed or were killed, and a failure's kind.
//
// The file belongs to the agent: everything in it is bounded and nothing is
// believed blindly. Start at [Find] and [Read].
package rollout

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentout"
)

// Bounds of what is read of one turn.
const (
	MaxBytes = 256 << 20
	MaxLine  = 16 << 20
	MaxCalls = 20_000
)

// Turn is what the file says of one turn.
type Turn struct {
	// Calls are the tool calls, in order.
	Calls []Call
	// Responses is how many answers of the model were counted, Usage what they
	// consumed.
	Responses int
	Usage     eval.Usage
	Models    []string
	// Version is the program's.
	Version string
	// Failure is how a failed turn is classified; the zero Failure is of one that
	// did not fail.
	Failure Failure
	// Aborted says that the turn was interrupted.
	Aborted bool
	// Uncounted says that an answer's counts were no such thing: they are not in
	// Usage.
	Uncounted bool
	// End is where the next turn begins.
	End int64
}

// Call is one tool call of the model's.
type Call struct {
	ID string
	// Namespace and Name are as the model wrote them.
	Namespace, Name string
	Arguments       string
	// Output is the text that the model was given, Finished whether there was any.
	Output   string
	Finished bool
	// Reported says that the program told of the call in its output as well.
	Reported bool
	// Custom is a call whose argument is text of the tool's own kind.
	Custom bool
	// Failed says that the program took the call for failed, as far as it told of
	// it.
	Failed bool
	// Threads are the sub-agents that the call started.
	Threads []string
}

// Failure is why a turn failed.
type Failure struct {
	// Kind is the program's word, such as usage_limit_exceeded.
	Kind string
	// Status is the HTTP status behind it, 0 where there is none.
	Status  int
	Message string
}

// threadID is what the program calls a thread: it becomes part of a file name.
var threadID = regexp.MustCompile(`^[0-9a-zA-Z-]{8,64}$`)

// Find returns the path of a thread's file under the folder that is CODEX_HOME;
// empty where there is none. It follows no link out of the folder.
func Find(codexHome, thread string) string {
	if !threadID.MatchString(thread) {
		return ""
	}
	var found []string
	root := filepath.Join(codexHome, "sessions")
	seen := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > 10_000 {
			return fs.SkipAll
		}
		name := d.Name()
		if d.Type().IsRegular() && strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, "-"+thread+".jsonl") {
			found = append(found, path)
		}
		return nil
	})
	if len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}

// Read reads what was added to the file from the byte offset on.
func Read(path string, offset int64) (Turn, error) {
	f, err := os.Open(path)
	if err != nil {
		return Turn{End: offset}, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return Turn{End: offset}, errors.Join(err, fs.ErrInvalid)
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return Turn{End: offset}, err
	}
	t := Parse(f)
	t.End += offset
	return t, nil
}

// Parse reads a turn. What cannot be read is left out; a last line that is not
// ended is left for the next time.
func Parse(r io.Reader) Turn {
	p := parser{index: map[string]int{}, told: map[string]told{}}
	in := bufio.NewReaderSize(io.LimitReader(r, MaxBytes), 64<<10)
	for {
		line, n, ok := readLine(in)
		if !ok {
			break
		}
		p.End += n
		p.line(line)
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		if told, ok := p.told[c.ID]; ok {
			c.Reported, c.Failed, c.Threads = true, told.failed, told.threads
		}
	}
	return p.Turn
}

// readLine returns the next whole line, nil for one that is too long, and how many
// bytes it took.
func readLine(in *bufio.Reader) (line []byte, n int64, ok bool) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if n <= MaxLine {
			line = append(line, part...)
		} else {
			line = nil
		}
		switch {
		case err == nil:
			return line, n, true
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, false
		}
	}
}

type parser struct {
	Turn
	thread  string         // the file's own, where its beginning was read
	index   map[string]int // of calls by ID
	told    map[string]told
	counted agentout.Seen
}

// told is what the program told of a call in its output as well.
type told struct {
	failed  bool
	threads []string
}

type record struct {
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

type payload struct {
	Type string `json:"type"`

	// session_meta, turn_context
	ID      string `json:"id"`
	Above   string `json:"parent_thread_id"`
	Version string `json:"cli_version"`
	Model   string `json:"model"`

	// response_item
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments agentout.Text   `json:"arguments"`
	Input     agentout.Text   `json:"input"`
	CallID    string          `json:"call_id"`
	Output    json.RawMessage `json:"output"`
	Tools     json.RawMessage `json:"tools"` // found by a search

	// event_msg
	Item struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Status    string          `json:"status"`
		Server    string          `json:"server"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		Threads   []string        `json:"receiver_thread_ids"`
	} `json:"item"`
	Error *struct {
		Message agentout.Text   `json:"message"`
		Info    json.RawMessage `json:"codex_error_info"`
	} `json:"error"`

	// token_usage_record
	Thread     string `json:"thread_id"`
	ResponseID string `json:"response_id"`
	Usage      usage  `json:"usage"`
}

type usage struct {
	Input      agentout.Count `json:"input_tokens"`
	CacheRead  agentout.Count `json:"cached_input_tokens"`
	CacheWrite agentout.Count `json:"cache_write_input_tokens"`
	Output     agentout.Count `json:"output_tokens"`
	Reasoning  agentout.Count `json:"reasoning_output_tokens"`
}

func (p *parser) line(b []byte) {
	var r record
	if agentout.Decode(b, &r) != nil {
		return
	}
	var v payload
	if agentout.Decode(r.Payload, &v) != nil {
		return
	}
	switch r.Type {
	case "session_meta":
		p.Version = v.Version
		if p.thread == "" {
			p.thread = v.ID
		}
	case "turn_context":
		if v.Model != "" && !slices.Contains(p.Models, v.Model) && len(p.Models) < 16 {
			p.Models = append(p.Models, v.Model)
		}
	case "token_usage_record":
		p.count(v)
	case "response_item":
		p.item(v)
	case "event_msg":
		p.event(v)
	}
}

// count adds one answer of the model. The counts of the whole thread, which are in
// the file too, are not used: they begin anew when the context window is passed.
func (p *parser) count(v payload) {
	// A thread that was forked begins with a copy of the other's records.
	if p.thread != "" && v.Thread != "" && v.Thread != p.thread || p.counted.Again("response", v.ResponseID) {
		return
	}
	p.Responses++
	if u := v.Usage; !agentout.Known(u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning) {
		p.Uncounted = true
		return
	}
	p.Usage.InputTokens += int64(v.Usage.Input)
	p.Usage.CacheReadTokens += int64(v.Usage.CacheRead)
	p.Usage.CacheWriteTokens += int64(v.Usage.CacheWrite)
	p.Usage.OutputTokens += int64(v.Usage.Output)
	p.Usage.ReasoningTokens += int64(v.Usage.Reasoning)
}

func (p *parser) item(v payload) {
	switch v.Type {
	case "function_call", "custom_tool_call", "tool_search_call", "local_shell_call":
		c := Call{ID: v.CallID, Namespace: v.Namespace, Name: v.Name, Arguments: string(v.Arguments)}
		if v.Type == "custom_tool_call" {
			c.Arguments, c.Custom = string(v.Input), true
		}
		if c.Name == "" {
			c.Name = strings.TrimSuffix(v.Type, "_call")
		}
		if _, again := p.index[c.ID]; again || c.ID == "" || len(p.Calls) == MaxCalls {
			return
		}
		p.index[c.ID] = len(p.Calls)
		p.Calls = append(p.Calls, c)
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		if i, ok := p.index[v.CallID]; ok && !p.Calls[i].Finished {
			if v.Type == "tool_search_output" {
				v.Output = v.Tools
			}
			p.Calls[i].Output, p.Calls[i].Finished = outputText(v.Output), true
		}
	}
}

// outputText is the text of an output, which is a string, a list of texts or an
// object around one of them.
func outputText(raw json.RawMessage) string {
	var list []struct {
		Text *agentout.Text `json:"text"`
	}
	if len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &list) == nil && len(list) > 0 && list[0].Text != nil {
		var parts []string
		for i, t := range list {
			if t.Text == nil || (i == 0 && strings.HasPrefix(string(*t.Text), "Wall time: ")) {
				continue // the program's own heading
			}
			parts = append(parts, string(*t.Text))
		}
		return strings.Join(parts, "\n")
	}
	var t agentout.Text
	if json.Unmarshal(raw, &t) != nil {
		return ""
	}
	return string(t)
}

func (p *parser) event(v payload) {
	switch v.Type {
	case "item_completed":
		if len(p.told) < MaxCalls && v.Item.ID != "" {
			p.told[v.Item.ID] = told{failed: v.Item.Status == "failed", threads: v.Item.Threads[:min(len(v.Item.Threads), maxThreads)]}
		}
		p.scripted(v)
	case "turn_aborted":
		p.Aborted = true
	case "task_complete":
		if v.Error != nil {
			p.Failure = Failure{Message: agentout.Cut(string(v.Error.Message), agentout.MaxDetail)}
			p.Failure.Kind, p.Failure.Status = kind(v.Error.Info)
		}
	}
}

// scripted adds a call that a script of the model's made: the file has no other
// record of it.
func (p *parser) scripted(v payload) {
	i := &v.Item
	if _, known := p.index[i.ID]; known || i.Type != "McpToolCall" || i.ID == "" || len(p.Calls) == MaxCalls {
		return
	}
	p.index[i.ID] = len(p.Calls)
	p.Calls = append(p.Calls, Call{
		ID: i.ID, Namespace: "mcp__" + i.Server, Name: i.Tool, Arguments: string(i.Arguments), Finished: true,
	})
}

// kind reads a failure's kind: a word, or an object of one word and a status.
func kind(raw json.RawMessage) (string, int) {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		return agentout.Cut(word, 100), 0
	}
	var with map[string]struct {
		Status agentout.Status `json:"http_status_code"`
	}
	if json.Unmarshal(raw, &with) == nil {
		for word, v := range with {
			return agentout.Cut(word, 100), int(v.Status)
		}
	}
	return "", 0
}
