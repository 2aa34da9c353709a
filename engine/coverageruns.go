package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/coverage"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// trials takes in the calls of a run's trials, one transcript at a time.
func (c *coverer) trials(ctx context.Context, m *coverage.Map, r *ledger.Run) error {
	m.Ran(r.Info.ID)
	n := m.Trials()
	for rec, err := range r.Records() {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			n.Unreadable++
			m.Problem("run %s: %s", r.Info.ID, c.e.o.Secrets.String(err.Error()))
			continue
		case !c.selected(rec.Story):
			n.Other++
			continue
		case rec.Status == eval.StatusErrored:
			n.Errored++
			continue
		case rec.Status == eval.StatusSkipped:
			n.Skipped++
			continue
		}
		steps, err := ledger.ReadSteps(r.TrialDir(rec.ID))
		if err == nil && len(steps) == 0 && rec.Calls.Total > 0 {
			err = fmt.Errorf("its transcript is missing, and it made %d calls", rec.Calls.Total)
		}
		if err != nil {
			n.Unreadable++
			m.Problem("run %s: trial %s: %s", r.Info.ID, rec.ID, c.e.o.Secrets.String(err.Error()))
			continue
		}
		m.Trial(rec.Story, targetOf(rec), eval.Calls(steps))
	}
	return nil
}

func targetOf(rec *eval.Record) string {
	if rec.Target == nil {
		return ""
	}
	return rec.Target.Name
}

// toolsOf are the tools of each target as the trials of a run saw them, each under
// its name as it was first seen. What a variant hides or describes otherwise does
// not count where other trials saw the tools as they are.
func (c *coverer) toolsOf(ctx context.Context, r *ledger.Run) (map[string][]eval.Tool, error) {
	lists := [2]map[string][]eval.Tool{{}, {}}
	seen := map[[2]string]bool{}
	for rec, err := range r.Records() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // it is told with the trials
		}
		key := [2]string{targetOf(rec), rec.ToolsDigest}
		changed := c.changesTools(rec)
		if rec.ToolsDigest == "" || seen[key] {
			continue
		}
		tools, err := ledger.ReadTools(r.TrialDir(rec.ID))
		if err != nil {
			c.problem("run %s: trial %s: %v", r.Info.ID, rec.ID, err)
			continue
		}
		seen[key] = !changed && tools != nil
		i := 0
		if changed {
			i = 1
		}
		lists[i][key[0]] = append(lists[i][key[0]], tools...)
	}
	merged := map[string][]eval.Tool{}
	for _, t := range c.s.Targets {
		if all := distinct(slices.Concat(lists[0][t.Name], lists[1][t.Name])); len(all) > 0 {
			merged[t.Name] = all
		}
	}
	return merged, nil
}

// distinct keeps the first tool of each name.
func distinct(tools []eval.Tool) []eval.Tool {
	seen := map[eval.ToolName]bool{}
	return slices.DeleteFunc(tools, func(t eval.Tool) bool {
		n := eval.ToolName{Server: t.Server, Tool: t.Name}
		was := seen[n]
		seen[n] = true
		return was
	})
}

// changesTools reports whether a trial's variant altered the tools.
func (c *coverer) changesTools(rec *eval.Record) bool {
	st := c.s.Story(rec.Story)
	return st != nil && slices.ContainsFunc(st.Variants, func(v eval.Variant) bool {
		return v.Name == rec.Variant && len(v.Tools) > 0
	})
}

// drift compares the targets' tools with those of the earlier run.
func (c *coverer) drift(ctx context.Context, m *coverage.Map) error {
	if c.against == nil {
		return nil
	}
	was, err := c.toolsOf(ctx, c.against)
	if err != nil {
		return err
	}
	for _, t := range c.s.Targets {
		if now := c.targets[t.Name]; now != nil && was[t.Name] != nil {
			m.Against(c.against.Info.ID, t.Name, was[t.Name])
		} else if now != nil {
			m.Problem("run %s has no list of the tools of target.%s to compare with", c.against.Info.ID, t.Name)
		}
	}
	return nil
}
