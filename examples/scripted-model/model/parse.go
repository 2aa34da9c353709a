package model

import (
	"fmt"
	"regexp"
	"slices"
	"time"
)

// nameForm is the form of a scenario's name, which is one element of a URL path.
var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

// Parse reads a script. The README of the command describes the language. An
// error names every problem by line and column. The scenarios of [Library] are
// part of every script, unless it has one of the same name.
func Parse(src []byte) (*Script, error) {
	s, err := parse(src)
	if err != nil {
		return nil, err
	}
	library := Library()
	for _, sc := range library.scenarios {
		if s.scenario(sc.name) == nil {
			sc.rule = nil
			s.scenarios = append(s.scenarios, sc)
		}
	}
	return s, nil
}

// parse reads a script that stands alone.
func parse(src []byte) (*Script, error) {
	if len(src) > maxScript {
		return nil, fmt.Errorf("script is longer than %d bytes", maxScript)
	}
	c := &checker{src: src}
	n, err := parseNode(src)
	if err != nil {
		off := 0
		if se, ok := err.(*syntaxError); ok {
			off = se.off
		}
		c.errorf(off, "", "%v", err)
		return nil, c.err()
	}
	s := c.script(n)
	return s, c.err()
}

func (c *checker) script(n *node) *Script {
	f := c.fields(n, "", "default", "api_key", "usage", "scenarios")
	s := &Script{fallback: f.str("default"), apiKey: f.str("api_key")}
	use := f.usage(defaultUsage)
	list := f.list("scenarios")
	if n.kind == objectNode && len(list) == 0 && len(c.problems) == 0 {
		c.errorf(n.off, "", `"scenarios" is missing or empty`)
	}
	if len(list) > maxScenarios {
		c.errorf(f.members["scenarios"].off, "scenarios", "more than %d", maxScenarios)
		return s
	}
	for i, item := range list {
		path := fmt.Sprintf("scenarios[%d]", i)
		sc := c.scenario(item, path, use)
		if sc.name != "" && s.scenario(sc.name) != nil {
			c.errorf(item.off, path, "a second scenario is named %q", sc.name)
		}
		s.scenarios = append(s.scenarios, sc)
	}
	c.fallback(s, f)
	return s
}

// fallback checks the default, or finds it: one lone scenario needs none named.
func (c *checker) fallback(s *Script, f fields) {
	if f.has("default") {
		if s.scenario(s.fallback) != nil {
			return
		}
		var names []string
		for _, sc := range append(s.Scenarios(), Library().Scenarios()...) {
			names = append(names, sc.Name)
		}
		if !slices.Contains(names, s.fallback) {
			c.errorf(f.members["default"].off, "default", "no scenario %q%s", s.fallback, didYouMean(s.fallback, names))
		}
		return
	}
	if len(s.scenarios) == 1 && s.scenarios[0].rule == nil {
		s.fallback = s.scenarios[0].name
	}
}

func (c *checker) scenario(n *node, path string, use Usage) *scenario {
	f := c.fields(n, path, "name", "about", "match", "usage", "fault", "turns")
	sc := &scenario{name: f.str("name"), about: f.str("about"), fault: f.fault()}
	switch {
	case n.kind != objectNode:
		return sc
	case !f.has("name"):
		c.errorf(n.off, path, `"name" is missing`)
	case !nameForm.MatchString(sc.name) || sc.name == "v1":
		c.errorf(f.members["name"].off, f.sub("name"), "want lower case letters, digits, '.', '_' and '-', and not v1; found %q", sc.name)
	}
	if m := f.members["match"]; m != nil {
		sc.rule = c.rule(m, f.sub("match"))
	}
	use = f.usage(use)
	turns := f.list("turns")
	if len(turns) == 0 && (sc.fault == nil || sc.fault.passes()) {
		c.errorf(n.off, path, `"turns" is missing or empty, and no "fault" answers every request`)
	}
	if len(turns) > maxTurns {
		c.errorf(n.off, path, "more than %d turns", maxTurns)
		return sc
	}
	for i, item := range turns {
		last := i == len(turns)-1
		sc.turns = append(sc.turns, c.turn(item, fmt.Sprintf("%s.turns[%d]", path, i), use, last))
	}
	return sc
}

func (c *checker) rule(n *node, path string) *rule {
	f := c.fields(n, path, "prompt_contains", "prompt_matches", "model")
	r := &rule{matches: f.regex("prompt_matches"), model: f.str("model")}
	if want := f.members["prompt_contains"]; want != nil && want.kind == stringNode {
		r.contains = []string{want.str}
	} else {
		for i, item := range f.list("prompt_contains") {
			if item.kind != stringNode {
				c.errorf(item.off, fmt.Sprintf("%s[%d]", f.sub("prompt_contains"), i), "want a string, found %v", item.kind)
			}
			r.contains = append(r.contains, item.str)
		}
	}
	if len(f.members) == 0 {
		c.errorf(n.off, path, "want at least one of prompt_contains, prompt_matches, model")
	}
	return r
}

func (c *checker) turn(n *node, path string, use Usage, last bool) turn {
	f := c.fields(n, path, "steps", "repeat")
	t := turn{repeat: f.flag("repeat")}
	if t.repeat && !last {
		c.errorf(f.members["repeat"].off, f.sub("repeat"), "only the last turn can repeat: those after it would never be reached")
	}
	steps := f.list("steps")
	if n.kind == objectNode && len(steps) == 0 {
		c.errorf(n.off, path, `"steps" is missing or empty`)
	}
	if len(steps) > maxSteps {
		c.errorf(n.off, path, "more than %d steps", maxSteps)
		return t
	}
	for i, item := range steps {
		at := fmt.Sprintf("%s.steps[%d]", path, i)
		s := c.step(item, at, use)
		if i < len(steps)-1 && len(s.calls) == 0 {
			c.errorf(item.off, at, "a step without calls ends the turn: those after it would never be reached")
		}
		if s.repeat && i < len(steps)-1 {
			c.errorf(item.off, at, "only the last step can repeat: those after it would never be reached")
		}
		t.steps = append(t.steps, s)
	}
	return t
}

func (c *checker) step(n *node, path string, use Usage) step {
	f := c.fields(n, path, "reasoning", "text", "calls", "stop", "fault", "delay_ms", "usage", "repeat")
	s := step{
		reasoning: f.text("reasoning"),
		text:      f.text("text"),
		stop:      f.oneOf("stop", "refusal", "max_tokens"),
		fault:     f.fault(),
		delay:     time.Duration(f.whole("delay_ms", 0, int(maxDelay/time.Millisecond))) * time.Millisecond,
		usage:     f.usage(use),
		repeat:    f.flag("repeat"),
	}
	for i, item := range f.list("calls") {
		s.calls = append(s.calls, c.call(item, fmt.Sprintf("%s.calls[%d]", path, i)))
	}
	switch {
	case n.kind != objectNode:
	case len(s.calls) > 99:
		c.errorf(n.off, path, "more than 99 calls")
	case s.stop != "" && len(s.calls) > 0:
		c.errorf(f.members["stop"].off, f.sub("stop"), "goes with text only, not with calls")
	case s.text == nil && len(s.calls) == 0 && (s.fault == nil || s.fault.passes()):
		c.errorf(n.off, path, `want "text", "calls" or a "fault" that answers every request`)
	}
	return s
}

func (c *checker) call(n *node, path string) call {
	f := c.fields(n, path, "tool", "server", "as_is", "pick", "nth", "fill", "arguments", "raw_arguments")
	k := call{
		tool:   f.str("tool"),
		server: f.str("server"),
		asIs:   f.flag("as_is"),
		pick:   f.oneOf("pick", pickReadOnly, pickAny),
		nth:    1,
		fill:   f.flag("fill"),
	}
	if f.has("nth") {
		k.nth = f.whole("nth", 1, maxSteps)
	}
	if args := f.of("arguments", objectNode); args != nil {
		k.arguments = c.value(args, f.sub("arguments"))
	}
	if f.of("raw_arguments", stringNode) != nil {
		raw := f.str("raw_arguments")
		k.raw = &raw
	}
	switch {
	case n.kind != objectNode:
	case f.has("tool") == f.has("pick"):
		c.errorf(n.off, path, `want either "tool" or "pick"`)
	case f.has("pick") && (f.has("server") || f.has("as_is")):
		c.errorf(n.off, path, `"server" and "as_is" go with "tool"`)
	case f.has("nth") && !f.has("pick"):
		c.errorf(n.off, path, `"nth" goes with "pick"`)
	case f.has("arguments") && f.has("raw_arguments"):
		c.errorf(n.off, path, `want either "arguments" or "raw_arguments"`)
	case f.has("fill") && (f.has("raw_arguments") || k.asIs):
		c.errorf(n.off, path, `"fill" needs an offered tool and no "raw_arguments"`)
	}
	if k.pick != "" && !f.has("fill") && k.raw == nil {
		k.fill = true
	}
	return k
}

// usage reads counts, those not written being those of base.
func (f fields) usage(base Usage) Usage {
	n := f.members["usage"]
	if n == nil {
		return base
	}
	const most = 1 << 30
	g := f.c.fields(n, f.sub("usage"), "input", "cache_read", "cache_write", "output", "reasoning")
	for _, one := range []struct {
		name string
		at   *int
	}{
		{"input", &base.Input}, {"cache_read", &base.CacheRead}, {"cache_write", &base.CacheWrite},
		{"output", &base.Output}, {"reasoning", &base.Reasoning},
	} {
		if g.has(one.name) {
			*one.at = g.whole(one.name, 0, most)
		}
	}
	if base.Reasoning > base.Output {
		f.c.errorf(n.off, f.sub("usage"), "reasoning (%d) is part of output (%d) and cannot be more", base.Reasoning, base.Output)
	}
	return base
}
