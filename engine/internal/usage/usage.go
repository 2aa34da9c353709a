// Package usage reads events of tool calls from production: who called which tool
// when, and whether it worked. It reads CSV, TSV and JSON lines in one pass, bounded
// in memory whatever is in the file, and takes no more of a line than the columns
// that the caller maps: what stands in any other column is passed over unread.
//
// What people said or sent has no place in it. A session's id becomes a number by a
// hash whose key is made for one reading and kept nowhere; lines that cannot be read
// are counted by what is wrong with them, never quoted.
//
// Start at [Open] or [New]; [Count] sums up a whole reading.
package usage

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"time"
)

// Limits of what is read.
const (
	// maxRecord bounds one line, or one record of a CSV file, in bytes.
	maxRecord = 1 << 20
	// maxName bounds the name of a tool or an action in bytes.
	maxName = 200
	// maxItems bounds how many tools and actions there are.
	maxItems = 1<<16 - 16
)

// ErrTooManyNames is returned where the tools and actions are more than can be:
// what is mapped is no name of a tool then.
var ErrTooManyNames = fmt.Errorf("more than %d different tools and actions: the columns mapped to tool and action must hold names, not data", maxItems)

// Outcome says how a call ended. The zero Outcome is not known.
type Outcome uint8

// Outcomes.
const (
	Unknown Outcome = iota
	Succeeded
	Failed
)

// Item numbers what is called: a tool, or an action of one. [Reader.Name] has its
// name.
type Item uint16

// Name is a tool, and the action of a tool that has several; Action is empty
// otherwise.
type Name struct {
	Tool   string `json:"tool"`
	Action string `json:"action,omitempty"`
}

// Event is one call.
type Event struct {
	// Session is the same for the calls of one session, in one reading.
	Session uint64
	// At is Unix time in nanoseconds; 0 where no time is mapped.
	At      int64
	Item    Item
	Outcome Outcome
	// LatencyMS is negative where it is not known.
	LatencyMS float64
}

// Broken is how many lines one thing is wrong with.
type Broken struct {
	// Kind is one of the Broken constants.
	Kind  string `json:"kind"`
	Lines int    `json:"lines"`
	// First is the number of the first such line, from 1.
	First int `json:"first_line"`
}

// Kinds of broken lines.
const (
	BrokenSyntax  = "syntax"  // not CSV, or not one JSON object
	BrokenLength  = "length"  // longer than 1 MiB
	BrokenColumns = "columns" // fewer columns than the header
	BrokenSession = "session" // without a session
	BrokenTime    = "time"    // without a time, or with one that is none
	BrokenTool    = "tool"    // without a tool, or with one that is no name
	BrokenAction  = "action"  // with an action that is no name
	BrokenOK      = "ok"      // ok is neither true nor false
	BrokenLatency = "latency" // latency is no number of milliseconds from 0
)

// Account is what became of the lines of a reading.
type Account struct {
	// Lines are all but empty ones; each is an event or broken.
	Lines  int `json:"lines"`
	Events int `json:"events"`
	// Broken is in the order of the kinds' names.
	Broken []Broken `json:"broken"`
	// First and Last are the earliest and the latest time; zero without one.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
}

// BrokenLines is how many lines are broken.
func (a Account) BrokenLines() int { return a.Lines - a.Events }

// Options say how events are read.
type Options struct {
	// Format is that of the content; empty goes by the file's name.
	Format Format
	// Mapping says which column is what; the zero Mapping is that of the columns
	// that are named as the fields are.
	Mapping *Mapping
}

// Reader reads events. It is not safe for concurrent use.
type Reader struct {
	closers []io.Closer
	rows    rows
	m       Mapping
	seed    maphash.Seed

	names []Name
	items map[string]Item
	key   []byte

	account     Account
	first, last int64
	timed       bool
	broken      map[string]*Broken
}

// rows are the lines of a file, each as its mapped fields.
type rows interface {
	// next fills in the fields of one more line and says what is wrong with it. line
	// is its number.
	next(f *fields) (line int, broken string, err error)
}

// New returns a reader of content whose format is said by the options.
func New(in io.Reader, o Options) (*Reader, error) {
	m := DefaultMapping()
	if o.Mapping != nil {
		m = *o.Mapping
	}
	r := &Reader{m: m, seed: maphash.MakeSeed(), items: map[string]Item{}, broken: map[string]*Broken{}}
	lines := newLines(in)
	var err error
	switch o.Format {
	case CSV:
		r.rows, err = newTable(lines, ',', m)
	case TSV:
		r.rows, err = newTable(lines, '\t', m)
	case JSONLines:
		r.rows = newObjects(lines, m)
	default:
		err = fmt.Errorf("format %q is not known: there are %s, %s and %s", o.Format, CSV, TSV, JSONLines)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Next returns the next event, [io.EOF] after the last. Broken lines are counted and
// passed over.
func (r *Reader) Next() (Event, error) {
	var f fields
	for {
		line, broken, err := r.rows.next(&f)
		if err != nil {
			return Event{}, err
		}
		r.account.Lines++
		if broken != "" {
			r.count(broken, line)
			continue
		}
		e, broken, err := r.event(&f)
		if err != nil {
			return Event{}, fmt.Errorf("line %d: %w", line, err)
		}
		if broken != "" {
			r.count(broken, line)
			continue
		}
		r.account.Events++
		return e, nil
	}
}

// event makes an event of a line's fields.
func (r *Reader) event(f *fields) (Event, string, error) {
	e := Event{LatencyMS: -1}
	if len(f[session]) == 0 {
		return e, BrokenSession, nil
	}
	e.Session = maphash.Bytes(r.seed, f[session])
	if r.m.Time != "" {
		at, ok := parseTime(f[at])
		if !ok {
			return e, BrokenTime, nil
		}
		e.At = at
	}
	var ok bool
	if e.Outcome, ok = parseOutcome(f[outcome]); !ok {
		return e, BrokenOK, nil
	}
	if e.LatencyMS, ok = parseLatency(f[latency]); !ok {
		return e, BrokenLatency, nil
	}
	if len(f[tool]) == 0 || !usable(f[tool]) {
		return e, BrokenTool, nil
	}
	if !usable(f[action]) {
		return e, BrokenAction, nil
	}
	var err error
	if e.Item, err = r.item(f[tool], f[action]); err != nil {
		return e, "", err
	}
	r.span(e.At)
	return e, "", nil
}

// item is the number of a tool and its action.
func (r *Reader) item(tool, action []byte) (Item, error) {
	r.key = append(append(append(r.key[:0], tool...), 0), action...)
	if i, ok := r.items[string(r.key)]; ok {
		return i, nil
	}
	if len(r.names) == maxItems {
		return 0, ErrTooManyNames
	}
	i := Item(len(r.names))
	r.items[string(r.key)] = i
	r.names = append(r.names, Name{string(tool), string(action)})
	return i, nil
}

func (r *Reader) span(at int64) {
	if r.m.Time == "" {
		return
	}
	if !r.timed {
		r.first, r.last, r.timed = at, at, true
	}
	r.first, r.last = min(r.first, at), max(r.last, at)
}

func (r *Reader) count(kind string, line int) {
	b := r.broken[kind]
	if b == nil {
		b = &Broken{Kind: kind, First: line}
		r.broken[kind] = b
	}
	b.Lines++
}

// Name is what an item is called.
func (r *Reader) Name(i Item) Name { return r.names[i] }

// Items is how many items there are so far; they are numbered from 0.
func (r *Reader) Items() int { return len(r.names) }

// Account is what became of the lines that are read so far.
func (r *Reader) Account() Account {
	a := r.account
	a.Broken = []Broken{}
	for _, b := range r.broken {
		a.Broken = append(a.Broken, *b)
	}
	slices.SortFunc(a.Broken, func(a, b Broken) int { return strings.Compare(a.Kind, b.Kind) })
	if r.timed {
		a.First, a.Last = time.Unix(0, r.first).UTC(), time.Unix(0, r.last).UTC()
	}
	return a
}

// Close closes what [Open] opened.
func (r *Reader) Close() error {
	var errs []error
	for _, c := range slices.Backward(r.closers) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
