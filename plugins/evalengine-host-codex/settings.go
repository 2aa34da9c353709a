package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

const (
	// maxLine is the longest line that is read whole. The raw output keeps all.
	maxLine = 32 << 20
	// envKey and envToken hold the model's key and, with a number, the servers'
	// tokens.
	envKey   = "EVALENGINE_MODEL_KEY"
	envToken = "EVALENGINE_MCP_TOKEN_"
)

// launch is everything that a session's processes need.
type launch struct {
	command agentproc.Command // without what changes from turn to turn
	prefix  []string          // arguments before exec
	options []string          // after exec
	home    string            // CODEX_HOME
	names   agentout.Names
	// secrets are taken out of what is told to people.
	secrets []string
}

// prepare writes the session's settings and says how the program is run.
func prepare(spec eval.SessionSpec, cfg config) (launch, error) {
	l := launch{home: filepath.Join(spec.Home, ".codex")}
	var servers []string
	for _, e := range spec.Servers {
		servers = append(servers, e.Name)
		l.secrets = append(l.secrets, e.Token)
	}
	// The program itself writes - and . as _ in tool names.
	l.names = agentout.NewNames(servers, "")
	m := modelOf(spec, cfg)
	l.secrets = append(l.secrets, m.key)
	err := os.MkdirAll(l.home, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(l.home, "config.toml"), []byte(settings(spec, cfg, l.names, m)), 0o600)
	}
	if err == nil {
		err = l.names.Keep(spec.RawDir)
	}
	if err != nil {
		return l, agentout.Fault(eval.CauseHost, eval.RetryTrial, "preparing the session: "+err.Error())
	}
	env, err := environment(spec, l.home, m)
	if err != nil {
		return l, agentout.Fault(eval.CauseHost, eval.RetryTrial, err.Error())
	}
	path := program
	if len(cfg.Command) > 0 {
		path, l.prefix = cfg.Command[0], cfg.Command[1:]
	} else if p := native(env["PATH"]); p != "" {
		path = p
	}
	l.command = agentproc.Command{
		Path: path, Dir: spec.WorkDir, Env: env, Stdin: true,
		RawDir: spec.RawDir, RawName: "codex", MaxLine: maxLine,
	}
	l.options = options(cfg)
	return l, nil
}

func options(cfg config) []string {
	list := []string{"--json", "--skip-git-repo-check"}
	for _, k := range slices.Sorted(maps.Keys(cfg.Config)) {
		list = append(list, "-c", k+"="+cfg.Config[k])
	}
	return append(list, cfg.Args...)
}

// model is where the model is.
type model struct{ url, key string }

func modelOf(spec eval.SessionSpec, cfg config) model {
	if spec.Model != nil {
		return model{spec.Model.BaseURL, spec.Model.Key}
	}
	m := model{url: cfg.BaseURL}
	if m.url == "" {
		m.url = defaultBaseURL
	}
	name := cfg.APIKeyEnv
	if name == "" {
		name = "OPENAI_API_KEY"
	}
	m.key = spec.Env[name]
	return m
}

// environment is the whole environment of the program.
func environment(spec eval.SessionSpec, codexHome string, m model) (map[string]string, error) {
	more := map[string]string{"CODEX_HOME": codexHome}
	if m.key != "" {
		more[envKey] = m.key
	}
	for i, e := range spec.Servers {
		more[tokenName(i)] = e.Token
	}
	env, err := agentproc.Env(spec, more)
	if err != nil {
		return nil, fmt.Errorf("environment: %w", err)
	}
	if spec.Model != nil {
		// Another credential could go before the key.
		for _, name := range []string{"OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"} {
			delete(env, name)
		}
	}
	return env, nil
}

func tokenName(i int) string { return fmt.Sprint(envToken, i) }

// settings is the program's config.toml. Each setting is there because a run
// without it went wrong, as the comments say.
func settings(spec eval.SessionSpec, cfg config, names agentout.Names, m model) string {
	var t toml
	if cfg.Model != "" {
		t.set("model", cfg.Model)
	}
	if cfg.ReasoningEffort != "" {
		t.set("model_reasoning_effort", cfg.ReasoningEffort)
	}
	// The environment's base URL is ignored, and another protocol tried first.
	t.set("model_provider", "evalengine")
	if slices.Contains(cfg.off, "web_search") {
		t.set("web_search", "disabled")
	}
	// The only connections are to the model and the gateway; without these the end
	// waits for others.
	t.set("check_for_update_on_startup", false)
	t.table("analytics")
	t.set("enabled", false)
	t.table("feedback")
	t.set("enabled", false)
	if slices.Contains(cfg.off, "agents") {
		t.table("agents")
		t.set("enabled", false)
	}
	// What the agent's shell runs inherits everything else.
	t.table("shell_environment_policy")
	t.set("exclude", []string{envKey, envToken + "*"})
	t.table("features")
	for _, name := range append([]string{"apps", "plugins", "remote_plugin"}, cfg.off...) {
		if name != "agents" && name != "web_search" {
			t.set(name, false)
		}
	}
	// A refused connection is a failure, not to be tried for ever.
	t.set("unbounded_connection_retries", false)
	t.table("model_providers.evalengine")
	t.set("name", "evalengine")
	t.set("base_url", m.url)
	t.set("wire_api", "responses")
	if m.key != "" || cfg.BaseURL == "" {
		t.set("env_key", envKey)
	}
	t.set("request_max_retries", *cfg.MaxRetries)
	t.set("stream_max_retries", *cfg.MaxRetries)
	for i, e := range spec.Servers {
		t.table("mcp_servers." + names.Wire(e.Name))
		t.set("url", e.URL)
		t.set("bearer_token_env_var", tokenName(i))
		// Else the first request does not wait for the server, and one that fails to
		// start is not spoken of.
		t.set("required", true)
		t.set("startup_timeout_sec", seconds(cfg.startupTimeout))
		t.set("tool_timeout_sec", seconds(cfg.toolTimeout))
		// Else tools that do not say they only read are withheld.
		t.set("default_tools_approval_mode", "approve")
	}
	return t.String()
}

// seconds are whole and at least one.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// toml writes a file of tables and simple values.
type toml struct{ strings.Builder }

func (t *toml) table(name string) { fmt.Fprintf(t, "\n[%s]\n", name) }

func (t *toml) set(key string, value any) {
	switch v := value.(type) {
	case string:
		value = quote(v)
	case []string:
		list := make([]string, len(v))
		for i, s := range v {
			list[i] = quote(s)
		}
		value = "[" + strings.Join(list, ", ") + "]"
	}
	fmt.Fprintf(t, "%s = %v\n", key, value)
}

// quote writes a basic string of TOML, which is a JSON string but for one
// character.
func quote(s string) string {
	return strings.ReplaceAll(string(agentout.String(s)), "\x7f", `\u007f`)
}
