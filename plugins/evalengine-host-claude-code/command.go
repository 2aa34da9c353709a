package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// maxLine is the longest line that is read whole. The raw output keeps all.
const maxLine = 32 << 20

// launch is everything that a session's process needs.
type launch struct {
	command agentproc.Command
	names   agentout.Names
	config  string // CLAUDE_CONFIG_DIR
	// secrets are taken out of what is told to people.
	secrets []string
}

// prepare writes the session's files and says how the program is run.
func prepare(spec eval.SessionSpec, cfg config) (launch, error) {
	var servers []string
	for _, e := range spec.Servers {
		servers = append(servers, e.Name)
	}
	l := launch{names: agentout.NewNames(servers, "-"), config: configDir(spec)}
	files, err := writeFiles(spec, cfg, l.names)
	if err == nil {
		err = l.names.Keep(spec.RawDir)
	}
	if err != nil {
		return l, agentout.Fault(eval.CauseHost, eval.RetryTrial, "preparing the session: "+err.Error())
	}
	env, err := environment(spec, cfg)
	if err != nil {
		return l, agentout.Fault(eval.CauseHost, eval.RetryTrial, err.Error())
	}
	command := cfg.Command
	if len(command) == 0 {
		command = []string{program}
	}
	args := append(append([]string{}, command[1:]...), arguments(spec, cfg, l.names, files)...)
	l.command = agentproc.Command{
		Path: command[0], Args: args, Dir: spec.WorkDir, Env: env,
		Stdin: true, RawDir: spec.RawDir, RawName: "claude", MaxLine: maxLine,
	}
	l.secrets = secrets(spec, env)
	return l, nil
}

// files are those that the command line names; empty where there is none.
type files struct{ mcp, settings string }

func writeFiles(spec eval.SessionSpec, cfg config, names agentout.Names) (f files, err error) {
	if err := os.MkdirAll(configDir(spec), 0o700); err != nil {
		return f, err
	}
	type server struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers,omitempty"`
		// AlwaysLoad makes the program wait for the server and keep its tools in the
		// tool list.
		AlwaysLoad bool `json:"alwaysLoad"`
	}
	all := map[string]server{}
	for _, e := range spec.Servers {
		s := server{Type: "http", URL: e.URL, AlwaysLoad: true}
		if e.Token != "" {
			s.Headers = map[string]string{"Authorization": "Bearer " + e.Token}
		}
		all[names.Wire(e.Name)] = s
	}
	b, err := json.Marshal(map[string]any{"mcpServers": all})
	if err != nil {
		return f, err
	}
	f.mcp = filepath.Join(spec.Home, "mcp.json")
	if err := os.WriteFile(f.mcp, b, 0o600); err != nil {
		return f, err
	}
	if cfg.Settings != nil {
		f.settings = filepath.Join(spec.Home, "settings.json")
		err = os.WriteFile(f.settings, cfg.Settings, 0o600)
	}
	return f, err
}

func configDir(spec eval.SessionSpec) string { return filepath.Join(spec.Home, ".claude") }

// arguments are the program's. Those that take several values are written with
// one, or the next would be swallowed.
func arguments(spec eval.SessionSpec, cfg config, names agentout.Names, f files) []string {
	args := []string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--strict-mcp-config", "--mcp-config", f.mcp,
	}
	if !cfg.tools.all {
		args = append(args, "--tools", strings.Join(cfg.tools.list, ","))
	}
	allowed := append([]string{}, cfg.tools.list...)
	for _, e := range spec.Servers {
		allowed = append(allowed, "mcp__"+names.Wire(e.Name))
	}
	if len(allowed) > 0 {
		args = append(args, "--allowedTools", strings.Join(allowed, ","))
	}
	for _, o := range []struct{ flag, value string }{
		{"--model", cfg.Model},
		{"--system-prompt", cfg.SystemPrompt},
		{"--append-system-prompt", cfg.AppendSystemPrompt},
		{"--settings", f.settings},
		{"--max-turns", positive(float64(cfg.MaxTurns))},
		{"--max-budget-usd", positive(cfg.MaxBudgetUSD)},
		{"--permission-mode", "dontAsk"},
	} {
		if o.value != "" {
			args = append(args, o.flag, o.value)
		}
	}
	return append(args, cfg.Args...)
}

func positive(n float64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// environment is the whole environment of the program. Each setting is there
// because a run without it went wrong, as the comments say.
func environment(spec eval.SessionSpec, cfg config) (map[string]string, error) {
	env, err := agentproc.Env(spec, map[string]string{
		"CLAUDE_CONFIG_DIR": configDir(spec),
		// The only connections are to the model and the gateway.
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"DISABLE_AUTOUPDATER":                      "1",
		// The first request waits for the MCP servers, and longer than 5 s.
		"MCP_CONNECTION_NONBLOCKING": "0",
		"MCP_CONNECT_TIMEOUT_MS":     milliseconds(cfg.startupTimeout),
		"MCP_TIMEOUT":                milliseconds(cfg.startupTimeout),
		"MCP_TOOL_TIMEOUT":           milliseconds(cfg.toolTimeout),
		// Every tool is in the tool list, whatever the base URL.
		"ENABLE_TOOL_SEARCH": "false",
		// A server that the settings start gets no key.
		"CLAUDE_CODE_MCP_ALLOWLIST_ENV": "1",
		// Ten attempts at a hopeless request take three minutes.
		"CLAUDE_CODE_MAX_RETRIES": strconv.Itoa(*cfg.MaxRetries),
		// A broken stream is a failure to be seen, not to be asked again in silence.
		"CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
	})
	if err != nil {
		return nil, fmt.Errorf("environment: %w", err)
	}
	switch {
	case spec.Model != nil:
		// Another credential would go before the key.
		delete(env, "ANTHROPIC_AUTH_TOKEN")
		delete(env, "CLAUDE_CODE_OAUTH_TOKEN")
		env["ANTHROPIC_BASE_URL"], env["ANTHROPIC_API_KEY"] = spec.Model.BaseURL, spec.Model.Key
	default:
		if cfg.BaseURL != "" {
			env["ANTHROPIC_BASE_URL"] = cfg.BaseURL
		}
		if key := spec.Env[cfg.APIKeyEnv]; key != "" {
			env["ANTHROPIC_API_KEY"] = key
		}
	}
	return env, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// secrets are the values that no message may quote.
func secrets(spec eval.SessionSpec, env map[string]string) []string {
	list := []string{env["ANTHROPIC_API_KEY"], env["ANTHROPIC_AUTH_TOKEN"], env["CLAUDE_CODE_OAUTH_TOKEN"]}
	for _, e := range spec.Servers {
		list = append(list, e.Token)
	}
	return list
}
