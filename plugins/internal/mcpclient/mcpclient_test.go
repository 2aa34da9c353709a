package mcpclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/internal/mcptest"
)

func TestRun(t *testing.T) {
	n := mcptest.Start(t, "notes")
	c := New("test", []eval.Endpoint{n.Endpoint})
	defer c.Close()
	if got := n.Requests(); got != 0 {
		t.Errorf("%d requests before the first call; want none", got)
	}
	var steps []*eval.Step
	results, err := c.Run(t.Context(), []Call{
		{Server: "notes", Tool: "note_add", Arguments: eval.JSON(`{"id":"","title":"a"}`)},
		{Server: "notes", Tool: "note_rename", Arguments: eval.JSON(`{"id":"none","title":"b"}`)},
		{Server: "notes", Tool: "note_burn"},
	}, func(e eval.Event) { steps = append(steps, e.Step) })
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		isError bool
		text    string
	}{{false, `"title":"a"`}, {true, "no note none"}, {true, `{"error":{"code":-32602`}} {
		if r := results[i]; r.IsError != want.isError || !strings.Contains(string(r.JSON), want.text) {
			t.Errorf("result %d = %s, error %v; want %q, %v", i, r.JSON, r.IsError, want.text, want.isError)
		}
	}
	for i, want := range []struct {
		kind eval.StepKind
		id   string
	}{
		{eval.StepToolCall, "call_1"}, {eval.StepToolCall, "call_2"}, {eval.StepToolCall, "call_3"},
		{eval.StepToolResult, "call_1"}, {eval.StepToolResult, "call_2"}, {eval.StepToolResult, "call_3"},
	} {
		if s := steps[i]; s.Kind != want.kind || s.CallID != want.id {
			t.Errorf("step %d = %s %s; want %s %s", i, s.Kind, s.CallID, want.kind, want.id)
		}
	}
	if !n.Titles()["a"] {
		t.Errorf("notes = %v; want a", n.Titles())
	}
}

func TestServersThatDoNotWork(t *testing.T) {
	n := mcptest.Start(t, "notes")
	wrongToken := n.Endpoint
	wrongToken.Token = "wrong"
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "<html>")
	}))
	defer html.Close()
	for name, e := range map[string]eval.Endpoint{
		"wrong token": wrongToken,
		"gone":        {Name: "notes", URL: gone.URL},
		"no MCP":      {Name: "notes", URL: html.URL},
	} {
		t.Run(name, func(t *testing.T) {
			c := New("test", []eval.Endpoint{e})
			defer c.Close()
			_, err := c.Run(t.Context(), []Call{{Server: "notes", Tool: "note_list"}}, func(eval.Event) {})
			f := eval.AsFault(err)
			if f == nil || f.Cause != eval.CauseMCP || !strings.Contains(f.Detail, `server "notes", tool "note_list"`) {
				t.Errorf("fault = %+v; want one of the MCP server that names it", f)
			}
		})
	}
}

func TestCancelledCall(t *testing.T) {
	n := mcptest.Start(t, "notes")
	c := New("test", []eval.Endpoint{n.Endpoint})
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Run(ctx, []Call{{Server: "notes", Tool: "note_wait"}}, func(eval.Event) { cancel() })
	if err == nil {
		t.Error("a cancelled call gave no error")
	}
}

func TestResolve(t *testing.T) {
	one := New("test", []eval.Endpoint{{Name: "a"}})
	two := New("test", []eval.Endpoint{{Name: "a"}, {Name: "b"}})
	for _, tt := range []struct {
		c               *Client
		name, want, err string
	}{
		{one, "", "a", ""},
		{one, "a", "a", ""},
		{one, "b", "", `no server "b": there are a`},
		{two, "b", "b", ""},
		{two, "", "", "say which server: there are a, b"},
		{New("test", nil), "", "", "the trial has no MCP server"},
	} {
		got, err := tt.c.Resolve(tt.name)
		if err == nil {
			err = errors.New("")
		}
		if got != tt.want || err.Error() != tt.err {
			t.Errorf("Resolve(%q) = %q, %v; want %q, %q", tt.name, got, err, tt.want, tt.err)
		}
	}
}
