package rollout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// brief is a turn in one line.
func brief(t Turn) string {
	var out []string
	for _, c := range t.Calls {
		s := c.Namespace + "/" + c.Name
		if c.Reported {
			s += " reported"
		}
		if !c.Finished {
			s += " open"
		}
		out = append(out, s)
	}
	s := fmt.Sprintf("%d responses, %d in, %d cached, %d out, %d reasoning; calls: %s", t.Responses,
		t.Usage.InputTokens, t.Usage.CacheReadTokens, t.Usage.OutputTokens, t.Usage.ReasoningTokens, strings.Join(out, ", "))
	if t.Failure != (Failure{}) {
		s += fmt.Sprintf("; failed: %s %d", t.Failure.Kind, t.Failure.Status)
	}
	if t.Aborted {
		s += "; aborted"
	}
	if t.Uncounted {
		s += "; uncounted"
	}
	return s
}

// The files are of real runs against a scripted model, without what the vendor
// wrote into them.
func TestRead(t *testing.T) {
	const (
		two  = "2 responses, 2400 in, 2000 cached, 80 out, 16 reasoning; calls: "
		one  = "1 responses, 1200 in, 1000 cached, 40 out, 8 reasoning; calls: "
		none = "0 responses, 0 in, 0 cached, 0 out, 0 reasoning; calls: "
		echo = "mcp__everything/echo reported"
	)
	for name, want := range map[string]string{
		"unknown-tool":       two + "/mcp__everything__no_such_tool",
		"bad-tool-json":      two + "mcp__everything/echo",
		"toolsearch":         "3 responses, 3600 in, 3000 cached, 120 out, 24 reasoning; calls: /tool_search, " + echo,
		"codemode":           two + "functions/exec, " + echo,
		"late-500":           one + echo + "; failed: internal_server_error 0",
		"late-context":       one + echo + "; failed: context_window_exceeded 0",
		"hang-sigint":        none + "; aborted",
		"fail-401":           none + "; failed: http_connection_failed 401",
		"fail-404":           none + "; failed: model_not_found 0",
		"fail-429":           none + "; failed: response_too_many_failed_attempts 429",
		"fail-quota":         none + "; failed: usage_limit_exceeded 0",
		"fail-sse-ratelimit": none + "; failed: rate_limit_exceeded 0",
		"fail-503":           none + "; failed: server_overloaded 0",
	} {
		got, err := Read(filepath.Join("testdata", name+".jsonl"), 0)
		if err != nil || brief(got) != want || got.Version != "0.171.0" {
			t.Errorf("%s: %s, version %s, %v; want %s", name, brief(got), got.Version, err, want)
		}
	}
}

func TestTurns(t *testing.T) {
	path := filepath.Join("testdata", "two-turns.jsonl")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.Index(b, []byte(`"task_complete"`))
	end := first + bytes.IndexByte(b[first:], '\n') + 1
	one := Parse(bytes.NewReader(b[:end]))
	two, err := Read(path, one.End)
	if err != nil || one.End != int64(end) || two.End != int64(len(b)) {
		t.Fatalf("ends at %d and %d of %d, %v", one.End, two.End, len(b), err)
	}
	const want = "2 responses, 2400 in, 2000 cached, 80 out, 16 reasoning; calls: mcp__everything/echo reported"
	if brief(one) != want || brief(two) != want {
		t.Errorf("turns = %s | %s; want %s twice", brief(one), brief(two), want)
	}
	if again, err := Read(path, two.End); err != nil || again.Responses != 0 || again.End != two.End {
		t.Errorf("after the end: %s, %v", brief(again), err)
	}
}

func TestHostile(t *testing.T) {
	const call = `{"type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{}","call_id":"c"}}` + "\n"
	const count = `{"type":"token_usage_record","payload":{"response_id":"r","usage":{"input_tokens":5,"output_tokens":1}}}` + "\n"
	for _, c := range []struct{ name, in, want string }{
		{"the same twice", call + call + count + count, "1 responses, 5 in, 0 cached, 1 out, 0 reasoning; calls: /f open"},
		{"noise", "x\n\n[]\n{}\n{\"type\":\"response_item\"}\n{\"type\":\"response_item\",\"payload\":7}\n" + call, "0 responses, 0 in, 0 cached, 0 out, 0 reasoning; calls: /f open"},
		{"an open last line", call + strings.TrimSuffix(count, "\n"), "0 responses, 0 in, 0 cached, 0 out, 0 reasoning; calls: /f open"},
		{"a line that is too long", `{"a":"` + strings.Repeat("x", MaxLine) + "\"}\n" + call, "0 responses, 0 in, 0 cached, 0 out, 0 reasoning; calls: /f open"},
		{"an output without a call", `{"type":"response_item","payload":{"type":"function_call_output","call_id":"z","output":"o"}}` + "\n", "0 responses, 0 in, 0 cached, 0 out, 0 reasoning; calls: "},
		{"odd counts", `{"type":"token_usage_record","payload":{"usage":{"input_tokens":-5,"output_tokens":"x"}}}` + "\n", "1 responses, 0 in, 0 cached, 0 out, 0 reasoning; calls: ; uncounted"},
		{"odd counts among others", count + `{"type":"token_usage_record","payload":{"response_id":"s","usage":{"input_tokens":1e300}}}` + "\n", "2 responses, 5 in, 0 cached, 1 out, 0 reasoning; calls: ; uncounted"},
		{"a copy of another thread's records", `{"type":"session_meta","payload":{"id":"own"}}` + "\n" + strings.Replace(count, `"response_id"`, `"thread_id":"other","response_id"`, 1) +
			strings.Replace(count, `"response_id"`, `"thread_id":"own","response_id"`, 1), "1 responses, 5 in, 0 cached, 1 out, 0 reasoning; calls: "},
		{"an odd failure", `{"type":"event_msg","payload":{"type":"task_complete","error":{"message":{"a":1},"codex_error_info":[1]}}}` + "\n",
			"0 responses, 0 in, 0 cached, 0 out, 0 reasoning; calls: ; failed:  0"},
	} {
		if got := brief(Parse(strings.NewReader(c.in))); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

func TestOutput(t *testing.T) {
	for in, want := range map[string]string{
		`"plain"`: "plain",
		`[{"type":"input_text","text":"Wall time: 0.1 seconds\nOutput:"},{"type":"input_text","text":"a"},{"text":"b"}]`: "a\nb",
		`{"content":"x"}`:   `{"content":"x"}`,
		`[{"name":"tool"}]`: `[{"name":"tool"}]`,
		`[]`:                `[]`,
		`null`:              "",
	} {
		if got := outputText(json.RawMessage(in)); got != want {
			t.Errorf("outputText(%s) = %q; want %q", in, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	const thread = "01a22db0-f187-74a0-aa2e-f67b09ac881a"
	day := filepath.Join(home, "sessions", "2026", "11", "30")
	if err := os.MkdirAll(day, 0o755); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(day, "rollout-2026-11-30T18-21-40-"+thread+".jsonl")
	for _, name := range []string{want, filepath.Join(day, "rollout-other.jsonl")} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(day, "rollout-9-linked-thread.jsonl")); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{thread: want, "linked-thread": "", "none-of-these": "", "": "", "../../../etc": "", "x": ""} {
		if got := Find(home, id); got != want {
			t.Errorf("Find(%q) = %q; want %q", id, got, want)
		}
	}
	if got := Find(filepath.Join(home, "nowhere"), thread); got != "" {
		t.Errorf("Find without a folder = %q", got)
	}
}

func FuzzParse(f *testing.F) {
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		turn := Parse(bytes.NewReader(b))
		if turn.End > int64(len(b)) || (turn.End > 0 && b[turn.End-1] != '\n') {
			t.Errorf("the turn ends at %d of %d", turn.End, len(b))
		}
		if u := turn.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || turn.Responses < 0 {
			t.Errorf("usage %+v", u)
		}
		seen := map[string]bool{}
		for _, c := range turn.Calls {
			if c.ID == "" || seen[c.ID] {
				t.Errorf("call %q twice or without an ID", c.ID)
			}
			seen[c.ID] = true
		}
		if _, err := json.Marshal(eval.Usage(turn.Usage)); err != nil {
			t.Error(err)
		}
	})
}

// Threads are found by who started them, whatever the order of their files, and
// no circle is walked.
func TestBelow(t *testing.T) {
	home := t.TempDir()
	const main = "01a22db0-f187-74a0-aa2e-f67b09ac8810"
	id := func(n int) string { return fmt.Sprintf("01a22db0-f187-74a0-aa2e-f67b09ac881%d", n) }
	for _, c := range []struct{ name, id, parent string }{
		{"rollout-1-" + main, main, ""},
		{"rollout-2-" + id(2), id(2), id(3)}, // its file sorts before that of the one that started it
		{"rollout-3-" + id(3), id(3), main},
		{"rollout-4-" + id(4), id(4), id(9)}, // of another conversation
		{"rollout-5-" + id(5), id(5), id(5)},
		{"other-6-" + id(6), id(6), main},
		{"rollout-7-x", "../../../etc", main},
	} {
		line := fmt.Sprintf(`{"type":"session_meta","payload":{"id":%q,"parent_thread_id":%q}}`+"\n", c.id, c.parent)
		dir := filepath.Join(home, "sessions", "2026")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.name+".jsonl"), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, th := range Below(home, main) {
		got = append(got, th.ID)
	}
	if want := id(3) + " " + id(2); strings.Join(got, " ") != want {
		t.Errorf("Below = %q; want %q", got, want)
	}
	if got := Below(filepath.Join(home, "none"), main); len(got) > 0 {
		t.Errorf("Below a folder that is not there = %v", got)
	}
}
