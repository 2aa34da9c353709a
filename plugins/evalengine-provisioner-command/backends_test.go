package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// One tool call is three requests to the backend where the server's own client
// tries again. The target's own looks at the backend do not count.
func TestBackendRequestsAreCounted(t *testing.T) {
	var asked atomic.Int64
	var host atomic.Value
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/v2/publish":
			io.WriteString(w, `{"up":true}`)
		case asked.Add(1) <= 2:
			host.Store(r.Host)
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(backend.Close)
	c := newTestCommand()
	target := provision(t, c, request(t, map[string]any{
		"name": "site", "command": self(t), "env": map[string]string{envRole: "stdio", "API": "{backend:api}"},
		"backends": map[string]string{"api": backend.URL + "/v2"}, "snapshot_url": backend.URL + "/state",
	}))
	if got, want := state(t, c, target.ID), `{"backends":{"api":{"requests":0,"statuses":{},"unanswered":0}},"url":{"up":true}}`; got != want {
		t.Errorf("state before = %s; want %s", got, want)
	}
	call(t, connect(t, target.Servers[0]), "put", map[string]any{"text": "x"})
	if got, want := state(t, c, target.ID), `{"backends":{"api":{"requests":3,"statuses":{"202":1,"429":2},"unanswered":0}},"url":{"up":true}}`; got != want {
		t.Errorf("state after = %s; want %s", got, want)
	}
	if got, want := host.Load(), strings.TrimPrefix(backend.URL, "http://"); got != want {
		t.Errorf("the backend was asked for host %v; want %s", got, want)
	}
	relay := target.Servers[0].Env["API"]
	backend.CloseClientConnections()
	backend.Close()
	resp, err := http.Get(relay)
	if err != nil || resp.StatusCode != http.StatusBadGateway {
		t.Errorf("a backend that is gone: %v, %v; want 502", resp, err)
	}
	if got := c.find(target.ID).traffic()["api"]; got.Requests != 4 || got.Unanswered != 1 {
		t.Errorf("count = %+v; want 4 requests, 1 of them unanswered", got)
	}
	if err := c.Destroy(t.Context(), target.ID); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.Get(relay); err == nil {
		t.Errorf("the relay still answers: %s", resp.Status)
	}
}

func TestBackendsThatCannotBe(t *testing.T) {
	for _, tt := range []struct {
		env      string
		backends map[string]string
		want     string
	}{
		{"{backend:app}", map[string]string{"api": "http://127.0.0.1:1"}, `config: env.API: {backend:app}: backends has no "app"`},
		{"{backend:api}", map[string]string{"api": "ftp://127.0.0.1"}, `config: backends.api: "ftp://127.0.0.1" is no http or https address`},
		{"none", map[string]string{"api": "http://127.0.0.1:1"}, `config: backends.api: nothing uses {backend:api}, so nothing would be counted`},
		{"{backend}", nil, "config: env.API: unknown placeholder {backend}"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			f := refused(t, newTestCommand(), request(t, map[string]any{
				"name": "site", "command": self(t), "env": map[string]string{"API": tt.env}, "backends": tt.backends,
			}))
			if !strings.HasPrefix(f.Detail, tt.want) {
				t.Errorf("fault = %q; want %q", f.Detail, tt.want)
			}
		})
	}
}
