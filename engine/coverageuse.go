package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/evalengine/evalengine/engine/internal/coverage"
	"github.com/evalengine/evalengine/engine/internal/usage"
)

// ErrNoUse is returned, wrapped, for a file of usage without a call that can be
// read.
var ErrNoUse = errors.New("no call in it can be read")

// UsageFile is a file of tool calls from production, as [Engine.Suggest] reads it.
type UsageFile struct {
	// Format is that of the content; empty goes by the file's name.
	Path, Format string
	// Mapping says which column is what, as field=column.
	Mapping []string
}

// readUsage sums up a file of usage by tool and action; nil for no file. Columns but
// for the session, the tool and its action are passed over unread.
func readUsage(ctx context.Context, f UsageFile) (*coverage.Usage, error) {
	if f.Path == "" {
		if f.Format != "" || len(f.Mapping) > 0 {
			return nil, errors.New("it is said how a file of usage is to be read, and none is given")
		}
		return nil, nil
	}
	m, err := usage.ParseMapping(f.Mapping)
	if err != nil {
		return nil, err
	}
	r, err := usage.Open(f.Path, usage.Options{Format: usage.Format(f.Format), Mapping: m})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t, err := usage.Count(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if t.Account.Events == 0 {
		return nil, fmt.Errorf("%s: %w", f.Path, ErrNoUse)
	}
	u := &coverage.Usage{Weights: map[coverage.UseOf]float64{}, Events: int64(t.Account.Events), Broken: int64(t.Account.BrokenLines())}
	for name, c := range t.Tools {
		u.Weights[coverage.UseOf{Tool: name}] = float64(c.Events)
	}
	for n, c := range t.Actions {
		u.Weights[coverage.UseOf{Tool: n.Tool, Action: n.Action}] += float64(c.Events)
		u.Weights[coverage.UseOf{Tool: n.Tool}] -= float64(c.Events)
	}
	return u, nil
}
