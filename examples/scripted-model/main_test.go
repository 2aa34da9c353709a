package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/examples/scripted-model/model"
)

// The script of the README must stay right.
func TestExampleScript(t *testing.T) {
	script, err := load("weather.json")
	if err != nil {
		t.Fatal(err)
	}
	srv, err := model.Start(context.Background(), script)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	res, err := http.Post(srv.URL()+"/v1/responses", "application/json", strings.NewReader(`{"input": "the weather in New York?",
		"tools": [{"type": "namespace", "name": "mcp__everything", "tools": [{"type": "function", "name": "get_structured_content"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if want := `"arguments":"{\"location\":\"New York\"}"`; err != nil || !strings.Contains(string(body), want) {
		t.Errorf("%v %s; want in it %s", err, body, want)
	}
}

func TestServe(t *testing.T) {
	dir := t.TempDir()
	script, log := filepath.Join(dir, "s.json"), filepath.Join(dir, "log.jsonl")
	if err := os.WriteFile(script, []byte(`{"scenarios": [{"name": "s", "turns": [{"steps": [{"text": "hello"}]}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	code := make(chan int)
	go func() { code <- run(ctx, []string{"--script", script, "--log", log}, w, io.Discard) }()

	lines := bufio.NewScanner(r)
	lines.Scan()
	base, ok := strings.CutPrefix(lines.Text(), "ANTHROPIC_BASE_URL=http://127.0.0.1:")
	if !ok {
		t.Fatalf("first line %q", lines.Text())
	}
	lines.Scan()
	if got, want := lines.Text(), "OPENAI_BASE_URL=http://127.0.0.1:"+base+"/v1"; got != want {
		t.Errorf("second line %q; want %q", got, want)
	}
	go io.Copy(io.Discard, r) //nolint:errcheck // ends with the pipe
	res, err := http.Post("http://127.0.0.1:"+base+"/v1/responses", "application/json", strings.NewReader(`{"input": "x"}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || !strings.Contains(string(body), `"text":"hello"`) {
		t.Errorf("%v %s", err, body)
	}
	cancel()
	if got := <-code; got != exitOK {
		t.Errorf("exit %d; want 0", got)
	}
	logged, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(logged), `"scenario":"s"`) {
		t.Errorf("log: %v %s", err, logged)
	}
	w.Close()
}

func TestCommandLine(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte(`{"scenario": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{[]string{"--addr", "0.0.0.0:0"}, exitError, "", "not a loopback address"},
		{[]string{"--script", bad}, exitUsage, "", `1:2: unknown field "scenario"; did you mean "scenarios"?`},
		{[]string{"--script", bad + ".none"}, exitUsage, "", "no such file"},
		{[]string{"--nonsense"}, exitUsage, "", "usage: scripted-model"},
		{[]string{"extra"}, exitUsage, "", `unexpected argument "extra"`},
		{[]string{"--help"}, exitOK, "", "usage: scripted-model"},
		{[]string{"scenarios"}, exitOK, "auth-401 ", ""},
		{[]string{"library"}, exitOK, `"name": "one-call"`, ""},
	} {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), tt.args, &stdout, &stderr)
		if code != tt.code || !strings.Contains(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) {
			t.Errorf("%q: exit %d, %q, %q; want %d, %q, %q", tt.args, code, stdout.String(), stderr.String(), tt.code, tt.stdout, tt.stderr)
		}
	}
}
