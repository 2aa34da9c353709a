package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

// TestMain lets the test binary stand in for the program, so that tests run it as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("SITEBUILDER_TEST_AS_PROGRAM") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

func program(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = []string{"SITEBUILDER_TEST_AS_PROGRAM=1", "PATH=" + os.Getenv("PATH")}
	return cmd
}

func stateOf(t *testing.T, args ...string) site.State {
	t.Helper()
	var out, errs bytes.Buffer
	if err := run(t.Context(), append([]string{"state"}, args...), &out, &errs); err != nil {
		t.Fatalf("state %v: %v %s", args, err, &errs)
	}
	var st site.State
	if err := json.Unmarshal(out.Bytes(), &st); err != nil {
		t.Fatal(err)
	}
	return st
}

func callTool(t *testing.T, cs *mcp.ClientSession, name string, args map[string]any) string {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil || res.IsError {
		t.Fatalf("%s: %v %+v", name, err, res)
	}
	return res.Content[0].(*mcp.TextContent).Text
}

func newClient() *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
}

func TestStdio(t *testing.T) {
	file := filepath.Join(t.TempDir(), "account.json")
	cmd := program(t.Context(), "serve", "--stdio", "--db", file, "--token", "secret")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cs, err := newClient().Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	callTool(t, cs, "collections_create", map[string]any{"site_id": "site_1", "name": "Recipes"})
	var addresses struct {
		LiveURL    string `json:"live_url"`
		PreviewURL string `json:"preview_url"`
	}
	if err := json.Unmarshal([]byte(callTool(t, cs, "sites_get", map[string]any{"site_id": "site_1"})), &addresses); err != nil {
		t.Fatal(err)
	}
	if st := stateOf(t, "--url", addresses.LiveURL, "--token", "secret"); len(st.Collections) != 1 || st.Collections[0].Name != "Recipes" {
		t.Errorf("state over HTTP = %+v; want the collection Recipes", st.Collections)
	}
	if err := run(t.Context(), []string{"state", "--url", addresses.LiveURL, "--token", "wrong"}, &bytes.Buffer{}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("state with a wrong token = %v; want 401", err)
	}
	if err := cs.Close(); err != nil {
		t.Errorf("the program ended with %v when its client left", err)
	}
	var line ready
	if err := json.Unmarshal(stderr.Bytes(), &line); err != nil || line.SiteURL+"/" != addresses.LiveURL || line.Token != "secret" {
		t.Errorf("on stderr: %s, %v", &stderr, err)
	}
	if st := stateOf(t, "--db", file); len(st.Collections) != 1 {
		t.Errorf("state in the file = %+v; want the collection", st.Collections)
	}
}

func TestServe(t *testing.T) {
	cmd := program(t.Context(), "serve", "--template", "demo", "--nonce", "n-1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first, err := bufio.NewReader(out).ReadBytes('\n')
	var line ready
	if err != nil || json.Unmarshal(first, &line) != nil {
		t.Fatalf("first line = %q, %v", first, err)
	}
	if line.Nonce != "n-1" || len(line.Token) != 32 || line.MCPURL != line.SiteURL+"/mcp" {
		t.Errorf("ready line = %+v", line)
	}
	res, err := http.Get(line.SiteURL + "/pricing")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("GET /pricing = %d; want 200", res.StatusCode)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v after SIGTERM; want exit code 0", err)
	}
}

func TestUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none.json")
	for _, tt := range []struct{ args, want string }{
		{"", "no command given"},
		{"publish", `unknown command "publish"; the commands are serve and state`},
		{"serve now", `unexpected argument "now"`},
		{"serve --template shop", `template "shop": not known; use one of blank, demo, cluttered`},
		{"serve --addr 0.0.0.0:0", "not a loopback address"},
		{"serve --port 1", "flag provided but not defined: -port"},
		{"state", "give either --db or --url"},
		{"state --db " + file, "no such file"},
	} {
		var out, errs bytes.Buffer
		err := run(t.Context(), strings.Fields(tt.args), &out, &errs)
		if err == nil || !strings.Contains(err.Error(), tt.want) || out.Len() > 0 {
			t.Errorf("%q = %v, stdout %q; want %q and nothing on stdout", tt.args, err, &out, tt.want)
		}
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"help"}, &out, &bytes.Buffer{}); err != nil || !strings.HasPrefix(out.String(), "sitebuilder is a small website builder") {
		t.Errorf("help = %v, %s", err, &out)
	}
}
