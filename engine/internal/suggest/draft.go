package suggest

import (
	"fmt"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/story"
	"github.com/evalengine/evalengine/engine/internal/usage"
)

// Story is a pattern as a story that is to be reviewed.
type Story struct {
	Draft     story.Draft
	Suggested eval.Suggested
}

// Stories makes stories of patterns, a share of which is held out.
func (f *Found) Stories(patterns []Pattern, target string, heldOut float64) []Story {
	out := []Story{}
	for i := range patterns {
		p := &patterns[i]
		s := eval.Suggested{
			Story: story.DraftName("usage", words(p.Calls)), Sessions: p.Sessions, Share: f.Share(p), Known: p.Known, Failed: p.Failed,
			Rank: f.Score(p), HeldOut: HeldOut(p.Calls, heldOut), Prompt: eval.PromptUnfinished,
		}
		if rate, ok := p.FailureRate(); ok {
			s.FailureRate = &rate
		}
		d := story.Draft{Name: s.Story, Tags: []string{"usage"}, Target: target, Order: order(p.Calls), Notes: f.notes(p, &s),
			Hint: "Write what a user wants who makes an agent call these tools; do not name the tools."}
		if s.HeldOut {
			d.Tags = append(d.Tags, "held-out")
		}
		seen := map[usage.Name]bool{}
		for _, c := range p.Calls {
			s.Calls = append(s.Calls, eval.SuggestedCall(c))
			if !seen[c] {
				d.Called = append(d.Called, story.DraftCall(c))
			}
			seen[c] = true
		}
		out = append(out, Story{d, s})
	}
	return out
}

// order are the tools of calls, the same one in a row once: several actions of a
// tool may be one call.
func order(calls []usage.Name) []string {
	var out []string
	for _, c := range calls {
		if len(out) == 0 || out[len(out)-1] != c.Tool {
			out = append(out, c.Tool)
		}
	}
	return out
}

// notes say where a story comes from.
func (f *Found) notes(p *Pattern, s *eval.Suggested) []string {
	period := "in a period that the file does not say"
	if d := f.Describe(); d.From != "" {
		period = "from " + d.From + " to " + d.To
	}
	failures := "Whether these calls worked is not known."
	if s.FailureRate != nil {
		failures = fmt.Sprintf("One of these calls failed in %d of %d sessions (%.1f %%).", p.Failed, p.Known, 100**s.FailureRate)
	}
	support := fmt.Sprintf("k = %d: what fewer sessions have in common is left out.", f.Support)
	if f.Support > f.o.MinSessions {
		support = fmt.Sprintf("k = %d, raised from %d, for which there are too many patterns: what fewer sessions have in common is left out.", f.Support, f.o.MinSessions)
	}
	return []string{
		"Drafted by evalengine suggest from usage: review it, then keep or delete it.",
		"Pattern: " + strings.Join(words(p.Calls), " -> "),
		fmt.Sprintf("Seen in %d of %d sessions (%.1f %%) %s.", p.Sessions, f.Sessions, 100*s.Share, period),
		failures,
		support,
	}
}
