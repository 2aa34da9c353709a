package main

import (
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// citer looks up what a reply cites.
type citer interface {
	// cite reads the citations of a grade or of a finding.
	cite(v jsonv.Value) citation
	// tool returns a tool's full name, and whether it was offered or called.
	tool(name string) (string, bool)
}

// citation is what was cited: what is there, and what is not.
type citation struct {
	there   []eval.Evidence
	missing []string
	// absent is the evidence that does not exist, as cited.
	absent []eval.Evidence
}

func (c *citation) lacks(what string, e eval.Evidence) {
	c.missing = append(c.missing, what)
	c.absent = append(c.absent, e)
}

// exists reports whether something is cited and all of it is there.
func (c *citation) exists() bool { return len(c.there) > 0 && len(c.missing) == 0 }

func (c *citation) all() []eval.Evidence {
	list := append(c.there[:len(c.there):len(c.there)], c.absent...)
	return list[:min(len(list), maxEvidence)]
}

// stepCiter looks up steps of a transcript, and quotes in them.
type stepCiter struct {
	r     *record
	tools []eval.Tool
	// rest is what can be quoted without a step: the final answer and the state.
	rest func() []string
	// searched is how much was searched for quotes.
	searched int
}

// maxSearched bounds the search for quotes: what is not found by then is not
// there.
const maxSearched = 64 << 20

// maxCited bounds how many steps are looked up for one claim.
const maxCited = 50

func (c *stepCiter) cite(v jsonv.Value) citation {
	var found citation
	var steps []int
	for _, e := range v.Get("steps").Elements() {
		id := stepID(e.String())
		at, ok := c.r.index[id]
		switch {
		case len(steps) == maxCited:
			continue
		case !ok:
			found.lacks("step "+tree.Cut(id, 40), eval.Evidence{Step: tree.Cut(id, 40)})
		default:
			steps = append(steps, at)
			found.there = append(found.there, scorer.StepEvidence(id))
		}
	}
	if quote := strings.TrimSpace(v.Get("quote").String()); quote != "" {
		c.quote(&found, steps, quote)
	}
	return found
}

// stepID takes "s5", "5" and "[s5]" for the step s5.
func stepID(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "[]")
	if s != "" && strings.Trim(s, "0123456789") == "" {
		return "s" + s
	}
	return s
}

// quote looks a quote up in the steps cited and in what belongs to them, or, where
// none is cited, in all that was shown.
func (c *stepCiter) quote(found *citation, steps []int, quote string) {
	shown := tree.Cut(quote, 300)
	for n, i := range steps {
		if c.quotes(i, quote) {
			found.there[n].Quote = shown
			return
		}
	}
	if len(steps) > 0 || len(found.missing) > 0 {
		found.lacks("quote "+shown, eval.Evidence{Quote: shown})
		return
	}
	for i := range c.r.steps {
		if c.says(i, quote) {
			found.there = append(found.there, eval.Evidence{Step: c.r.steps[i].ID, Quote: shown})
			return
		}
	}
	for _, s := range c.rest() {
		if c.holds(s, quote) {
			found.there = append(found.there, eval.Evidence{Quote: shown})
			return
		}
	}
	found.lacks("quote "+shown, eval.Evidence{Quote: shown})
}

// quotes reports whether a step, or the other half of its call, says a quote.
func (c *stepCiter) quotes(i int, quote string) bool {
	for _, j := range [...]int{i, c.r.partner[i]} {
		if j >= 0 && c.says(j, quote) {
			return true
		}
	}
	return false
}

func (c *stepCiter) says(i int, quote string) bool {
	return c.searched < maxSearched && c.holds(c.r.head(i)+"\n"+c.r.body(i), quote)
}

func (c *stepCiter) holds(s, quote string) bool {
	c.searched += len(s)
	return holds(s, quote)
}

func (c *stepCiter) tool(name string) (string, bool) {
	var found []string
	add := func(server, tool string) {
		full := calls.Name(server, tool)
		if name == full || name == tool {
			for _, have := range found {
				if have == full {
					return
				}
			}
			found = append(found, full)
		}
	}
	for i := range c.tools {
		add(c.tools[i].Server, c.tools[i].Name)
	}
	for i := range c.r.steps {
		if s := &c.r.steps[i]; s.Kind == eval.StepToolCall {
			add(s.Server, s.Tool)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return name, len(found) > 1
}

// holds reports whether a quote stands in a text: white space and the escapes of
// JSON aside, and with the words that the quote leaves out by "..." left out.
func holds(s, quote string) bool {
	s, quote = loose(s), loose(strings.Trim(quote, "\"'`“”„«»"))
	if quote == "" {
		return false
	}
	if strings.Contains(s, quote) {
		return true
	}
	quote = strings.NewReplacer("[...]", "…", "[…]", "…", "...", "…").Replace(quote)
	if !strings.Contains(quote, "…") {
		return false
	}
	pieces := 0
	for piece := range strings.SplitSeq(quote, "…") {
		if piece = strings.TrimSpace(piece); piece == "" {
			continue
		}
		i := strings.Index(s, piece)
		if i < 0 {
			return false
		}
		s = s[i+len(piece):]
		pieces++
	}
	return pieces > 0
}

var escapes = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, `"`, `\\`, `\`, `\/`, `/`)

func loose(s string) string { return strings.Join(strings.Fields(escapes.Replace(s)), " ") }
