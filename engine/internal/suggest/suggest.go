// Package suggest drafts stories from usage: sequences of tools that many sessions
// of production have in common and that no story asks for yet. It names nothing that
// fewer sessions have than its caller allows, and takes from usage nothing but the
// names of tools and actions, their order and whether they worked.
//
// Start at [Mine], then [Found.Rank] for what is worth a story and [Write] for the
// files.
package suggest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/usage"
)

// Fewest is the lowest MinSessions: what fewer sessions have may be one person's.
const Fewest = 5

// Limits of what may be asked for.
const (
	maxGap    = 5
	maxLength = 12
)

// ErrTooLittle is returned where there is nothing that enough sessions have in
// common.
var ErrTooLittle = errors.New("too little usage")

// Options say what is a pattern.
type Options struct {
	// MinSessions is the fewest sessions that a pattern has.
	MinSessions int
	// MaxGap is how many other calls may lie between two of a pattern.
	MaxGap int
	// MaxLength is the longest pattern.
	MaxLength int
	// MaxBroken is the largest share of broken lines.
	MaxBroken float64
}

func (o Options) check() error {
	switch {
	case o.MinSessions < Fewest:
		return fmt.Errorf("at least %d sessions are needed for a pattern, not %d: what fewer have in common may be one person's", Fewest, o.MinSessions)
	case o.MaxGap < 0 || o.MaxGap > maxGap:
		return fmt.Errorf("the gap is from 0 to %d calls, not %d", maxGap, o.MaxGap)
	case o.MaxLength < shortest || o.MaxLength > maxLength:
		return fmt.Errorf("the longest pattern has from %d to %d calls, not %d", shortest, maxLength, o.MaxLength)
	case !(o.MaxBroken >= 0 && o.MaxBroken <= 1):
		return fmt.Errorf("the share of broken lines is from 0 to 1, not %v", o.MaxBroken)
	}
	return nil
}

// Pattern is a sequence that sessions have in common.
type Pattern struct {
	Calls []usage.Name
	// Sessions have it. Of Known of these it is known whether the pattern's calls
	// worked, in Failed of these one did not.
	Sessions, Known, Failed int
}

// FailureRate is the share of sessions in which one of the pattern's calls failed;
// false where that is known of none.
func (p *Pattern) FailureRate() (float64, bool) {
	if p.Known == 0 {
		return 0, false
	}
	return float64(p.Failed) / float64(p.Known), true
}

// Found is what a reading holds.
type Found struct {
	Account  usage.Account
	Sessions int
	// Support is MinSessions, or what it was raised to.
	Support int
	// Rare is how many names fewer sessions than MinSessions have.
	Rare     int
	Patterns []Pattern
	o        Options
}

// Mine reads events to the end and finds their frequent sequences.
func Mine(ctx context.Context, r *usage.Reader, o Options) (*Found, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	kept, err := collect(ctx, r)
	if err != nil {
		return nil, err
	}
	f := &Found{Account: r.Account(), o: o}
	if err := f.readable(); err != nil {
		return nil, err
	}
	s := kept.sequences()
	f.Sessions = s.count
	f.Rare = s.dropRare(r.Items(), o.MinSessions)
	mined, support, err := s.mine(ctx, o)
	if err != nil {
		return nil, err
	}
	f.Support = support
	for _, m := range mined {
		p := Pattern{Sessions: m.sessions, Known: m.known, Failed: m.failed}
		for _, i := range m.items {
			p.Calls = append(p.Calls, r.Name(i))
		}
		f.Patterns = append(f.Patterns, p)
	}
	return f, nil
}

// readable refuses a file of which too much is broken: most likely something else
// is mapped than was meant.
func (f *Found) readable() error {
	a := f.Account
	if a.Lines == 0 {
		return errors.New("the file has no events")
	}
	broken := a.BrokenLines()
	if float64(broken) <= f.o.MaxBroken*float64(a.Lines) && a.Events > 0 {
		return nil
	}
	text := ""
	for _, b := range a.Broken {
		text += fmt.Sprintf("; %s: %d, first in line %d", b.Kind, b.Lines, b.First)
	}
	return fmt.Errorf("%d of %d lines are broken%s", broken, a.Lines, text)
}

// Describe fills in what is known of the usage file.
func (f *Found) Describe() *eval.Suggestions {
	s := &eval.Suggestions{
		Schema: 1, Lines: f.Account.Lines, Events: f.Account.Events, Broken: []eval.BrokenLines{}, Sessions: f.Sessions,
		MinSessions: f.o.MinSessions, Support: f.Support, MaxGap: f.o.MaxGap, MaxLength: f.o.MaxLength,
		RareNames: f.Rare, Patterns: len(f.Patterns), Drafts: []eval.Suggested{},
	}
	for _, b := range f.Account.Broken {
		s.Broken = append(s.Broken, eval.BrokenLines{Kind: b.Kind, Lines: b.Lines, FirstLine: b.First})
	}
	if !f.Account.First.IsZero() {
		// Days alone: a moment is a trace of one person's call.
		s.From, s.To = f.Account.First.Format(time.DateOnly), f.Account.Last.Format(time.DateOnly)
	}
	return s
}
