package coverage

import (
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// ask holds what a story asks for against the tools of its target.
func (m *Map) ask(s *Story, a *Ask) {
	offered, known := m.offered[s.Target]
	if !known {
		return
	}
	var hit []*tool
	if a.Texts {
		hit = named(offered, a.Tools)
	} else {
		hit = matching(offered, a.Tools)
	}
	if len(hit) == 0 {
		if !a.Texts && len(a.Tools) > 0 && !strings.HasPrefix(a.Tools[0], "/") {
			m.lose(s, a, eval.LostNotOffered)
		}
		return
	}
	// A pattern that covers several asks for one of them, nobody knows which; a
	// condition that names several may well want all of them.
	sure := len(hit) == 1 || a.Texts
	for _, t := range hit {
		t.whole.ask(s.Name, sure)
	}
	parts, missing := actionsAsked(hit, a, sure, s.Name)
	if missing {
		m.lose(s, a, eval.LostNoAction)
		return
	}
	if len(parts) == 0 {
		for _, t := range hit {
			parts = append(parts, &t.whole)
		}
	}
	if m.finished[s.Name] > 0 && !slices.ContainsFunc(parts, func(p *part) bool { return p.stories[s.Name] > 0 }) {
		m.lose(s, a, eval.LostNeverCalled)
	}
}

// named are the tools whose names are among the texts, as "tool" or "server/tool".
func named(offered map[eval.ToolName]*tool, texts []string) []*tool {
	var hit []*tool
	for n, t := range offered {
		if slices.Contains(texts, n.Tool) || slices.Contains(texts, n.Server+"/"+n.Tool) {
			hit = append(hit, t)
		}
	}
	return hit
}

func matching(offered map[eval.ToolName]*tool, patterns []string) []*tool {
	var hit []*tool
	for n, t := range offered {
		if slices.ContainsFunc(patterns, func(p string) bool { return covers(p, n) }) {
			hit = append(hit, t)
		}
	}
	return hit
}

// covers is [eval.MatchTool], but that a tool of a list which does not say whose
// it is may be any server's.
func covers(pattern string, n eval.ToolName) bool {
	if strings.HasPrefix(pattern, "/") {
		return false // a tool of the host's own
	}
	if eval.MatchTool(pattern, n.Server, n.Tool) {
		return true
	}
	i := strings.LastIndexByte(pattern, '/')
	return n.Server == "" && i > 0 && eval.Glob(pattern[i+1:], n.Tool)
}

// actionsAsked marks the actions that are asked for. missing says that one is
// asked for which none of the tools has.
func actionsAsked(hit []*tool, a *Ask, sure bool, story string) (parts []*part, missing bool) {
	open := false
	for _, t := range hit {
		// Of a tool whose actions are not all known nobody can say what it lacks.
		open = open || len(t.actions) == 0 || t.known.Left > 0
		for i := range t.actions {
			if p := &t.actions[i]; a.wants(t, p.name) {
				parts = append(parts, p)
			}
		}
	}
	for _, p := range parts {
		p.ask(story, len(parts) == 1 || a.Texts && sure)
	}
	return parts, a.Action != "" && len(parts) == 0 && !open
}

func (a *Ask) wants(t *tool, action string) bool {
	switch {
	case a.Action != "":
		return eval.Glob(a.Action, action)
	case a.Texts:
		return slices.Contains(a.Tools, action)
	}
	for pointer, v := range a.Values {
		if v == action && t.known.pointers(pointer) {
			return true
		}
	}
	return false
}

func (p *part) ask(story string, sure bool) {
	list := &p.named
	if !sure {
		list = &p.pattern
	}
	if *list == nil {
		*list = map[string]bool{}
	}
	(*list)[story] = true
}

func (m *Map) lose(s *Story, a *Ask, why string) {
	l := eval.LostTool{Story: s.Name, Use: a.Use, Tool: strings.Join(a.Tools, ", "), Action: a.Action, Why: why, Trials: m.finished[s.Name]}
	if a.Texts {
		l.Tool = m.textNames(s, a)
	}
	if !slices.Contains(m.out.Lost, l) {
		m.out.Lost = append(m.out.Lost, l)
	}
}

// textNames are the texts of a condition that name tools.
func (m *Map) textNames(s *Story, a *Ask) string {
	var names []string
	for _, t := range named(m.offered[s.Target], a.Tools) {
		names = append(names, t.Tool)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
