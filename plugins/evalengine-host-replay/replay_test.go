package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/hosttest"
	"github.com/evalengine/evalengine/plugins/internal/mcpclient"
	"github.com/evalengine/evalengine/plugins/internal/mcptest"
)

// TestMain makes the test binary the plugin where it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv("REPLAY_PLUGIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func write(t testing.TB, dir, name string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// recorder makes a stored trial by really calling a notebook.
type recorder struct {
	t      testing.TB
	client *mcpclient.Client
	steps  []eval.Step
	turn   int
}

func (r *recorder) call(tool string, args any) (id string) {
	r.t.Helper()
	results, err := r.client.Run(r.t.Context(), []mcpclient.Call{{
		Server: "notes", Tool: tool, Arguments: marshal(r.t, args),
	}}, func(e eval.Event) { r.add(*e.Step) })
	if err != nil {
		r.t.Fatal(err)
	}
	var res struct {
		StructuredContent struct {
			ID string `json:"id"`
		} `json:"structuredContent"`
	}
	if err := json.Unmarshal(results[0].JSON, &res); err != nil {
		r.t.Fatal(err)
	}
	return res.StructuredContent.ID
}

func (r *recorder) add(s eval.Step) {
	s.Turn, s.Observed = r.turn, eval.Confirmed
	s.ID = "s" + strconv.Itoa(len(r.steps)+1)
	r.steps = append(r.steps, s)
}

// store makes a run with one trial of two turns on two hosts, one compressed.
func store(t testing.TB) (run, noteID string) {
	t.Helper()
	n := mcptest.Start(t, "notes")
	r := &recorder{t: t, client: mcpclient.New("recorder", []eval.Endpoint{n.Endpoint}), turn: 1}
	defer r.client.Close()
	r.add(eval.Step{Kind: eval.StepReasoning, Text: "A note first."})
	id := r.call("note_add", map[string]string{"id": "", "title": "draft"})
	r.call("note_rename", map[string]string{"id": id, "title": "final of " + id})
	r.call("note_rename", map[string]string{"id": "nope", "title": "x"})
	r.add(eval.Step{Kind: eval.StepMessage, Role: "assistant", Text: "Made " + id + "."})
	r.turn = 2
	r.add(eval.Step{Kind: eval.StepToolCall, CallID: "b1", Tool: "Bash", Arguments: eval.JSON(`{"command":"ls"}`)})
	r.add(eval.Step{Kind: eval.StepToolCall, CallID: "b2", Server: "notes", Tool: "note_add", BadArguments: true, Arguments: eval.JSON(`"{"`)})
	r.call("note_list", map[string]string{})
	var lines bytes.Buffer
	for _, s := range r.steps {
		lines.Write(append(marshal(t, s), '\n'))
	}
	rec := eval.Record{
		Status: eval.StatusPassed, Answer: "The note is " + id + ".", Prompts: []string{"Add a note.", "List them."},
		Attempts: []eval.Attempt{{N: 1, Outcome: eval.MaxTurns}},
	}
	run = t.TempDir()
	claude := filepath.Join(run, "trials", "conformance.base.claude.r1")
	write(t, claude, "trial.json", marshal(t, rec))
	write(t, claude, "transcript.jsonl", lines.Bytes())
	codex := filepath.Join(run, "trials", "conformance.base.codex.r1")
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, codex, "trial.json", marshal(t, rec))
	write(t, codex, "transcript.jsonl.zst", z.EncodeAll(lines.Bytes(), nil))
	return run, id
}

func kit(t *testing.T) hosttest.Kit {
	run, _ := store(t)
	wait := t.TempDir()
	write(t, wait, "trial.json", marshal(t, eval.Record{Status: eval.StatusPassed, Prompts: []string{"a", "b"}}))
	write(t, wait, "transcript.jsonl", marshal(t, eval.Step{Turn: 1, Kind: eval.StepToolCall, CallID: "1", Server: "notes", Tool: "note_wait"}))
	spec := func(c config) func(testing.TB, *eval.SessionSpec) {
		return func(t testing.TB, s *eval.SessionSpec) {
			s.Servers = []eval.Endpoint{mcptest.Start(t, "notes").Endpoint}
			s.Config = marshal(t, c)
		}
	}
	return hosttest.Kit{
		Env:   []string{"REPLAY_PLUGIN=1"},
		Spec:  spec(config{Run: run, Host: "claude"}),
		Turns: []hosttest.Turn{{Prompt: "Add a note."}, {Prompt: "List them.", Outcome: eval.MaxTurns}},
		Long:  "any", LongSpec: spec(config{Trial: wait}),
		BrokenSpec: spec(config{Run: run, Host: "gemini"}),
	}
}

func TestConformance(t *testing.T) {
	k := kit(t)
	k.Host = replay{}
	k.Run(t)
}

func TestConformanceOfThePlugin(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := kit(t)
	k.Binary = self
	k.Run(t)
}

func TestReplay(t *testing.T) {
	run, old := store(t)
	for _, host := range []string{"claude", "codex"} {
		t.Run(host, func(t *testing.T) {
			n := mcptest.Start(t, "notes")
			s, err := (replay{}).Start(t.Context(), eval.SessionSpec{
				Trial:   eval.Trial{Story: "conformance", Host: "replay", Repeat: 3},
				Servers: []eval.Endpoint{n.Endpoint}, Turns: 2,
				Config: marshal(t, config{Run: run, Host: host}),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var kinds, warnings []string
			var res eval.TurnResult
			for _, prompt := range []string{"Add a note.", "List them."} {
				res, err = s.Turn(t.Context(), prompt, func(e eval.Event) {
					if e.Step != nil {
						kinds = append(kinds, string(e.Step.Kind)+" "+e.Step.Tool)
						return
					}
					warnings = append(warnings, e.Warning)
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			want := []string{
				"reasoning ", "tool_call note_add", "tool_result note_add", "tool_call note_rename", "tool_result note_rename",
				"tool_call note_rename", "tool_result note_rename", "message ", "tool_call note_list", "tool_result note_list",
			}
			if !reflect.DeepEqual(kinds, want) {
				t.Errorf("steps = %q; want %q", kinds, want)
			}
			leftOut := []string{`replay: step s10, tool "note_add", is left out: its arguments are no JSON object`}
			if !reflect.DeepEqual(warnings, leftOut) {
				t.Errorf("warnings = %q; want %q", warnings, leftOut)
			}
			titles := n.Titles()
			if len(titles) != 1 || titles["draft"] {
				t.Fatalf("notes = %v; want one, renamed", titles)
			}
			for title := range titles { // "final of ID", with the fresh note's ID
				id := strings.TrimPrefix(title, "final of ")
				if id == old || id == title {
					t.Errorf("title = %q; want the fresh ID in it", title)
				}
				if want := "The note is " + id + "."; res.Answer != want || res.Outcome != eval.MaxTurns {
					t.Errorf("result = %+v; want %q, max_turns", res, want)
				}
			}
		})
	}
}

func TestFind(t *testing.T) {
	run := t.TempDir()
	for _, id := range []string{"a.base.claude.r1", "a.base.claude.r2", "a.hard.claude.r1", "a.hard.codex.r1", "ab.base.codex.r1"} {
		write(t, filepath.Join(run, "trials", id), "trial.json", []byte("{}"))
	}
	for _, tt := range []struct {
		c     config
		trial eval.Trial
		want  string
	}{
		{config{Run: run}, eval.Trial{Story: "a", Repeat: 2}, "a.base.claude.r2"},
		{config{Run: run}, eval.Trial{Story: "a", Repeat: 9}, "a.base.claude.r1"},
		{config{Run: run, Repeat: 2}, eval.Trial{Story: "a", Repeat: 1}, "a.base.claude.r2"},
		{config{Run: run, Variant: "base"}, eval.Trial{Story: "a", Variant: "hard", Repeat: 1}, "a.base.claude.r1"},
		{config{Run: run, Host: "codex"}, eval.Trial{Story: "a", Variant: "hard", Repeat: 1}, "a.hard.codex.r1"},
		{config{Run: run}, eval.Trial{Story: "a", Variant: "hard", Repeat: 1}, `host_config: the stored run has story "a" on several hosts, set host to one of claude, codex`},
		{config{Run: run}, eval.Trial{Story: "b", Repeat: 1}, `host_config: the stored run has no trial of story "b", variant "base"`},
		{config{Run: run, Host: "codex"}, eval.Trial{Story: "a", Repeat: 1}, "host_config: the stored run " + run + " has no trial a.base.codex.r1"},
		{config{}, eval.Trial{}, "host_config: config: run or trial is missing"},
		{config{Run: "a", Trial: "b"}, eval.Trial{}, "host_config: config: run and trial exclude each other"},
	} {
		got, err := tt.c.find(tt.trial)
		if err != nil {
			got = err.Error()
		}
		if filepath.Base(got) != tt.want && got != tt.want {
			t.Errorf("find(%+v, %+v) = %q; want %q", tt.c, tt.trial, got, tt.want)
		}
	}
	if _, err := (config{Run: filepath.Join(run, "none")}).find(eval.Trial{}); eval.AsFault(err).Retry != eval.RetryStop {
		t.Errorf("run that is not there: %v; want a fault that stops the host", err)
	}
}

func TestBrokenRecords(t *testing.T) {
	good := marshal(t, eval.Record{Status: eval.StatusFailed})
	for name, tt := range map[string]struct{ trial, transcript, want string }{
		"errored":     {`{"status":"errored"}`, "", "is errored: there is nothing to replay"},
		"not JSON":    {`{`, "", "trial.json: unexpected EOF"},
		"bad line":    {string(good), "{}\n{", "step  is of turn 0"},
		"cut line":    {string(good), `{"turn":1,"kind":"message"}` + "\n{", "transcript.jsonl, line 2: unexpected end of JSON input"},
		"absurd turn": {string(good), `{"id":"s1","turn":1000000000}`, "step s1 is of turn 1000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "trial.json", []byte(tt.trial))
			write(t, dir, "transcript.jsonl", []byte(tt.transcript))
			_, err := read(t.Context(), dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("read = %v; want %q", err, tt.want)
			}
		})
	}
}
