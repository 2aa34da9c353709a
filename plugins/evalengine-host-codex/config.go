package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host"
	"github.com/evalengine/evalengine/plugins/host/agentout"
)

// config is a host block's config.
type config struct {
	Model           string            `json:"model"`
	Command         []string          `json:"command"`
	Args            []string          `json:"args"`
	BaseURL         string            `json:"base_url"`
	APIKeyEnv       string            `json:"api_key_env"`
	MaxTurns        int               `json:"max_turns"`
	MaxRetries      *int              `json:"max_retries"`
	Tools           json.RawMessage   `json:"tools"`
	ReasoningEffort string            `json:"reasoning_effort"`
	ToolTimeout     string            `json:"tool_timeout"`
	StartupTimeout  string            `json:"startup_timeout"`
	Config          map[string]string `json:"config"`

	// read from the above
	off            []string // built-in tools that are taken away
	toolTimeout    time.Duration
	startupTimeout time.Duration
}

// builtIn are the built-in tools that can be taken away, as the program's features
// are called.
var builtIn = []string{"shell_tool", "unified_exec", "view_image", "agents", "goals", "image_generation", "web_search"}

func schema() eval.Schema {
	return eval.Schema{Attributes: []eval.Attribute{
		{Name: "model", Type: "string", Doc: "Model, as codex's --model takes it. The program's own choice where it is left out."},
		{Name: "command", Type: "list(string)", Doc: "The program and arguments to go before all others. By default codex, found in PATH; npm's wrapper is passed by."},
		{Name: "args", Type: "list(string)", Doc: "Further options of codex exec."},
		{Name: "base_url", Type: "string", Doc: "Where the model is, instead of OpenAI's API. It must speak the Responses API."},
		{Name: "api_key_env", Type: "string", Doc: "Environment variable that holds the model's key, instead of OPENAI_API_KEY."},
		{Name: "max_turns", Type: "number", Doc: "Most answers of the model in one trial; then the agent has failed."},
		{Name: "max_retries", Type: "number", Default: eval.JSON("2"), Doc: "How often the program asks a failing model again by itself."},
		{Name: "tools", Type: "any", Default: eval.JSON(`"none"`), Doc: `Built-in tools: "none", "default" (the program's own), or a list of these: shell_tool, unified_exec, view_image, agents, goals, image_generation, web_search.`},
		{Name: "reasoning_effort", Type: "string", Doc: "How much the model thinks, such as low or high."},
		{Name: "tool_timeout", Type: "string", Default: eval.JSON(`"5m"`), Doc: "Longest call of an MCP tool."},
		{Name: "startup_timeout", Type: "string", Default: eval.JSON(`"60s"`), Doc: "Longest wait for an MCP server's start."},
		{Name: "config", Type: "map(string)", Doc: "The program's own settings, each passed on as -c KEY=VALUE."},
	}}
}

// readConfig reads and checks the config.
func readConfig(spec eval.SessionSpec) (config, error) {
	var c config
	if err := host.Config(spec, &c); err != nil {
		return c, err
	}
	if err := c.check(); err != nil {
		return c, agentout.Fault(eval.CauseHostConfig, eval.RetryStop, "config: "+err.Error())
	}
	return c, nil
}

// settingKey is a dotted path as -c takes it.
var settingKey = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func (c *config) check() error {
	var err error
	if c.off, err = takenAway(c.Tools); err != nil {
		return err
	}
	if c.toolTimeout, err = duration("tool_timeout", c.ToolTimeout, 5*time.Minute); err != nil {
		return err
	}
	if c.startupTimeout, err = duration("startup_timeout", c.StartupTimeout, time.Minute); err != nil {
		return err
	}
	if c.MaxRetries == nil {
		two := 2
		c.MaxRetries = &two
	}
	if c.MaxTurns < 0 || *c.MaxRetries < 0 {
		return fmt.Errorf("max_turns and max_retries must not be negative")
	}
	for k := range c.Config {
		if !settingKey.MatchString(k) {
			return fmt.Errorf("config: %q is no setting's name", k)
		}
	}
	return nil
}

// takenAway lists the built-in tools that the agent does not get.
func takenAway(j json.RawMessage) ([]string, error) {
	if len(j) == 0 || string(j) == "null" {
		return builtIn, nil
	}
	var word string
	if json.Unmarshal(j, &word) == nil {
		switch word {
		case "none":
			return builtIn, nil
		case "default":
			return nil, nil
		}
		return nil, fmt.Errorf(`tools is %q; it must be "none", "default" or a list of names`, word)
	}
	var list []string
	if err := json.Unmarshal(j, &list); err != nil {
		return nil, fmt.Errorf(`tools must be "none", "default" or a list of names`)
	}
	for _, name := range list {
		if !slices.Contains(builtIn, name) {
			return nil, fmt.Errorf("tools: there is no %q; there are %q", name, builtIn)
		}
	}
	var off []string
	for _, name := range builtIn {
		if !slices.Contains(list, name) {
			off = append(off, name)
		}
	}
	return off, nil
}

func duration(name, s string, fallback time.Duration) (time.Duration, error) {
	if s == "" {
		return fallback, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s is %q; it must be a duration such as %q", name, s, fallback)
	}
	return d, nil
}
