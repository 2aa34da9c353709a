package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// The test program is also the agent program of those tests that need one which
// misbehaves: envFake says how.
const envFake = "FAKE_CODEX"

func TestMain(m *testing.M) {
	if mode := os.Getenv(envFake); mode != "" {
		os.Exit(fakeCodex(mode))
	}
	os.Exit(m.Run())
}

const fakeThread = "01a22db0-f187-74a0-aa2e-f67b09ac881a"

// fakeCodex answers its prompt as told.
func fakeCodex(mode string) int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 9
	}
	turn := 1
	if slices.Contains(os.Args, "resume") {
		turn = 2
		if !slices.Contains(os.Args, fakeThread) {
			return 8
		}
	}
	switch mode {
	case "refuses its settings":
		fmt.Fprintln(os.Stderr, "Error loading config.toml: missing field, key "+os.Getenv(envKey))
		return 1
	case "no server":
		fmt.Fprintln(os.Stderr, "Error: thread/start failed: required MCP servers failed to initialize: cms: connection closed (code -32603)")
		return 1
	}
	fmt.Printf(`{"type":"thread.started","thread_id":%q}`+"\n", fakeThread)
	switch mode {
	case "is silent":
		time.Sleep(300 * time.Millisecond)
	case "dies":
		return 3
	case "hangs":
		fakeSay("half")
		select {}
	case "loops":
		for i := range 6 {
			fakeCall(turn, i)
		}
		if turn == 1 {
			break
		}
		select {}
	}
	fakeSay(string(prompt))
	fmt.Printf(`{"type":"turn.completed","usage":{"input_tokens":%d,"output_tokens":%d}}`+"\n", 10*turn, turn)
	if os.Getenv(envFake) == "stays" {
		time.Sleep(time.Hour)
	}
	return 0
}

func fakeSay(text string) {
	fmt.Printf(`{"type":"item.completed","item":{"id":"say","type":"agent_message","text":%s}}`+"\n", mustJSON(text))
}

// fakeCall is one call; every second is of another answer of the model.
func fakeCall(turn, i int) {
	item := fmt.Sprintf(`"id":"i%d","type":"mcp_tool_call","server":"cms","tool":"x"`, i)
	if i%2 == 1 {
		fakeCount(turn, i)
	}
	fmt.Printf(`{"type":"item.started","item":{%s,"status":"in_progress"}}`+"\n", item)
	fmt.Printf(`{"type":"item.completed","item":{%s,"result":{"content":[]},"status":"completed"}}`+"\n", item)
}

func fakeCount(turn, i int) {
	dir := filepath.Join(os.Getenv("CODEX_HOME"), "sessions")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		os.Exit(7)
	}
	f, err := os.OpenFile(filepath.Join(dir, "rollout-x-"+fakeThread+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		os.Exit(7)
	}
	defer f.Close()
	fmt.Fprintf(f, `{"type":"token_usage_record","payload":{"response_id":"r%d-%d","usage":{"input_tokens":5,"output_tokens":1}}}`+"\n", turn, i)
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
