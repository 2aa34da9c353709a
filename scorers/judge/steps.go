package main

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// record is a transcript as a judge sees it.
type record struct {
	steps []eval.Step
	// index finds a step by its ID.
	index map[string]int
	// calls finds a call's step by its CallID.
	calls map[string]int
	// partner is, for a call its result, and for a result its call; -1 for none.
	partner []int
	// failed are the steps of calls that went wrong, and errors.
	failed map[int]bool
	// cited are the steps that the trial's other scores rest on.
	cited map[int]bool
}

func recordOf(in *scorer.Input) *record {
	r := &record{steps: in.Steps, index: map[string]int{}, calls: map[string]int{}, failed: map[int]bool{}, cited: map[int]bool{}}
	r.partner = make([]int, len(in.Steps))
	for i := range in.Steps {
		r.index[in.Steps[i].ID] = i
		if in.Steps[i].Kind == eval.StepToolCall {
			r.calls[in.Steps[i].CallID] = i
		}
		r.partner[i] = -1
		r.failed[i] = in.Steps[i].Kind == eval.StepError
	}
	list := in.Calls()
	for i := range list {
		r.pair(&list[i])
	}
	for i := range in.Scores {
		for _, e := range in.Scores[i].Evidence {
			if at, ok := r.index[e.Step]; ok {
				r.cited[at] = true
			}
		}
	}
	return r
}

func (r *record) pair(c *eval.Call) {
	at := r.index[c.Step]
	_, truncated, hides := calls.Trouble(c)
	bad := c.Status != eval.CallOK || c.BadArguments || truncated || hides
	r.failed[at] = bad
	if result, ok := r.index[c.ResultStep]; ok {
		r.partner[at], r.partner[result] = result, at
		r.failed[result] = bad
	}
}

// head is the line above a step.
func (r *record) head(i int) string {
	s := &r.steps[i]
	h := "turn " + strconv.Itoa(s.Turn) + ", " + r.what(i)
	if s.Parent != "" {
		h += ", by a sub-agent"
		if at, ok := r.calls[s.Parent]; ok {
			h += " of " + r.steps[at].ID
		}
	}
	switch s.Observed {
	case eval.Unconfirmed:
		h += ", reported by the host and never seen by the gateway"
	case eval.Unreported:
		h += ", seen by the gateway and never reported by the host"
	}
	if s.Truncated {
		h += ", of which the record holds only a part"
	}
	return "[" + inLine(s.ID) + "] " + inLine(h)
}

func (r *record) what(i int) string {
	s := &r.steps[i]
	switch s.Kind {
	case eval.StepToolCall:
		h := "call of " + calls.Name(s.Server, s.Tool)
		if s.BadArguments {
			h += " with arguments that are not JSON"
		}
		if r.partner[i] < 0 {
			h += ", never answered"
		}
		return h
	case eval.StepToolResult:
		h := "result"
		if at := r.partner[i]; at >= 0 {
			h += " of " + r.steps[at].ID
		}
		if s.IsError {
			h += ", marked as an error"
		}
		if s.Bytes > 0 {
			h += ", " + text.Size(s.Bytes)
		}
		if s.DurationMS != nil {
			h += ", took " + text.Number(*s.DurationMS/1000) + " s"
		}
		return h
	case eval.StepMessage:
		return s.Role + " message"
	}
	return string(s.Kind)
}

// size is about how long a step's body is.
func (r *record) size(i int) int {
	s := &r.steps[i]
	return len(s.Text) + len(s.Arguments) + len(s.Result)
}

// body is what a step says.
func (r *record) body(i int) string {
	s := &r.steps[i]
	switch s.Kind {
	case eval.StepToolCall:
		return visible(argumentsText(s))
	case eval.StepToolResult:
		return visible(resultText(s.Result))
	}
	return visible(s.Text)
}

func argumentsText(s *eval.Step) string {
	if !s.BadArguments {
		return canonical(s.Arguments)
	}
	v, _ := jsonv.Parse(s.Arguments)
	return v.String()
}

// resultText is the text of a result; pictures and the like are named, and what
// is no text is canonical JSON.
func resultText(result eval.JSON) string {
	if s, ok := onlyText(result); ok {
		return s
	}
	v, err := jsonv.Parse(result)
	if err != nil {
		return string(result)
	}
	var list []string
	for _, item := range v.Get("content").Elements() {
		list = append(list, contentText(item))
	}
	if s := v.Get("structuredContent"); len(list) == 0 && !s.IsNull() {
		return canonical(s.Raw())
	}
	if len(list) == 0 {
		return canonical(v.Raw())
	}
	return strings.Join(list, "\n")
}

// onlyText returns the text of a result that holds nothing else, as most do: what is
// around it is known, and only the string is looked at.
func onlyText(result []byte) (string, bool) {
	const before, after, fine = `{"content":[{"type":"text","text":"`, `"}]}`, `"}],"isError":false}`
	rest, ok := bytes.CutPrefix(result, []byte(before))
	if !ok {
		return "", false
	}
	text, ok := bytes.CutSuffix(rest, []byte(after))
	if !ok {
		text, ok = bytes.CutSuffix(rest, []byte(fine))
	}
	if !ok {
		return "", false
	}
	from := len(before) - 1
	v, err := jsonv.Parse(result[from : from+len(text)+2])
	if err != nil {
		return "", false
	}
	return v.Str()
}

func contentText(item jsonv.Value) string {
	if s, ok := item.Get("text").Str(); ok {
		return s
	}
	if s, ok := item.Get("resource").Get("text").Str(); ok {
		return s
	}
	data := item.Get("data")
	if blob := item.Get("resource").Get("blob"); blob.Kind() == jsonv.String {
		data = blob
	}
	if data.Kind() != jsonv.String {
		return canonical(item.Raw())
	}
	return "[" + item.Get("type").String() + " " + item.Get("mimeType").String() + ", " + text.Size(int64(len(data.Raw())*3/4)) + "]"
}
