package model

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

func TestLoopbackOnly(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0"} {
		if srv, err := Listen(context.Background(), Config{Addr: addr}); !errors.Is(err, ErrNotLoopback) {
			t.Errorf("Listen(%q): %v, %v; want ErrNotLoopback", addr, srv, err)
		}
	}
	if _, err := Listen(context.Background(), Config{Addr: "127.0.0.1"}); err == nil {
		t.Error("Listen without a port: no error")
	}
	for _, addr := range []string{"127.0.0.1:0", "localhost:0"} {
		srv, err := Listen(context.Background(), Config{Addr: addr})
		if err != nil {
			t.Errorf("Listen(%q): %v", addr, err)
			continue
		}
		srv.Close()
	}
}

func TestContextEndsTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	srv, err := Start(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	srv.running.Wait()
	if _, err := client().Get(srv.URL()); err == nil {
		t.Error("it still answers")
	}
	srv.Close()
}

func TestContextThatIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if srv, err := Start(ctx, nil); err == nil {
		srv.Close()
	}
}

const chosen = `{"default": "fallback", "scenarios": [
	{"name": "recipes", "match": {"prompt_contains": ["Recipes", "collection"]}, "turns": [{"steps": [{"text": "recipes!"}], "repeat": true}]},
	{"name": "model", "match": {"model": "other-model"}, "turns": [{"steps": [{"text": "model!"}]}]},
	{"name": "regex", "match": {"prompt_matches": "(?i)page \\d"}, "turns": [{"steps": [{"text": "regex!"}]}]},
	{"name": "fallback", "turns": [{"steps": [{"text": "fallback!"}]}]}]}`

func TestScenarioIsChosen(t *testing.T) {
	srv := serve(t, chosen)
	for _, tt := range []struct{ name, path, body, want string }{
		{"by the prompt", "", `{"input": "a collection of Recipes"}`, "recipes"},
		{"by all of the words", "", `{"input": "Recipes"}`, "fallback"},
		{"by the first prompt of the session", "", `{"input": [{"role": "user", "content": "a collection of Recipes"}, {"role": "assistant", "content": "x"}, {"role": "user", "content": "page 7"}]}`, "recipes"},
		{"by a regex", "", `{"input": "make Page 7"}`, "regex"},
		{"by the model", "", `{"input": "x", "model": "other-model"}`, "model"},
		{"by the path before the prompt", "/fallback", `{"input": "a collection of Recipes"}`, "fallback"},
		{"by the path, with a token", "/regex/some-token", `{"input": "x"}`, "regex"},
		{"of the library by the path", "/text", `{"input": "x"}`, "text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if res := post(t, srv.URL()+tt.path+"/v1/responses", tt.body); res.StatusCode != 200 {
				t.Fatalf("status %d: %s", res.StatusCode, read(t, res))
			}
			all := srv.Requests()
			if got := all[len(all)-1].Scenario; got != tt.want {
				t.Errorf("scenario %q; want %q", got, tt.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	srv := serve(t, `{"api_key": "sk-right", "scenarios": [{"name": "a", "match": {"prompt_contains": "x"}, "turns": [{"steps": [{"text": "hello"}]}]}]}`)
	for _, tt := range []struct {
		name, method, path, key, body string
		status                        int
		want                          string
	}{
		{"wrong key", "POST", "/v1/messages", "sk-wrong", `{"messages":[{"role":"user","content":"x"}]}`, 401, "the script's api_key was not sent"},
		{"right key", "POST", "/v1/messages", "sk-right", `{"messages":[{"role":"user","content":"x"}]}`, 200, "hello"},
		{"no rule", "POST", "/v1/messages", "sk-right", `{"messages":[{"role":"user","content":"y"}]}`, 404, `no scenario matches the prompt \"y\", and the script has no default`},
		{"unknown scenario", "POST", "/auth-402/v1/messages", "sk-right", `{"messages":[{"role":"user","content":"x"}]}`, 404, `no scenario \"auth-402\"; did you mean \"auth-401\"?`},
		{"not JSON", "POST", "/v1/responses", "sk-right", `{"input"`, 400, "unexpected end of JSON input"},
		{"unknown endpoint", "POST", "/a/b/c/v1/messages", "sk-right", `{}`, 404, "no endpoint"},
		{"no endpoint", "POST", "/a", "sk-right", `{}`, 404, "no endpoint POST /a"},
		{"another method", "PUT", "/v1/messages", "sk-right", `{}`, 404, "no endpoint PUT /v1/messages"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(tt.method, srv.URL()+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+tt.key)
			res, err := client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if body := read(t, res); res.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("%d %s; want %d with %s", res.StatusCode, body, tt.status, tt.want)
			}
		})
	}
}

func TestProbesAndCounting(t *testing.T) {
	srv := serve(t, chosen)
	for _, path := range []string{"/", "/recipes", "/recipes/tok"} {
		res, err := client().Head(srv.URL() + path)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("HEAD %s: %v %v; want 200", path, res, err)
		}
	}
	res, err := client().Get(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := read(t, res); !strings.HasPrefix(got, "recipes\t\nmodel\t\n") {
		t.Errorf("GET / = %q; want the scenarios", got)
	}
	res, err = client().Get(srv.URL() + "/recipes/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := read(t, res); !strings.Contains(got, `{"id":"scripted-model","object":"model"`) {
		t.Errorf("GET /v1/models = %s", got)
	}
	counted := read(t, post(t, srv.ScenarioURL("recipes")+"/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"x"}]}`))
	if want := `{"input_tokens":1250}`; counted != want {
		t.Errorf("count_tokens = %s; want %s", counted, want)
	}
	all := srv.Requests()
	if got, want := all[0].API+" "+all[len(all)-1].API, "probe anthropic-count-tokens"; got != want {
		t.Errorf("logged %q; want %q", got, want)
	}
}

func TestRequestLog(t *testing.T) {
	var out bytes.Buffer
	script, err := Parse([]byte(`{"scenarios": [{"name": "s", "turns": [{"steps": [{"calls": [{"tool": "echo"}]}, {"text": "x"}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	srv := serveScript(t, Config{Script: script, Log: &out})
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	body := strings.Replace(apis()[0].body(true, "go"), "{", `{"metadata":{"user_id":"session-1"},`, 1)
	z.Write([]byte(body))
	z.Close()
	req, err := http.NewRequest("POST", srv.ScenarioURL("s")+"/tok/v1/messages?beta=true", &zipped)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("X-Api-Key", "sk-ant-secret-1234")
	res, err := client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	read(t, res)

	r := srv.Requests()[0]
	got := fmt.Sprint(r.API, " ", r.Scenario, " ", r.Token, " ", r.Model, " ", r.Session, " ", r.Stream, " ", r.Turn, r.Step, " ", r.Prompt, " ", r.Tools, " ", r.Key(), " ", r.Path)
	if want := "anthropic-messages s tok claude-x session-1 true 1 1 go [mcp__demo__echo mcp__demo__get-sum] sk-ant-secret-1234 /s/tok/v1/messages"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	if string(r.Body) != body {
		t.Errorf("body %s; want %s", r.Body, body)
	}
	srv.Close()
	var line struct {
		Header http.Header
		Body   json.RawMessage
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	if got, want := line.Header.Get("X-Api-Key"), "...1234"; got != want {
		t.Errorf("the file has the key %q; want %q", got, want)
	}
	if !strings.Contains(string(line.Body), `"claude-x"`) {
		t.Errorf("the file has the body %s", line.Body)
	}
}

func TestKeysInTheLog(t *testing.T) {
	h := withoutKeys(http.Header{"Authorization": {"Bearer sk-secret-9876"}, "X-Api-Key": {"short"}, "Accept": {"a"}})
	got := h.Get("Authorization") + "|" + h.Get("X-Api-Key") + "|" + h.Get("Accept")
	if want := "Bearer ...9876|...ort|a"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

func TestLogIsBounded(t *testing.T) {
	var l requestLog
	for range maxLogged + 5 {
		l.add(Request{Body: json.RawMessage(`{}`)})
	}
	if got, want := fmt.Sprint(len(l.all()), l.lost()), "10000 5"; got != want {
		t.Errorf("by number: %s; want %s", got, want)
	}
	l = requestLog{}
	big := json.RawMessage(`"` + strings.Repeat("x", maxLoggedBytes/3) + `"`)
	for range 4 {
		l.add(Request{Body: big})
	}
	if got, want := fmt.Sprint(len(l.all()), l.lost()), "2 2"; got != want {
		t.Errorf("by size: %s; want %s", got, want)
	}
}

// Trials side by side and ids over the whole life of a server.
func TestIDsAreUnique(t *testing.T) {
	srv := serve(t, everything)
	p := apis()[0]
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			res, err := client().Post(srv.ScenarioURL("s")+p.path, "application/json", strings.NewReader(p.body(false, "go")))
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			var m struct {
				ID      string
				Content []struct{ ID string }
			}
			if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, id := range []string{m.ID, m.Content[2].ID, m.Content[3].ID, res.Header.Get("Request-Id")} {
				if seen[id] || len(id) < 20 {
					t.Errorf("id %q", id)
				}
				seen[id] = true
			}
		}()
	}
	wg.Wait()
	if len(seen) != 80 {
		t.Errorf("%d ids; want 80", len(seen))
	}
}

func TestRoutes(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/messages":                "||messages",
		"/messages":                   "||messages",
		"/s/v1/messages":              "s||messages",
		"/s/t/v1/messages/":           "s|t|messages",
		"/s/v1/messages/count_tokens": "s||messages/count_tokens",
		"/s/v1/responses":             "s||responses",
		"/s/responses":                "s||responses",
		"/v1/chat/completions":        "||chat/completions",
		"/":                           "||",
		"/s":                          "s||",
		"/s/v1":                       "s||",
		"/a/b/c":                      "error",
	} {
		r, err := routeOf(path)
		got := r.scenario + "|" + r.token + "|" + r.endpoint
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("routeOf(%q) = %s; want %s", path, got, want)
		}
	}
}
