package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/model"
	"github.com/evalengine/evalengine/engine/internal/suggest"
	"github.com/evalengine/evalengine/engine/internal/usage"
)

// SuggestOptions say what stories are drafted from.
type SuggestOptions struct {
	// Usage is the file of events, Format its format where the name does not say it,
	// Mapping its columns as field=column.
	Usage, Format string
	Mapping       []string
	// MinSessions is the fewest sessions of a pattern, MaxGap how many other calls may
	// lie between two of it, MaxLength its most calls, MaxBroken the largest share of
	// broken lines.
	MinSessions, MaxGap, MaxLength int
	MaxBroken                      float64
	// Limit is how many stories are drafted, HeldOut the share that is marked so.
	Limit   int
	HeldOut float64
	// Suite has the stories that there are; nil is none.
	Suite *eval.Suite
	// Target names the drafts' target; empty is the suite's only one.
	Target string
	// Store and Runs are runs whose trials' calls count as covered.
	Store *Store
	Runs  []string
	// Model names the suite's model that writes prompts; empty is the suite's only
	// one. NoModel asks none.
	Model   string
	NoModel bool
	// Tools is a file with the answer to tools/list, for the model; empty is none.
	Tools string
	// Dir is where drafts are written; empty writes none. Force writes over unfinished
	// drafts, Overwrite names stories that are written over whatever they are.
	Dir       string
	Force     bool
	Overwrite []string
}

// ErrNoPatterns is returned, with what was read, where no pattern has enough
// sessions.
var ErrNoPatterns = suggest.ErrTooLittle

// Suggest drafts stories from usage.
func (e *Engine) Suggest(ctx context.Context, o SuggestOptions) (*eval.Suggestions, error) {
	if o.Limit < 1 || !(o.HeldOut >= 0 && o.HeldOut <= 1) {
		return nil, errors.New("at least one story is drafted, and the share held out is from 0 to 1")
	}
	target, err := o.target()
	if err != nil {
		return nil, err
	}
	block, err := o.model()
	if err != nil {
		return nil, err
	}
	tools, err := readToolList(o.Tools)
	if err != nil {
		return nil, err
	}
	covers, err := o.covers()
	if err != nil {
		return nil, err
	}
	m, err := usage.ParseMapping(o.Mapping)
	if err != nil {
		return nil, err
	}
	r, err := usage.Open(o.Usage, usage.Options{Format: usage.Format(o.Format), Mapping: m})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := suggest.Mine(ctx, r, suggest.Options{MinSessions: o.MinSessions, MaxGap: o.MaxGap, MaxLength: o.MaxLength, MaxBroken: o.MaxBroken})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Usage, err)
	}
	out := f.Describe()
	c := f.Rank(suggest.Choice{Limit: o.Limit, Covers: covers})
	out.Absorbed, out.Covered, out.Redundant, out.Left = c.Absorbed, c.Covered, c.Redundant, c.Left
	stories := f.Stories(c.Patterns, target, o.HeldOut)
	if block != nil && len(stories) > 0 {
		if out.Usage, err = e.compose(ctx, f, stories, tools, *block, o.Suite); err != nil {
			return nil, err
		}
	}
	if o.Dir != "" && len(stories) > 0 {
		if err := suggest.Write(o.Dir, stories, suggest.Over{Unfinished: o.Force, Names: o.Overwrite}); err != nil {
			return nil, err
		}
	}
	for _, s := range stories {
		out.Drafts = append(out.Drafts, s.Suggested)
	}
	if out.Patterns == 0 {
		return out, ErrNoPatterns
	}
	return out, nil
}

func (o *SuggestOptions) target() (string, error) {
	switch {
	case o.Suite == nil && o.Target != "":
		return "", errors.New("a target is named and no suite is given")
	case o.Suite == nil:
		return "", nil
	case o.Target != "" && o.Suite.Target(o.Target) == nil:
		return "", fmt.Errorf("the suite has no target %q", o.Target)
	case o.Target == "" && len(o.Suite.Targets) == 1:
		return o.Suite.Targets[0].Name, nil
	}
	return o.Target, nil
}

// model is the block that writes prompts, nil for none.
func (o *SuggestOptions) model() (*eval.ModelConfig, error) {
	switch {
	case o.NoModel && o.Model != "":
		return nil, errors.New("a model is named, and none is to be asked")
	case o.Suite == nil && o.Model != "":
		return nil, fmt.Errorf("the model %q is one of a suite, and no suite is given", o.Model)
	case o.Suite == nil || o.NoModel:
		return nil, nil
	case o.Model == "" && len(o.Suite.Models) == 1:
		return &o.Suite.Models[0], nil
	case o.Model == "":
		return nil, nil
	}
	for i := range o.Suite.Models {
		if o.Suite.Models[i].Name == o.Model {
			return &o.Suite.Models[i], nil
		}
	}
	return nil, fmt.Errorf("the suite has no model %q", o.Model)
}

func (o *SuggestOptions) covers() (suggest.Covers, error) {
	var c suggest.Covers
	if o.Suite != nil {
		c.AddSuite(o.Suite)
	}
	for _, name := range o.Runs {
		run, err := o.Store.Run(name)
		if err != nil {
			return c, err
		}
		for rec, err := range run.Records() {
			if err != nil {
				return c, err
			}
			steps, err := ledger.ReadSteps(run.TrialDir(rec.ID))
			if err != nil {
				return c, err
			}
			if err := c.AddCalls(eval.Calls(steps)); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// maxToolList bounds the file of a tool list in bytes.
const maxToolList = 16 << 20

// readToolList reads the answer to tools/list, or the list alone.
func readToolList(path string) ([]eval.Tool, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxToolList+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxToolList {
		return nil, fmt.Errorf("%s: a tool list larger than %d MiB", path, maxToolList>>20)
	}
	list, ok := parseToolList(b)
	if !ok {
		return nil, fmt.Errorf("%s: no answer to tools/list: an object with tools, or a list of them, is needed", path)
	}
	return list, nil
}

// listedTool is a tool as MCP spells it, or as a run's files do.
type listedTool struct {
	eval.Tool
	Schema eval.JSON `json:"inputSchema"`
}

func parseToolList(b []byte) ([]eval.Tool, bool) {
	var listed []listedTool
	if json.Unmarshal(b, &listed) != nil {
		var answer struct {
			Tools  []listedTool `json:"tools"`
			Result struct {
				Tools []listedTool `json:"tools"`
			} `json:"result"`
		}
		if json.Unmarshal(b, &answer) != nil {
			return nil, false
		}
		listed = append(answer.Tools, answer.Result.Tools...)
	}
	var out []eval.Tool
	for _, t := range listed {
		if t.Name == "" {
			return nil, false
		}
		if len(t.Schema) > 0 {
			t.InputSchema = t.Schema
		}
		out = append(out, t.Tool)
	}
	return out, len(out) > 0
}

// compose has a model write the prompts, within the suite's budget.
func (e *Engine) compose(ctx context.Context, f *suggest.Found, stories []suggest.Story, tools []eval.Tool, m eval.ModelConfig, s *eval.Suite) (eval.Usage, error) {
	var budget model.Budget
	if s.BudgetUSD > 0 {
		budget = model.NewPurse(s.BudgetUSD, 0)
	}
	b, err := model.New(model.Options{
		Models: []eval.ModelConfig{m}, Plugin: e.pool.Model, Environ: e.o.Environ, Budget: budget, Limits: s.Providers,
		Cache: filepath.Join(e.o.Cache, "models"), Secrets: e.o.Secrets, Logger: e.o.Logger,
	})
	if err != nil {
		return eval.Usage{}, err
	}
	defer b.Close()
	return f.Compose(ctx, stories, tools, func(ctx context.Context, story string, q *eval.ModelRequest) (*eval.ModelReply, error) {
		session := b.Session(model.SessionOptions{Run: "suggest", Trial: eval.Trial{Story: story}, Granted: map[string][]string{"suggest": {m.Name}}})
		return session.Complete(ctx, "suggest", q)
	})
}
