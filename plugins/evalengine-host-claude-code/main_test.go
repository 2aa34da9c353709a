package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// The test program is also the agent program of those tests that need one which
// misbehaves: envFake says how.
const envFake = "FAKE_CLAUDE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(envFake); mode != "" {
		os.Exit(fakeClaude(mode))
	}
	os.Exit(m.Run())
}

const (
	fakeInit = `{"type":"system","subtype":"init","session_id":"0123456789abcdef","mcp_servers":[{"name":"cms","status":"%s"}],"claude_code_version":"9.9.9"}`
	fakeDone = `{"type":"result","subtype":"success","is_error":false,"result":"answer %d","usage":{"input_tokens":10,"output_tokens":1}}`
	fakeStop = `{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming","usage":{"input_tokens":7,"output_tokens":1}}`
)

func fakeSay(n int, block string) {
	fmt.Printf(`{"type":"assistant","message":{"id":"m%d","model":"m","content":[%s]}}`+"\n", n, block)
}

// fakeClaude reads prompts and answers as told; it ends with its input.
func fakeClaude(mode string) int {
	switch mode {
	case "refuses its settings":
		fmt.Fprintln(os.Stderr, "error: unknown option '--nope', key "+os.Getenv("ANTHROPIC_API_KEY"))
		return 1
	case "deaf":
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	for n := 1; in.Scan(); n++ {
		var line struct {
			Type    string
			Message struct{ Content string }
		}
		if json.Unmarshal(in.Bytes(), &line) != nil {
			return 9
		}
		if line.Type == "control_request" {
			if mode != "deaf" {
				fmt.Println(fakeStop)
			}
			continue
		}
		fakeTurn(mode, n, line.Message.Content)
	}
	if mode == "deaf" {
		select {}
	}
	return 0
}

func fakeTurn(mode string, n int, prompt string) {
	status := "connected"
	if mode == "no server" {
		status = "pending"
	}
	fmt.Printf(fakeInit+"\n", status)
	if mode == "is silent" {
		time.Sleep(300 * time.Millisecond)
	}
	switch mode {
	case "dies":
		fakeSay(n, `{"type":"text","text":"half"}`)
		os.Exit(3)
	case "hangs", "deaf":
		fakeSay(n, `{"type":"text","text":"`+strings.Repeat("x", 10)+`"}`)
	case "loops":
		for i := range 3 {
			id := 10*n + i
			fakeSay(id, fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"mcp__cms__x","input":{}}`, id))
			fmt.Printf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":"ok"}]}}`+"\n", id)
		}
		if n == 1 {
			fmt.Printf(fakeDone+"\n", n)
		}
	case "stops writing":
		fakeSessionFiles()
		os.Exit(0)
	case "no server":
	default:
		fakeSay(n, `{"type":"text","text":`+string(mustJSON(prompt))+`}`)
		fmt.Printf(fakeDone+"\n", n)
	}
}

// fakeSessionFiles writes what the output then lacks: a call of a sub-agent's.
func fakeSessionFiles() {
	dir := filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), "projects", "-work")
	for name, text := range map[string]string{
		"0123456789abcdef.jsonl": `{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"k1","name":"Task","input":{}}]}}` + "\n",
		"0123456789abcdef/subagents/agent-x.jsonl": `{"type":"assistant","isSidechain":true,"message":{"id":"m2","content":[{"type":"tool_use","id":"t1","name":"mcp__cms__publish","input":{}}]}}` + "\n" +
			`{"type":"user","isSidechain":true,"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}` + "\n" + `{"type":"assistant","mess`,
		"0123456789abcdef/subagents/agent-x.meta.json": `{"toolUseId":"k1"}`,
		"0123456789abcdef/subagents/agent-y.jsonl":     `{"type":"assistant","message":{"id":"m3","content":[{"type":"text","text":"hm"}]}}` + "\n",
		"fedcba9876543210.jsonl":                       `{"type":"assistant","message":{"id":"m9","content":[{"type":"text","text":"another session"}]}}` + "\n",
	} {
		path := filepath.Join(dir, name)
		if os.MkdirAll(filepath.Dir(path), 0o755) != nil || os.WriteFile(path, []byte(text), 0o644) != nil {
			os.Exit(7)
		}
	}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// spec is a session with a fresh home and no server.
func spec(t *testing.T, cfg map[string]any) eval.SessionSpec {
	t.Helper()
	return eval.SessionSpec{
		Trial:  eval.Trial{Story: "s", Host: "h", Repeat: 1},
		Config: eval.JSON(mustJSON(cfg)), Home: t.TempDir(), WorkDir: t.TempDir(), RawDir: t.TempDir(),
		Env: map[string]string{},
	}
}

// transcript keeps what a turn emits.
type transcript struct {
	steps    []eval.Step
	warnings []string
}

func (r *transcript) emit(e eval.Event) {
	if e.Step != nil {
		r.steps = append(r.steps, *e.Step)
	}
	if e.Warning != "" {
		r.warnings = append(r.warnings, e.Warning)
	}
}

// short is one word a step.
func (r *transcript) short() string {
	var out []string
	for _, s := range r.steps {
		switch s.Kind {
		case eval.StepToolCall:
			out = append(out, "call:"+s.Server+"/"+s.Tool)
		case eval.StepToolResult:
			out = append(out, map[bool]string{false: "ok", true: "failed"}[s.IsError])
		default:
			out = append(out, string(s.Kind))
		}
	}
	return strings.Join(out, " ")
}

func verdict(r eval.TurnResult, err error) string {
	switch f, ok := err.(*eval.Fault); {
	case ok && f.Status != 0:
		return fmt.Sprintf("fault %s, %s, %d", f.Cause, f.Retry, f.Status)
	case ok:
		return fmt.Sprintf("fault %s, %s", f.Cause, f.Retry)
	case err != nil:
		return string(r.Outcome) + ", error " + err.Error()
	}
	return string(r.Outcome)
}

func contains(b []byte, s string) bool { return bytes.Contains(b, []byte(s)) }
