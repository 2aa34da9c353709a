package story

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/evalengine/evalengine/engine/eval"
)

// factNames are the roots that a check can refer to.
var factNames = []string{"state", "before", "target", "trial", "answer", "calls", "tools", "usage", "pages"}

var (
	callType = cty.Object(map[string]cty.Type{
		"step": cty.String, "result_step": cty.String, "turn": cty.Number, "server": cty.String, "tool": cty.String,
		"arguments": cty.DynamicPseudoType, "bad_arguments": cty.Bool, "result": cty.DynamicPseudoType,
		"status": cty.String, "bytes": cty.Number, "truncated": cty.Bool, "observed": cty.String,
		"parent": cty.String, "duration_ms": cty.Number,
	})
	toolType = cty.Object(map[string]cty.Type{
		"server": cty.String, "name": cty.String, "description": cty.String, "input_schema": cty.DynamicPseudoType,
		"annotations": cty.DynamicPseudoType, "requires": cty.List(cty.String), "destructive": cty.Bool,
	})
	pageType = cty.Object(map[string]cty.Type{
		"name": cty.String, "url": cty.String, "final_url": cty.String, "title": cty.String, "status": cty.Number,
		"html": cty.String, "error": cty.String,
	})
	usageType = map[string]cty.Type{
		"turns": cty.Number, "requests": cty.Number, "input_tokens": cty.Number, "cache_read_tokens": cty.Number,
		"cache_write_tokens": cty.Number, "output_tokens": cty.Number, "reasoning_tokens": cty.Number,
		"cost_usd": cty.Number, "lower_bound": cty.Bool, "source": cty.String, "models": cty.List(cty.String),
	}
)

// unknownFacts are the facts when the suite is loaded: types without values.
func unknownFacts() map[string]cty.Value {
	usage := map[string]cty.Value{}
	for name, t := range usageType {
		usage[name] = cty.UnknownVal(t)
	}
	facts := unknownTrial()
	facts["state"], facts["before"] = cty.DynamicVal, cty.DynamicVal
	facts["answer"] = cty.UnknownVal(cty.String)
	facts["calls"] = cty.UnknownVal(cty.List(callType))
	facts["tools"] = cty.UnknownVal(cty.List(toolType))
	facts["pages"] = cty.UnknownVal(cty.List(pageType))
	facts["usage"] = cty.ObjectVal(usage)
	return facts
}

// factContext has the facts that are asked for, and no others: turning a large
// state or many calls into values is what a check costs.
func factContext(ctx *hcl.EvalContext, roots []string, f *eval.Facts) (*hcl.EvalContext, error) {
	child := ctx.NewChild()
	child.Variables = map[string]cty.Value{}
	for _, root := range roots {
		v, err := fact(root, f)
		if err != nil {
			return nil, err
		}
		child.Variables[root] = v
	}
	return child, nil
}

func fact(root string, f *eval.Facts) (cty.Value, error) {
	switch root {
	case "state":
		return jsonValue(f.State, "the target's state")
	case "before":
		return jsonValue(f.Before, "the target's state before the run")
	case "target":
		return jsonValue(f.Target, "the target's values")
	case "trial":
		return trialValue(f.Trial), nil
	case "answer":
		return textValue(f.Answer), nil
	case "calls":
		return eachValue(f.Calls, callValue)
	case "tools":
		return eachValue(f.Tools, toolValue)
	case "pages":
		return pagesValue(f.Pages)
	case "usage":
		return usageValue(&f.Usage), nil
	}
	return cty.NilVal, fmt.Errorf("no fact %q", root)
}

func eachValue[T any](list []T, value func(*T) (cty.Value, error)) (cty.Value, error) {
	out := make([]cty.Value, len(list))
	for i := range list {
		v, err := value(&list[i])
		if err != nil {
			return cty.NilVal, err
		}
		out[i] = v
	}
	return cty.TupleVal(out), nil
}

// pagesValue is an error where a page could not even be asked for, such as without a
// browser: nobody knows then what the agent made of it.
func pagesValue(pages []eval.Page) (cty.Value, error) {
	if pages == nil {
		return cty.NilVal, errors.New("no pages were captured")
	}
	for i := range pages {
		if p := &pages[i]; p.Error != "" && p.Requests == 0 && p.Status == 0 {
			return cty.NilVal, fmt.Errorf("page %q was not captured: %s", p.Name, p.Error)
		}
	}
	return eachValue(pages, pageValue)
}

func callValue(c *eval.Call) (cty.Value, error) {
	return cty.ObjectVal(map[string]cty.Value{
		"step": textValue(c.Step), "result_step": textValue(c.ResultStep), "turn": cty.NumberIntVal(int64(c.Turn)),
		"server": textValue(c.Server), "tool": textValue(c.Tool), "arguments": observed(c.Arguments),
		"bad_arguments": cty.BoolVal(c.BadArguments), "result": observed(c.Result), "status": cty.StringVal(string(c.Status)),
		"bytes": cty.NumberIntVal(c.Bytes), "truncated": cty.BoolVal(c.Truncated), "observed": cty.StringVal(string(c.Observed)),
		"parent": textValue(c.Parent), "duration_ms": optional(c.DurationMS),
	}), nil
}

// observed is JSON that an agent or a server wrote: what cannot be read, a cut
// result for one, is the text that it is.
func observed(j eval.JSON) cty.Value {
	if j.IsZero() {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	v, err := fromJSON(j)
	if err != nil {
		return textValue(string(j))
	}
	return v
}

func toolValue(t *eval.Tool) (cty.Value, error) {
	return cty.ObjectVal(map[string]cty.Value{
		"server": textValue(t.Server), "name": textValue(t.Name), "description": textValue(t.Description),
		"input_schema": observed(t.InputSchema), "annotations": observed(t.Annotations),
		"requires": textList(t.Requires), "destructive": cty.BoolVal(t.Destructive),
	}), nil
}

func pageValue(p *eval.Page) (cty.Value, error) {
	return cty.ObjectVal(map[string]cty.Value{
		"name": textValue(p.Name), "url": textValue(p.URL), "final_url": textValue(p.FinalURL), "title": textValue(p.Title),
		"status": cty.NumberIntVal(int64(p.Status)), "html": textValue(string(p.HTML)), "error": textValue(p.Error),
	}), nil
}

func usageValue(u *eval.Usage) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"turns": cty.NumberIntVal(int64(u.Turns)), "requests": cty.NumberIntVal(int64(u.Requests)),
		"input_tokens": cty.NumberIntVal(u.InputTokens), "cache_read_tokens": cty.NumberIntVal(u.CacheReadTokens),
		"cache_write_tokens": cty.NumberIntVal(u.CacheWriteTokens), "output_tokens": cty.NumberIntVal(u.OutputTokens),
		"reasoning_tokens": cty.NumberIntVal(u.ReasoningTokens), "cost_usd": optional(u.CostUSD),
		"lower_bound": cty.BoolVal(u.LowerBound), "source": textValue(u.Source), "models": textList(u.Models),
	})
}

func textList(list []string) cty.Value {
	if len(list) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	out := make([]cty.Value, len(list))
	for i, s := range list {
		out[i] = textValue(s)
	}
	return cty.ListVal(out)
}

// optional is a measured number; it goes by its decimal digits, so that 0.1
// equals 0.1 in a condition.
func optional(f *float64) cty.Value {
	if f == nil {
		return cty.NullVal(cty.Number)
	}
	b, err := json.Marshal(*f)
	if err != nil {
		return cty.NullVal(cty.Number)
	}
	if v := numberValue(string(b)); v.Type() == cty.Number {
		return v
	}
	return cty.NullVal(cty.Number)
}

// factsOf returns the fact roots among the names that expressions refer to.
func factsOf(traversals ...hcl.Traversal) []string {
	var roots []string
	for _, t := range traversals {
		if r := t.RootName(); slices.Contains(factNames, r) && !slices.Contains(roots, r) {
			roots = append(roots, r)
		}
	}
	return roots
}
