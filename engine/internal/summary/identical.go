package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// transcript is the file of a trial whose digest tells repeats apart.
const transcript = "transcript.jsonl"

// chance is from how many trials on transcripts without a call count as the same:
// two times of two short steps may well be equal by chance.
const chance = 5

// transcripts are the trials of an arm by what their transcript's digest is. Steps
// have times, so two with calls that were really run are never the same to the byte.
type transcripts map[string]*same

type same struct {
	trials []at
	calls  bool
}

func (t *transcripts) add(r *eval.Record, where at) {
	sum := cmp.Or(r.Files[transcript], r.Files[transcript+".zst"])
	if sum == "" {
		return
	}
	if *t == nil {
		*t = transcripts{}
	}
	if (*t)[sum] == nil {
		(*t)[sum] = &same{calls: r.Calls.Total > 0}
	}
	(*t)[sum].trials = append((*t)[sum].trials, where)
}

// identical are the repeats that left the same transcript: something between the
// agent and its model, or the agent itself, gave a stored answer.
func (t transcripts) identical(a eval.Trial) (list []found) {
	for _, s := range t {
		trials := s.trials
		if len(trials) < 2 || !s.calls && len(trials) < chance {
			continue
		}
		slices.SortFunc(trials, at.compare)
		where := []string{a.Story}
		if a.Variant != "" {
			where = append(where, a.Variant)
		}
		c := found{first: trials[0], FindingCount: eval.FindingCount{
			Kind: "identical_repeats", Severity: eval.SeverityMajor, Count: len(trials),
			Text:       fmt.Sprintf("%d repeats of %s on %s left the same transcript to the byte: they are one repeat", len(trials), strings.Join(where, "."), a.Host),
			Suggestion: "Look for a cache between the agent and its model: repeats that were not run say nothing of variance.",
		}}
		for _, x := range trials {
			c.in(x)
		}
		list = append(list, c)
	}
	return list
}
