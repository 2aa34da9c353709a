package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func prepared(t *testing.T, s eval.SessionSpec) launch {
	t.Helper()
	cfg, err := readConfig(s)
	if err != nil {
		t.Fatal(err)
	}
	l, err := prepare(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestArguments(t *testing.T) {
	s := spec(t, map[string]any{
		"model": "sonnet", "max_turns": 40, "max_budget_usd": 0.5, "system_prompt": "sys", "append_system_prompt": "more",
		"tools": []string{"Read", "Bash"}, "settings": map[string]any{"a": 1}, "args": []string{"--effort", "low"},
		"base_url": "https://proxied.example", "api_key_env": "OTHER", "tool_timeout": "90s", "startup_timeout": "5s", "max_retries": 0,
	})
	s.Servers = []eval.Endpoint{
		{Name: "cms", URL: "http://127.0.0.1:1/a", Token: "t1"}, {Name: "my srv.x", URL: "http://127.0.0.1:1/b", Token: "t2"},
	}
	l := prepared(t, s)
	got := strings.ReplaceAll(strings.Join(l.command.Args, " "), s.Home, "HOME")
	want := "-p --input-format stream-json --output-format stream-json --verbose --strict-mcp-config --mcp-config HOME/mcp.json " +
		"--tools Read,Bash --allowedTools Read,Bash,mcp__cms,mcp__my_srv_x --model sonnet --system-prompt sys " +
		"--append-system-prompt more --settings HOME/settings.json --max-turns 40 --max-budget-usd 0.5 --permission-mode dontAsk --effort low"
	if got != want {
		t.Errorf("arguments\n got %s\nwant %s", got, want)
	}
	if l.command.Path != "claude" || l.command.Dir != s.WorkDir || !l.command.Stdin {
		t.Errorf("command = %+v", l.command)
	}
	var file struct {
		Servers map[string]struct {
			Type, URL  string
			Headers    map[string]string
			AlwaysLoad bool
		} `json:"mcpServers"`
	}
	path := filepath.Join(s.Home, "mcp.json")
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, &file) != nil {
		t.Fatalf("mcp.json: %v, %s", err, b)
	}
	if m := file.Servers["my_srv_x"]; m.Type != "http" || m.URL != "http://127.0.0.1:1/b" || m.Headers["Authorization"] != "Bearer t2" || !m.AlwaysLoad {
		t.Errorf("mcp.json = %s", b)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mcp.json: %v, %v", fi.Mode(), err)
	}
}

func TestTools(t *testing.T) {
	for _, c := range []struct {
		tools any
		want  []string
	}{
		{nil, []string{"--tools", "", "--permission-mode"}},
		{"none", []string{"--tools", "", "--permission-mode"}},
		{"default", []string{"--permission-mode"}},
		{[]string{"Read"}, []string{"--tools", "Read", "--allowedTools", "Read", "--permission-mode"}},
	} {
		s := spec(t, map[string]any{"tools": c.tools})
		args := prepared(t, s).command.Args
		from := slices.Index(args, filepath.Join(s.Home, "mcp.json")) + 1
		if got := args[from : len(args)-1]; !slices.Equal(got, c.want) {
			t.Errorf("tools %v: %q; want %q", c.tools, got, c.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	s := spec(t, map[string]any{"base_url": "https://proxied.example", "api_key_env": "OTHER", "tool_timeout": "90s", "startup_timeout": "5s"})
	s.Env = map[string]string{"OTHER": "k", "ANTHROPIC_AUTH_TOKEN": "login"}
	got := prepared(t, s).command.Env
	for name, want := range map[string]string{
		"HOME": s.Home, "CLAUDE_CONFIG_DIR": filepath.Join(s.Home, ".claude"), "TMPDIR": filepath.Join(s.Home, "tmp"),
		"ANTHROPIC_BASE_URL": "https://proxied.example", "ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "login",
		"MCP_CONNECTION_NONBLOCKING": "0", "MCP_CONNECT_TIMEOUT_MS": "5000", "MCP_TIMEOUT": "5000", "MCP_TOOL_TIMEOUT": "90000",
		"ENABLE_TOOL_SEARCH": "false", "CLAUDE_CODE_MCP_ALLOWLIST_ENV": "1", "CLAUDE_CODE_MAX_RETRIES": "2",
		"CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
	} {
		if got[name] != want {
			t.Errorf("%s = %q; want %q", name, got[name], want)
		}
	}
	s.Model = &eval.ModelEndpoint{BaseURL: "http://127.0.0.1:7/x", Key: "stand-in"}
	got = prepared(t, s).command.Env
	if got["ANTHROPIC_BASE_URL"] != "http://127.0.0.1:7/x" || got["ANTHROPIC_API_KEY"] != "stand-in" {
		t.Errorf("the model proxy is passed by: %q, %q", got["ANTHROPIC_BASE_URL"], got["ANTHROPIC_API_KEY"])
	}
	if v, ok := got["ANTHROPIC_AUTH_TOKEN"]; ok {
		t.Errorf("another credential goes before the proxy's key: %q", v)
	}
}

func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	d, err := (&driver{}).Describe(t.Context())
	if err != nil || d.Name != "claude-code" || d.Model.API != "anthropic-messages" {
		t.Fatalf("Describe = %+v, %v", d, err)
	}
	if n := d.Needs[0]; n.Version != "" || n.Path != "" || n.Install != install {
		t.Errorf("need without the program = %+v", n)
	}
	for _, a := range d.Schema.Attributes {
		if a.Doc == "" || a.Required || (len(a.Default) > 0 && !json.Valid(a.Default)) {
			t.Errorf("attribute %+v", a)
		}
	}
	path := filepath.Join(dir, "claude")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho '3.4.5 (Claude Code)'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err = (&driver{}).Describe(t.Context())
	if n := d.Needs[0]; err != nil || n.Version != "3.4.5" || n.Path != path {
		t.Errorf("need = %+v, %v", n, err)
	}
}

func TestPackageVersion(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(bin, "claude.exe")
	if err := os.WriteFile(exe, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for manifest, want := range map[string]string{
		`{"name":"@anthropic-ai/claude-code","version":"2.1.197"}`: "2.1.197",
		`{"name":"other","version":"1.0.0"}`:                       "",
		`not JSON`:                                                 "",
	} {
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(manifest), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := packageVersion(exe); got != want {
			t.Errorf("packageVersion with %s = %q; want %q", manifest, got, want)
		}
	}
}
