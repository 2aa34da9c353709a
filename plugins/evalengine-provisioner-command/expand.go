package main

import (
	"fmt"
	"regexp"
	"strings"
)

// expander replaces placeholders: {name} and {name:detail}, of lower-case names.
// Every other brace stands for itself, and {{ for one brace.
type expander struct {
	// fixed are the placeholders without a detail, beside {port}.
	fixed map[string]string
	// env is the allow-list's part of the environment, for {env:NAME}.
	env map[string]string
	// port returns the port of a name, always the same.
	port func(name string) (int, error)
	// backend returns the address of a backend's relay, always the same.
	backend func(name string) (string, error)
	used    map[string]bool
}

// maxExpanded bounds one string after its placeholders are replaced.
const maxExpanded = 16 << 20

var (
	placeholder = regexp.MustCompile(`^\{([a-z][a-z_]*)(?::([A-Za-z0-9_.-]*))?\}`)
	portName    = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

const known = "{workdir}, {home}, {tmp}, {port}, {port:NAME}, {backend:NAME}, {nonce}, {trial}, {token} and {env:NAME}; {{ is a brace"

func (x *expander) expand(s string) (string, error) {
	at := strings.IndexByte(s, '{')
	if at < 0 {
		return s, nil
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexByte(s, '{') {
		b.WriteString(s[:at])
		s = s[at:]
		if strings.HasPrefix(s, "{{") {
			b.WriteByte('{')
			s = s[2:]
			continue
		}
		m := placeholder.FindStringSubmatch(s)
		if m == nil {
			b.WriteByte('{')
			s = s[1:]
			continue
		}
		v, err := x.lookup(m[0], m[1], m[2])
		if err != nil {
			return "", err
		}
		if b.Len()+len(v) > maxExpanded {
			return "", fmt.Errorf("longer than %d MiB with its placeholders replaced", maxExpanded>>20)
		}
		b.WriteString(v)
		s = s[len(m[0]):]
	}
	b.WriteString(s)
	return b.String(), nil
}

func (x *expander) lookup(whole, name, detail string) (string, error) {
	bare := !strings.Contains(whole, ":")
	switch {
	case name == "port" && (bare || portName.MatchString(detail)):
		n, err := x.port(detail)
		return fmt.Sprint(n), err
	case name == "backend" && portName.MatchString(detail):
		return x.backend(detail)
	case name == "env" && detail != "":
		v, ok := x.env[detail]
		if !ok {
			return "", fmt.Errorf("%s: the target's env does not list %s, or it is not set", whole, detail)
		}
		return v, nil
	}
	v, ok := x.fixed[name]
	if !ok || !bare {
		return "", fmt.Errorf("unknown placeholder %s; there are %s", whole, known)
	}
	if x.used != nil {
		x.used[name] = true
	}
	return v, nil
}

func (x *expander) list(what string, in []string) ([]string, error) {
	out := make([]string, len(in))
	for i, s := range in {
		var err error
		if out[i], err = x.expand(s); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", what, i, err)
		}
	}
	return out, nil
}

// command is list for a command line.
func (x *expander) command(what string, in []string) ([]string, error) {
	if err := argv(what, in); err != nil {
		return nil, err
	}
	return x.list(what, in)
}

func (x *expander) commands(what string, in [][]string) ([][]string, error) {
	var out [][]string
	for i, c := range in {
		v, err := x.command(fmt.Sprintf("%s[%d]", what, i), c)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// table expands values, not keys.
func (x *expander) table(what string, in map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(in))
	for _, k := range sortedKeys(in) {
		v, err := x.expand(in[k])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", what, k, err)
		}
		out[k] = v
	}
	return out, nil
}
