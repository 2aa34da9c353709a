package summary

import (
	"cmp"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxTrials bounds how many trials a finding's count names.
const maxTrials = 20

type findingKey struct{ kind, tool, action, gist string }

// at is where a finding was made: the arm's place, the repeat, the place in the
// record.
type at struct {
	arm, repeat, place int
	id                 string
}

func (a at) compare(b at) int {
	return cmp.Or(cmp.Compare(a.arm, b.arm), cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.place, b.place))
}

// found is one finding over a run. Its count speaks with the words of the first in the
// order of the plan.
type found struct {
	eval.FindingCount
	first  at
	trials []at
}

// addFindings counts findings by fingerprint. One that cites what does not exist is
// kept and does not count.
func (f *Fold) addFindings(arm int, r *eval.Record) {
	for i := range r.Findings {
		fd := &r.Findings[i]
		where := at{arm, r.Repeat, i, r.ID}
		c := f.finding(fd, where)
		if where.compare(c.first) < 0 {
			c.first = where
			c.Text, c.Suggestion = fd.Text, fd.Suggestion
		}
		c.count(fd)
		c.in(where)
	}
}

// count takes in one more. The severity is the most urgent of those that count, and
// of the others where none does.
func (c *found) count(fd *eval.Finding) {
	urgent := rank(fd.Severity) < rank(c.Severity)
	if fd.Unverified {
		c.Unverified++
		if c.Count == 0 && urgent {
			c.Severity = fd.Severity
		}
		return
	}
	c.Count++
	if c.Count == 1 || urgent {
		c.Severity = fd.Severity
	}
}

// in keeps the first of the trials.
func (c *found) in(where at) {
	where.place = 0
	i, known := slices.BinarySearchFunc(c.trials, where, at.compare)
	if known || i == maxTrials {
		return
	}
	c.trials = slices.Insert(c.trials, i, where)
	c.trials = c.trials[:min(len(c.trials), maxTrials)]
}

func (f *Fold) finding(fd *eval.Finding, where at) *found {
	key := findingKey{fd.Kind, fd.Tool, fd.Action, fd.Fingerprint}
	if fd.Fingerprint == "" {
		key.gist = fd.Text
	}
	c := f.findings[key]
	if c == nil {
		if f.findings == nil {
			f.findings = map[findingKey]*found{}
		}
		c = &found{first: where, FindingCount: eval.FindingCount{
			Kind: fd.Kind, Tool: fd.Tool, Action: fd.Action, Severity: fd.Severity,
			Text: fd.Text, Suggestion: fd.Suggestion, Fingerprint: fd.Fingerprint,
		}}
		f.findings[key] = c
	}
	return c
}

// counted are the findings, first those that count, then by urgency and number.
func (f *Fold) counted() []eval.FindingCount {
	var list []*found
	for _, c := range f.findings {
		list = append(list, c)
	}
	for key, a := range f.arms {
		for _, c := range a.transcripts.identical(key) {
			list = append(list, &c)
		}
	}
	slices.SortFunc(list, func(a, b *found) int {
		return cmp.Or(cmp.Compare(min(b.Count, 1), min(a.Count, 1)), cmp.Compare(rank(a.Severity), rank(b.Severity)),
			cmp.Compare(b.Count, a.Count), a.first.compare(b.first))
	})
	var out []eval.FindingCount
	for _, c := range list {
		fc := c.FindingCount
		for _, t := range c.trials {
			fc.Trials = append(fc.Trials, t.id)
		}
		out = append(out, fc)
	}
	return out
}

// rank is a severity's place, after all others for one that is not known.
func rank(s eval.Severity) int {
	all := []eval.Severity{eval.SeverityCritical, eval.SeverityMajor, eval.SeverityMinor, eval.SeverityInfo}
	if i := slices.Index(all, s); i >= 0 {
		return i
	}
	return len(all)
}
