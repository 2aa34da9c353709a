package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func prepared(t *testing.T, s eval.SessionSpec) (launch, string) {
	t.Helper()
	cfg, err := readConfig(s)
	if err != nil {
		t.Fatal(err)
	}
	l, err := prepare(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Home, ".codex", "config.toml")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("config.toml: %v, %v", fi.Mode(), err)
	}
	return l, string(b)
}

const wantSettings = `model = "gpt \"x\" \u007f"
model_reasoning_effort = "low"
model_provider = "evalengine"
web_search = "disabled"
check_for_update_on_startup = false

[analytics]
enabled = false

[feedback]
enabled = false

[agents]
enabled = false

[shell_environment_policy]
exclude = ["EVALENGINE_MODEL_KEY", "EVALENGINE_MCP_TOKEN_*"]

[features]
apps = false
plugins = false
remote_plugin = false
unified_exec = false
view_image = false
goals = false
image_generation = false
unbounded_connection_retries = false

[model_providers.evalengine]
name = "evalengine"
base_url = "http://127.0.0.1:7/v1"
wire_api = "responses"
env_key = "EVALENGINE_MODEL_KEY"
request_max_retries = 4
stream_max_retries = 4

[mcp_servers.my_srv_x]
url = "http://127.0.0.1:1/a"
bearer_token_env_var = "EVALENGINE_MCP_TOKEN_0"
required = true
startup_timeout_sec = 2
tool_timeout_sec = 90
default_tools_approval_mode = "approve"
`

func TestSettings(t *testing.T) {
	s := spec(t, map[string]any{
		"model": "gpt \"x\" \x7f", "reasoning_effort": "low", "tools": []string{"shell_tool"}, "max_retries": 4,
		"tool_timeout": "90s", "startup_timeout": "1500ms", "args": []string{"-s", "workspace-write"},
		"config": map[string]string{"b": "2", "a.x": `"1"`},
	})
	s.Servers = []eval.Endpoint{{Name: "my-srv.x", URL: "http://127.0.0.1:1/a", Token: "t0"}}
	s.Model = &eval.ModelEndpoint{BaseURL: "http://127.0.0.1:7/v1", Key: "stand-in"}
	s.Env = map[string]string{"OPENAI_API_KEY": "own", "KEPT": "yes"}
	l, text := prepared(t, s)
	if text != wantSettings {
		t.Errorf("settings\n%s\nwant\n%s", text, wantSettings)
	}
	if got := strings.Join(l.options, " "); got != `--json --skip-git-repo-check -c a.x="1" -c b=2 -s workspace-write` {
		t.Errorf("options = %s", got)
	}
	env := l.command.Env
	for name, want := range map[string]string{
		"HOME": s.Home, "CODEX_HOME": filepath.Join(s.Home, ".codex"), envKey: "stand-in",
		"EVALENGINE_MCP_TOKEN_0": "t0", "KEPT": "yes", "OPENAI_API_KEY": "",
	} {
		if env[name] != want {
			t.Errorf("%s = %q; want %q", name, env[name], want)
		}
	}
}

func TestModelOf(t *testing.T) {
	for _, c := range []struct {
		name     string
		cfg      map[string]any
		env      map[string]string
		url, key string
		keyed    bool
	}{
		{"own API", nil, map[string]string{"OPENAI_API_KEY": "k"}, defaultBaseURL, "k", true},
		{"no key", nil, nil, defaultBaseURL, "", true},
		{"another key", map[string]any{"api_key_env": "K"}, map[string]string{"K": "k", "OPENAI_API_KEY": "x"}, defaultBaseURL, "k", true},
		{"a local model", map[string]any{"base_url": "http://127.0.0.1:9/v1"}, nil, "http://127.0.0.1:9/v1", "", false},
	} {
		s := spec(t, c.cfg)
		s.Env = c.env
		l, text := prepared(t, s)
		if !strings.Contains(text, "base_url = \""+c.url+"\"\n") || strings.Contains(text, "env_key") != c.keyed || l.command.Env[envKey] != c.key {
			t.Errorf("%s: key %q, settings %s", c.name, l.command.Env[envKey], text)
		}
	}
}

func TestTools(t *testing.T) {
	for _, c := range []struct {
		tools any
		want  string
	}{
		{nil, "web_search agents apps plugins remote_plugin shell_tool unified_exec view_image goals image_generation"},
		{"none", "web_search agents apps plugins remote_plugin shell_tool unified_exec view_image goals image_generation"},
		{"default", "apps plugins remote_plugin"},
		{[]string{"web_search", "agents", "goals"}, "apps plugins remote_plugin shell_tool unified_exec view_image image_generation"},
	} {
		_, text := prepared(t, spec(t, map[string]any{"tools": c.tools}))
		var off []string
		for _, name := range append([]string{"web_search", "[agents]", "apps", "plugins", "remote_plugin"}, builtIn...) {
			for _, line := range strings.Split(text, "\n") {
				if (line == name+" = false" || line == name+` = "disabled"` || line == name) && !strings.Contains(" "+strings.Join(off, " ")+" ", " "+strings.Trim(name, "[]")+" ") {
					off = append(off, strings.Trim(name, "[]"))
				}
			}
		}
		if got := strings.Join(off, " "); got != c.want {
			t.Errorf("tools %v: off are %q; want %q", c.tools, got, c.want)
		}
	}
}

// npm puts a wrapper into PATH; the program behind it is used.
func TestNative(t *testing.T) {
	root := t.TempDir()
	cpu := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	write := func(path, content string) string {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	wrapper := write("node_modules/@openai/codex/bin/codex.js", "")
	bin := filepath.Join(root, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(bin, "codex")
	if err := os.Symlink(wrapper, link); err != nil {
		t.Fatal(err)
	}
	path := "relative" + string(os.PathListSeparator) + filepath.Join(root, "none") + string(os.PathListSeparator) + bin
	if got := native(path); got != link {
		t.Errorf("native without the platform's package = %q; want the wrapper", got)
	}
	platform := "node_modules/@openai/codex-" + runtime.GOOS + "-" + cpu
	want := write(platform+"/vendor/some-target/bin/codex", "#!/bin/sh\necho codex-cli 1.2.3\n")
	if got := native(path); got != want {
		t.Errorf("native = %q; want %q", got, want)
	}
	t.Setenv("PATH", path)
	if n := findProgram(t.Context()); n.Path != want || n.Version != "1.2.3" {
		t.Errorf("need = %+v", n)
	}
	write(platform+"/package.json", `{"name":"@openai/codex","version":"0.171.0-linux-x64"}`)
	d, err := (&driver{}).Describe(t.Context())
	if n := d.Needs[0]; err != nil || n.Version != "0.171.0" || d.Model.API != "openai-responses" {
		t.Errorf("Describe = %+v, %v", d, err)
	}
	for _, a := range d.Schema.Attributes {
		if a.Doc == "" || a.Required || (len(a.Default) > 0 && !json.Valid(a.Default)) {
			t.Errorf("attribute %+v", a)
		}
	}
	t.Setenv("PATH", filepath.Join(root, "none"))
	if n := findProgram(t.Context()); n.Path != "" || n.Version != "" || n.Install != install {
		t.Errorf("need without the program = %+v", n)
	}
}
