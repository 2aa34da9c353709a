package main

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/hosttest"
	"github.com/evalengine/evalengine/plugins/internal/mcptest"
)

// TestMain makes the test binary the plugin where it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv("SCRIPTED_PLUGIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// config makes the host's config of scripts given as JSON.
func config(t testing.TB, scripts map[string]string) eval.JSON {
	t.Helper()
	b, err := json.Marshal(map[string]any{"scripts": scripts})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const twoTurns = `{"turns": [
  {"steps": [
    {"reason": "A note first."},
    {"call": {"tool": "note_add", "arguments": {"id": "", "title": "draft"}, "save": "made"}},
    {"parallel": [
      {"tool": "note_rename", "arguments": {"id": {"$from": "made", "pointer": "/structuredContent/id"}, "title": "final"}},
      {"tool": "note_rename", "arguments": {"id": "nope", "title": "x"}, "expect_error": true, "save": "bad"}
    ]},
    {"say": "Renamed; the other said: {{bad/content/0/text}}"}
  ]},
  {"steps": [{"call": {"tool": "note_list", "arguments": {}, "save": "list"}}],
   "answer": "{{list/content/0/text/notes/title=final/title}} has {{made/structuredContent/title}} in it"}
]}`

func kit() hosttest.Kit {
	wait := `{"turns":[{"steps":[{"call":{"tool":"note_wait"}}]},{}]}`
	return hosttest.Kit{
		Env: []string{"SCRIPTED_PLUGIN=1"},
		Spec: func(t testing.TB, s *eval.SessionSpec) {
			s.Servers = []eval.Endpoint{mcptest.Start(t, "notes").Endpoint}
			s.Config = config(t, map[string]string{"conformance": twoTurns})
		},
		Turns: []hosttest.Turn{
			{Prompt: "any", Answer: "Renamed; the other said: no note nope"},
			{Prompt: "any", Answer: "final has draft in it"},
		},
		Long: "any",
		LongSpec: func(t testing.TB, s *eval.SessionSpec) {
			s.Servers = []eval.Endpoint{mcptest.Start(t, "notes").Endpoint}
			s.Config = config(t, map[string]string{"conformance": wait})
		},
		BrokenSpec: func(t testing.TB, s *eval.SessionSpec) { s.Config = config(t, nil) },
		Check: func(t testing.TB, _ eval.SessionSpec, steps []eval.Step) {
			var kinds []string
			for _, s := range steps {
				kinds = append(kinds, string(s.Kind)+" "+s.Tool)
			}
			want := []string{
				"reasoning ", "tool_call note_add", "tool_result note_add",
				"tool_call note_rename", "tool_call note_rename", "tool_result note_rename", "tool_result note_rename",
				"message ", "tool_call note_list", "tool_result note_list", "message ",
			}
			if !reflect.DeepEqual(kinds, want) {
				t.Errorf("steps = %q; want %q", kinds, want)
			}
		},
	}
}

func TestConformance(t *testing.T) {
	k := kit()
	k.Host = &scripted{}
	k.Run(t)
}

func TestConformanceOfThePlugin(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := kit()
	k.Binary = self
	k.Run(t)
}

// play runs a script of one turn.
func play(t *testing.T, spec eval.SessionSpec) (eval.TurnResult, error) {
	t.Helper()
	s, err := (&scripted{}).Start(t.Context(), spec)
	if err != nil {
		return eval.TurnResult{}, err
	}
	defer s.Close()
	return s.Turn(t.Context(), "", func(eval.Event) {})
}

func TestMostSpecificScript(t *testing.T) {
	say := func(s string) string { return `{"turns":[{"steps":[{"say":"` + s + `"}]}]}` }
	c := config(t, map[string]string{
		"a": say("a"), "a.base": say("base"), "a.hard": say("hard"), "a.hard.codex": say("codex"), "b.hard": say("b"),
	})
	for trial, want := range map[eval.Trial]string{
		{Story: "a", Host: "codex"}:                   "base",
		{Story: "a", Variant: "hard", Host: "claude"}: "hard",
		{Story: "a", Variant: "hard", Host: "codex"}:  "codex",
		{Story: "a", Variant: "easy", Host: "codex"}:  "a",
		{Story: "b", Variant: "easy", Host: "codex"}:  `host_config: no script for story "b", variant "easy", host "codex"; there are scripts for a, a.base, a.hard, a.hard.codex, b.hard`,
	} {
		res, err := play(t, eval.SessionSpec{Trial: trial, Config: c})
		got := res.Answer
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%+v played %q; want %q", trial, got, want)
		}
	}
}

func TestEndsOfATurn(t *testing.T) {
	n := mcptest.Start(t, "notes")
	for _, tt := range []struct {
		name, steps string
		want        eval.TurnResult
		fault       *eval.Fault
	}{
		{"answer of the script", `{"say":"a"}`, eval.TurnResult{Outcome: eval.Completed, Answer: "a"}, nil},
		{"no step", ``, eval.TurnResult{Outcome: eval.Completed}, nil},
		{
			"failure", `{"say":"I cannot."},{"fail":{"outcome":"refused","detail":"policy"}}`,
			eval.TurnResult{Outcome: eval.Refused, Answer: "I cannot.", Detail: "step 2: policy"}, nil,
		},
		{
			"unexpected error", `{"call":{"tool":"note_rename","arguments":{"id":"x","title":"y"}}}`,
			eval.TurnResult{Outcome: eval.GaveUp, Detail: `step 1: tool "note_rename" answered an error: {"content":[{"type":"text","text":"no note x"}],"isError":true}`}, nil,
		},
		{
			"missing error", `{"call":{"tool":"note_list","expect_error":true}}`,
			eval.TurnResult{Outcome: eval.GaveUp, Detail: `step 1: tool "note_list" went well where an error was expected`}, nil,
		},
		{
			"missing value", `{"call":{"tool":"note_list","save":"l"}},{"say":"{{l/content/0/text/notes/0}}"}`,
			eval.TurnResult{Outcome: eval.GaveUp, Detail: `step 2: l/content/0/text/notes/0: not in the result`}, nil,
		},
		{
			"fault", `{"fault":{"cause":"rate_limit","retry":"trial","status":429,"detail":"d"}}`, eval.TurnResult{},
			&eval.Fault{Cause: "rate_limit", Retry: eval.RetryTrial, Status: 429, Detail: "d"},
		},
		{
			"unknown server", `{"call":{"server":"shop","tool":"buy"}}`, eval.TurnResult{},
			&eval.Fault{Cause: "host_config", Retry: eval.RetryStop, Detail: `script "s", tool "buy": no server "shop": there are notes`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := play(t, eval.SessionSpec{
				Trial: eval.Trial{Story: "s"}, Servers: []eval.Endpoint{n.Endpoint},
				Config: config(t, map[string]string{"s": `{"turns":[{"steps":[` + tt.steps + `]}]}`}),
			})
			if f := eval.AsFault(err); !reflect.DeepEqual(f, tt.fault) {
				t.Fatalf("fault = %+v; want %+v", f, tt.fault)
			}
			got.AgentVersion = ""
			if err == nil && !reflect.DeepEqual(got, tt.want) {
				t.Errorf("result = %+v; want %+v", got, tt.want)
			}
		})
	}
}

func TestTurnsMustMatch(t *testing.T) {
	c := config(t, map[string]string{"s": `{"turns":[{}]}`})
	_, err := play(t, eval.SessionSpec{Trial: eval.Trial{Story: "s"}, Config: c, Turns: 2})
	if got, want := words(err), `host_config: script "s" has 1 turns, the story has 2`; got != want {
		t.Errorf("error = %q; want %q", got, want)
	}
	s, err := (&scripted{}).Start(t.Context(), eval.SessionSpec{Trial: eval.Trial{Story: "s"}, Config: c})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Turn(t.Context(), "", func(eval.Event) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Turn(t.Context(), "", func(eval.Event) {}); eval.AsFault(err).Cause != eval.CauseHostConfig {
		t.Errorf("a turn too many: %v; want a fault of the config", err)
	}
}

func TestBrokenScriptNamesItsKey(t *testing.T) {
	_, err := play(t, eval.SessionSpec{Trial: eval.Trial{Story: "a"}, Config: config(t, map[string]string{
		"a": `{"turns":[{}]}`, "b": `{"turns":[{"x":1}]}`,
	})})
	if got, want := words(err), `host_config: script "b": turns[0]: unknown field "x"`; got != want {
		t.Errorf("error = %q; want %q", got, want)
	}
}

// Without a call nothing is connected.
func TestNoCallNoConnection(t *testing.T) {
	n := mcptest.Start(t, "notes")
	_, err := play(t, eval.SessionSpec{
		Trial: eval.Trial{Story: "s"}, Servers: []eval.Endpoint{n.Endpoint},
		Config: config(t, map[string]string{"s": `{"turns":[{"steps":[{"say":"x"}]}]}`}),
	})
	if err != nil || n.Requests() != 0 {
		t.Errorf("%v, %d requests; want none", err, n.Requests())
	}
}

func BenchmarkSession(b *testing.B) {
	h := &scripted{}
	spec := eval.SessionSpec{
		Trial:  eval.Trial{Story: "s"},
		Config: config(b, map[string]string{"s": `{"turns":[{"steps":[{"say":"x"}]}]}`, "t": twoTurns, "u": twoTurns}),
	}
	for b.Loop() {
		s, err := h.Start(b.Context(), spec)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Turn(b.Context(), "", func(eval.Event) {}); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
