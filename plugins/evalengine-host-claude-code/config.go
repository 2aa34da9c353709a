package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host"
	"github.com/evalengine/evalengine/plugins/host/agentout"
)

// config is a host block's config.
type config struct {
	Model              string          `json:"model"`
	Command            []string        `json:"command"`
	Args               []string        `json:"args"`
	BaseURL            string          `json:"base_url"`
	APIKeyEnv          string          `json:"api_key_env"`
	MaxTurns           int             `json:"max_turns"`
	MaxBudgetUSD       float64         `json:"max_budget_usd"`
	MaxRetries         *int            `json:"max_retries"`
	Tools              json.RawMessage `json:"tools"`
	SystemPrompt       string          `json:"system_prompt"`
	AppendSystemPrompt string          `json:"append_system_prompt"`
	ToolTimeout        string          `json:"tool_timeout"`
	StartupTimeout     string          `json:"startup_timeout"`
	Settings           json.RawMessage `json:"settings"`

	// read from the above
	tools          tools
	toolTimeout    time.Duration
	startupTimeout time.Duration
}

// tools are the built-in tools that the agent has: all of the program's own
// choice, or those listed.
type tools struct {
	all  bool
	list []string
}

func schema() eval.Schema {
	return eval.Schema{Attributes: []eval.Attribute{
		{Name: "model", Type: "string", Doc: "Model, as claude's --model takes it. The program's own choice where it is left out."},
		{Name: "command", Type: "list(string)", Doc: "The program and arguments to go before all others. By default claude, found in PATH."},
		{Name: "args", Type: "list(string)", Doc: "Further arguments, after all others."},
		{Name: "base_url", Type: "string", Doc: "Where the model is, instead of Anthropic's API."},
		{Name: "api_key_env", Type: "string", Doc: "Environment variable that holds the model's key, instead of ANTHROPIC_API_KEY."},
		{Name: "max_turns", Type: "number", Doc: "Most answers of the model in one trial; then the agent has failed."},
		{Name: "max_budget_usd", Type: "number", Doc: "Most that the session may cost, by the program's own estimate; then the agent has failed."},
		{Name: "max_retries", Type: "number", Default: eval.JSON("2"), Doc: "How often the program asks a failing model again by itself."},
		{Name: "tools", Type: "any", Default: eval.JSON(`"none"`), Doc: `Built-in tools: "none", "default" (the program's own; those that need a permission are withheld), or a list of names, which are allowed to run.`},
		{Name: "system_prompt", Type: "string", Doc: "Replaces the program's system prompt."},
		{Name: "append_system_prompt", Type: "string", Doc: "Added to the program's system prompt."},
		{Name: "tool_timeout", Type: "string", Default: eval.JSON(`"5m"`), Doc: "Longest call of an MCP tool."},
		{Name: "startup_timeout", Type: "string", Default: eval.JSON(`"60s"`), Doc: "Longest wait for an MCP server's start."},
		{Name: "settings", Type: "any", Doc: "An object of the program's own settings, as in its settings.json."},
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

func (c *config) check() error {
	var err error
	if c.tools, err = readTools(c.Tools); err != nil {
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
	if c.MaxTurns < 0 || c.MaxBudgetUSD < 0 || *c.MaxRetries < 0 {
		return fmt.Errorf("max_turns, max_budget_usd and max_retries must not be negative")
	}
	if absent(c.Settings) {
		c.Settings = nil
	} else if c.Settings[0] != '{' {
		return fmt.Errorf("settings must be an object")
	}
	return nil
}

func absent(j json.RawMessage) bool { return len(j) == 0 || string(j) == "null" }

func readTools(j json.RawMessage) (tools, error) {
	if absent(j) {
		return tools{}, nil
	}
	var word string
	if json.Unmarshal(j, &word) == nil {
		switch word {
		case "none":
			return tools{}, nil
		case "default":
			return tools{all: true}, nil
		}
		return tools{}, fmt.Errorf(`tools is %q; it must be "none", "default" or a list of names`, word)
	}
	var t tools
	if err := json.Unmarshal(j, &t.list); err != nil {
		return tools{}, fmt.Errorf(`tools must be "none", "default" or a list of names`)
	}
	for _, name := range t.list {
		if name == "" || strings.ContainsAny(name, ", \n") {
			return tools{}, fmt.Errorf("tools: %q is no tool's name", name)
		}
	}
	return t, nil
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
