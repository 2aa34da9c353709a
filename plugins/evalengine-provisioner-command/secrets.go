package main

import "fmt"

// minSecret is the shortest value that can be told from other text.
const minSecret = 8

// secrets are the values that must not be recorded: what the config names, and the
// token where it is used.
func (p *planner) secrets(out *plan) ([]string, error) {
	var list []string
	for _, name := range p.c.Secrets {
		var found []string
		add := func(m map[string]string) {
			if v, ok := m[name]; ok {
				found = append(found, v)
			}
		}
		add(out.values)
		add(out.env)
		add(p.env)
		for _, part := range out.parts {
			add(part.env)
			add(part.headers)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("secrets: there is no value, env variable or header %q", name)
		}
		for _, v := range found {
			if len(v) < minSecret {
				return nil, fmt.Errorf("secrets: %q has fewer than %d characters: too short to be told from other text", name, minSecret)
			}
		}
		list = append(list, found...)
	}
	if p.used["token"] {
		list = append(list, p.fixed["token"])
	}
	return unique(list), nil
}

func unique(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range list {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}
