package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// config is the config block as it came. Its strings hold placeholders.
type config struct {
	Name string `json:"name"`
	partConfig
	Servers map[string]partConfig `json:"servers"`
	// Backends are addresses that servers are to ask through {backend:NAME}.
	Backends map[string]string `json:"backends"`

	Files        map[string]string `json:"files"`
	Templates    map[string]string `json:"templates"`
	Setup        [][]string        `json:"setup"`
	SetupTimeout string            `json:"setup_timeout"`

	Snapshot         []string          `json:"snapshot"`
	SnapshotFormat   string            `json:"snapshot_format"`
	SnapshotFiles    []string          `json:"snapshot_files"`
	SnapshotURL      string            `json:"snapshot_url"`
	SnapshotHeaders  map[string]string `json:"snapshot_headers"`
	SnapshotTimeout  string            `json:"snapshot_timeout"`
	SnapshotMaxBytes int64             `json:"snapshot_max_bytes"`

	Cleanup        [][]string `json:"cleanup"`
	CleanupTimeout string     `json:"cleanup_timeout"`

	Values  map[string]string `json:"values"`
	Secrets []string          `json:"secrets"`
}

// partConfig is one server with the process behind it.
type partConfig struct {
	Command []string          `json:"command"`
	URL     string            `json:"url"`
	Serve   []string          `json:"serve"`
	Env     map[string]string `json:"env"`
	Headers map[string]string `json:"headers"`

	ReadyURL         string `json:"ready_url"`
	ReadyBody        string `json:"ready_body"`
	ReadyNonceHeader string `json:"ready_nonce_header"`
	ReadyTimeout     string `json:"ready_timeout"`
	Probe            *bool  `json:"probe"`
}

// Defaults, also of what is left out of a server among several.
const (
	defaultReady    = "60s"
	defaultSetup    = "2m"
	defaultSnapshot = "30s"
	defaultCleanup  = "30s"
	defaultMaxBytes = 32 << 20
)

const partType = `object({
  command            = optional(list(string))
  url                = optional(string)
  serve              = optional(list(string))
  env                = optional(map(string))
  headers            = optional(map(string))
  ready_url          = optional(string)
  ready_body         = optional(string)
  ready_nonce_header = optional(string)
  ready_timeout      = optional(string)
  probe              = optional(bool)
})`

func schema() eval.Schema {
	text := func(s string) eval.JSON { return eval.JSON(`"` + s + `"`) }
	return eval.Schema{Attributes: []eval.Attribute{
		{Name: "name", Type: "string", Default: text("target"), Doc: "the server's name"},
		{Name: "command", Type: "list(string)", Doc: "program and arguments of a server that speaks over stdio"},
		{Name: "url", Type: "string", Doc: "MCP endpoint of a server that speaks streamable HTTP"},
		{Name: "serve", Type: "list(string)", Doc: "program and arguments of a process that runs as long as the target: the server behind url, or what the command talks to"},
		{Name: "env", Type: "map(string)", Doc: "environment of everything that is started, beside PATH, HOME, TMPDIR and LANG"},
		{Name: "headers", Type: "map(string)", Doc: "HTTP headers of every request to url and ready_url"},
		{Name: "ready_url", Type: "string", Doc: "address that answers 2xx when the serve process is ready"},
		{Name: "ready_body", Type: "string", Doc: "text that the answer of ready_url must hold, such as {nonce}"},
		{Name: "ready_nonce_header", Type: "string", Doc: "header of ready_url's answer that must be the nonce"},
		{Name: "ready_timeout", Type: "string", Default: text(defaultReady), Doc: "how long a server may take to be ready"},
		{Name: "probe", Type: "bool", Doc: "list the tools before the trial: true for a url, false for a command, which a probe starts once more"},
		{Name: "servers", Type: "map(" + partType + ")", Doc: "several servers by name, instead of command and url"},
		{Name: "backends", Type: "map(string)", Doc: "addresses by name that servers reach as {backend:NAME}: their requests are counted, in the state's backends"},
		{Name: "files", Type: "map(string)", Doc: "files of the working folder by path, written as they are"},
		{Name: "templates", Type: "map(string)", Doc: "files of the working folder by path, with placeholders"},
		{Name: "setup", Type: "list(list(string))", Doc: "commands that run in the working folder before any server"},
		{Name: "setup_timeout", Type: "string", Default: text(defaultSetup), Doc: "how long all of setup may take"},
		{Name: "snapshot", Type: "list(string)", Doc: "command whose stdout is the target's state"},
		{Name: "snapshot_format", Type: "string", Default: text(formatJSON), Enum: []string{formatJSON, formatJSONL, formatText}, Doc: "what the snapshot command writes"},
		{Name: "snapshot_files", Type: "list(string)", Doc: "globs of files whose content is the state; !glob leaves out. Without any snapshot_ attribute: every file of the working folder"},
		{Name: "snapshot_url", Type: "string", Doc: "address whose JSON is the state"},
		{Name: "snapshot_headers", Type: "map(string)", Doc: "headers of the request to snapshot_url; default: headers"},
		{Name: "snapshot_timeout", Type: "string", Default: text(defaultSnapshot), Doc: "how long a snapshot may take"},
		{Name: "snapshot_max_bytes", Type: "number", Default: eval.JSON(fmt.Sprint(defaultMaxBytes)), Doc: "most bytes of state from one source; files beyond it are told by digest, other sources fail"},
		{Name: "cleanup", Type: "list(list(string))", Doc: "commands that run in the working folder when the target ends, also one that was never ready"},
		{Name: "cleanup_timeout", Type: "string", Default: text(defaultCleanup), Doc: "how long all of cleanup may take"},
		{Name: "values", Type: "map(string)", Doc: "what the suite sees as target.NAME, beside target.workdir"},
		{Name: "secrets", Type: "list(string)", Doc: "names of values, env variables and headers that must never reach a record"},
	}}
}

var serverName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// parts returns the servers in the order in which they are made ready, each
// checked for what can be said before placeholders are known.
func (c *config) parts() ([]namedPart, error) {
	var list []namedPart
	own := len(c.Command) > 0 || c.URL != ""
	switch {
	case own && len(c.Servers) > 0:
		return nil, errors.New("command and url are for a single server: move it into servers, or leave servers out")
	case !own && len(c.Servers) == 0:
		return nil, errors.New("one of command, url and servers is needed")
	case own || len(c.Serve) > 0:
		list = append(list, namedPart{c.Name, c.partConfig})
	case c.ReadyURL != "":
		return nil, errors.New("ready_url: there is no serve process that it could be of")
	}
	for _, name := range sortedKeys(c.Servers) {
		p := c.Servers[name]
		if len(p.Command) == 0 && p.URL == "" {
			return nil, fmt.Errorf("servers.%s: command or url is needed", name)
		}
		if p.ReadyTimeout == "" {
			p.ReadyTimeout = c.ReadyTimeout
		}
		if p.Probe == nil {
			p.Probe = c.Probe
		}
		list = append(list, namedPart{name, p})
	}
	for _, p := range list {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("server %q: %w", p.name, err)
		}
	}
	return list, nil
}

type namedPart struct {
	name string
	partConfig
}

func (p namedPart) check() error {
	probed := p.URL != "" && (p.Probe == nil || *p.Probe)
	switch {
	case !serverName.MatchString(p.name):
		return errors.New("a server's name is a letter, then letters, digits, _ and -, at most 64")
	case len(p.Command) > 0 && p.URL != "":
		return errors.New("command and url exclude each other")
	case p.ReadyURL == "" && (p.ReadyBody != "" || p.ReadyNonceHeader != ""):
		return errors.New("ready_body and ready_nonce_header need ready_url")
	case len(p.Serve) > 0 && p.ReadyURL == "" && !probed:
		return errors.New("serve needs ready_url to tell when it is ready")
	}
	return nil
}

// argv checks a command line.
func argv(what string, list []string) error {
	if len(list) == 0 || list[0] == "" {
		return fmt.Errorf("%s: the command has no program", what)
	}
	return nil
}

// duration reads a bound in time; an empty one is the default.
func duration(what, text, def string) (time.Duration, error) {
	if text == "" {
		text = def
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf(`%s: %q is no duration; write it like "90s" or "2m"`, what, text)
	}
	return d, nil
}

// inside checks the path of a file of the working folder.
func inside(path string) (string, error) {
	clean := filepath.Clean(path)
	if !filepath.IsLocal(path) || clean == "." || strings.HasSuffix(path, "/") {
		return "", fmt.Errorf("%q is not the path of a file inside the working folder", path)
	}
	return clean, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
