package usage

import (
	"context"
	"errors"
	"io"
)

// Tally sums up the events of a reading: how often each tool and action is called,
// and how often that fails. Names in it are of production: show those alone that a
// tool list has too.
type Tally struct {
	Account Account
	// Tools are by tool, all its actions together; Actions by tool and action, where
	// events name one.
	Tools   map[string]*Calls
	Actions map[Name]*Calls
}

// Calls are those of one tool or action.
type Calls struct {
	Events int
	// Known is of how many events the outcome is known, Failed how many of them
	// failed.
	Known, Failed int
	// Timed is of how many events the latency is known, LatencyMS their sum.
	Timed     int
	LatencyMS float64
}

// FailureRate is the share of calls that failed among those whose outcome is known;
// false where that is of none.
func (c *Calls) FailureRate() (float64, bool) {
	if c == nil || c.Known == 0 {
		return 0, false
	}
	return float64(c.Failed) / float64(c.Known), true
}

// MeanLatencyMS is over the calls whose latency is known; false where that is of none.
func (c *Calls) MeanLatencyMS() (float64, bool) {
	if c == nil || c.Timed == 0 {
		return 0, false
	}
	return c.LatencyMS / float64(c.Timed), true
}

// Share is the share of a tool in all calls; of an action of it where action is not
// empty. It is false where there are no calls at all.
func (t *Tally) Share(tool, action string) (float64, bool) {
	if t.Account.Events == 0 {
		return 0, false
	}
	c := t.Tools[tool]
	if action != "" {
		c = t.Actions[Name{tool, action}]
	}
	if c == nil {
		return 0, true
	}
	return float64(c.Events) / float64(t.Account.Events), true
}

func (c *Calls) add(e Event) {
	c.Events++
	if e.Outcome != Unknown {
		c.Known++
	}
	if e.Outcome == Failed {
		c.Failed++
	}
	if e.LatencyMS >= 0 {
		c.Timed++
		c.LatencyMS += e.LatencyMS
	}
}

func (c *Calls) merge(o Calls) {
	c.Events += o.Events
	c.Known += o.Known
	c.Failed += o.Failed
	c.Timed += o.Timed
	c.LatencyMS += o.LatencyMS
}

// Count reads to the end and sums up. An error of the file ends it; broken lines do
// not.
func Count(ctx context.Context, r *Reader) (*Tally, error) {
	var calls []Calls
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for len(calls) <= int(e.Item) {
			calls = append(calls, Calls{})
		}
		calls[e.Item].add(e)
	}
	t := &Tally{Account: r.Account(), Tools: map[string]*Calls{}, Actions: map[Name]*Calls{}}
	for i, c := range calls {
		name := r.Name(Item(i))
		if t.Tools[name.Tool] == nil {
			t.Tools[name.Tool] = &Calls{}
		}
		t.Tools[name.Tool].merge(c)
		if name.Action != "" {
			t.Actions[name] = &c
		}
	}
	return t, nil
}
