package main

import (
	"errors"
	"regexp"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

var (
	largeParam = eval.Attribute{Name: "large_kib", Type: "number", Default: eval.JSON(`64`),
		Doc: "Results above so many KiB are too large."}
	slowParam = eval.Attribute{Name: "slow_seconds", Type: "number", Default: eval.JSON(`30`),
		Doc: "Calls that take longer are slow."}
	repeatsParam = eval.Attribute{Name: "repeats", Type: "number", Default: eval.JSON(`3`),
		Doc: "So many equal calls with equal results are too many."}
)

// limit reads a number that must not be negative.
func limit(p scorer.Params, name string) (float64, error) {
	n := p.Float(name)
	if n < 0 {
		return 0, errors.New(name + " must not be negative")
	}
	return n, nil
}

// size is how large a call's result was: as observed, or as recorded where nobody
// observed it.
func size(h calls.Hit) int64 {
	if h.Bytes > 0 {
		return h.Bytes
	}
	return int64(len(h.Result))
}

func largeResults(s *scene) ([]eval.Finding, error) {
	kib, err := limit(s.p, "large_kib")
	if err != nil {
		return nil, err
	}
	var g groups
	kept := map[subject]bool{}
	largest := map[subject]int64{}
	shell := map[subject][]eval.Evidence{}
	for _, h := range s.hits {
		said, truncated, _ := calls.Trouble(h.Call)
		n := size(h)
		if !truncated && float64(n) <= kib*1024 {
			continue
		}
		sub := subjectOf(h)
		g.add(sub, h)
		largest[sub] = max(largest[sub], n)
		if truncated {
			kept[sub] = true
			shell[sub] = append(shell[sub], s.readers(h, savedTo(said))...)
		}
	}
	var list []eval.Finding
	for _, sub := range g.order {
		hits := g.hits[sub]
		severity, said := eval.SeverityMinor, "A result is very large ("
		if kept[sub] {
			severity, said = eval.SeverityMajor, "A result was too large for the host, which kept it from the agent ("
		}
		said += sub.String() + ", " + text.Count(len(hits), "call") + ", up to " + text.Size(largest[sub]) + ")"
		if n := len(shell[sub]); n > 0 {
			said += "; the agent read it with tools of the host, " + text.Count(n, "call")
		}
		list = append(list, sub.finding("oversized_result", severity, said,
			"Return less by default: page the result, or let the caller choose what it needs.", append(steps(hits), shell[sub]...)...))
	}
	return list[:min(len(list), maxFindings)], nil
}

var saved = regexp.MustCompile(`(?i)\bsaved to\b`)

// savedTo is the file of which a host's notice says that the result is there.
func savedTo(notice string) string {
	const most = 2000 // a notice says it at its head
	notice = notice[:min(len(notice), most)]
	at := saved.FindStringIndex(notice)
	if at == nil {
		return ""
	}
	for _, word := range strings.Fields(notice[at[1]:]) {
		if word = strings.Trim(word, `"'<>()[],.:;`); strings.ContainsAny(word, `/\`) {
			return word
		}
	}
	return ""
}

// readers are the later calls of the host's own tools that name a file.
func (s *scene) readers(h calls.Hit, file string) []eval.Evidence {
	if file == "" {
		return nil
	}
	var list []eval.Evidence
	for i := h.Index + 1; i < len(s.log.Calls) && len(list) < maxEvidence; i++ {
		if c := &s.log.Calls[i]; c.Server == "" && strings.Contains(string(c.Arguments), file) {
			list = append(list, scorer.StepEvidence(c.Step))
		}
	}
	return list
}

func slowCalls(s *scene) ([]eval.Finding, error) {
	seconds, err := limit(s.p, "slow_seconds")
	if err != nil {
		return nil, err
	}
	var g groups
	longest := map[subject]float64{}
	for _, h := range s.hits {
		if h.DurationMS == nil || *h.DurationMS <= seconds*1000 {
			continue
		}
		sub := subjectOf(h)
		g.add(sub, h)
		longest[sub] = max(longest[sub], *h.DurationMS/1000)
	}
	var list []eval.Finding
	for _, sub := range g.order {
		hits := g.hits[sub]
		list = append(list, sub.finding("slow", eval.SeverityMinor,
			"A call was slow ("+sub.String()+", "+text.Count(len(hits), "call")+"): up to "+text.Number(longest[sub])+" s",
			"Answer at once and let the agent ask for the progress, or do less in one call.", steps(hits)...))
	}
	return list[:min(len(list), maxFindings)], nil
}

func repeatedCalls(s *scene) ([]eval.Finding, error) {
	least, err := limit(s.p, "repeats")
	if err != nil {
		return nil, err
	}
	type same struct{ arguments, result string }
	var order []subject
	most := map[subject][]calls.Hit{}
	made := map[subject]map[same][]calls.Hit{}
	for _, h := range s.hits {
		if _, failed, _ := failure(h); failed || h.Status != eval.CallOK {
			continue
		}
		sub := subjectOf(h)
		if made[sub] == nil {
			made[sub] = map[same][]calls.Hit{}
			order = append(order, sub)
		}
		k := same{key(h), string(h.Result)}
		made[sub][k] = append(made[sub][k], h)
		if len(made[sub][k]) > len(most[sub]) {
			most[sub] = made[sub][k]
		}
	}
	var list []eval.Finding
	for _, sub := range order {
		if n := len(most[sub]); n > 1 && float64(n) >= least && len(list) < maxFindings {
			list = append(list, sub.finding("repeated_call", eval.SeverityMinor,
				"The same call was made again and again with the same result ("+sub.String()+", "+text.Count(n, "call")+")",
				"Say in the result that it is all there is, or what to call next.", steps(most[sub])...))
		}
	}
	return list, nil
}
