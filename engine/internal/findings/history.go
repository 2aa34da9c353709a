package findings

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxMembers bounds how many different findings a history holds.
const maxMembers = 100_000

// maxShown bounds a text that is kept.
const maxShown = 2 << 10

// ErrTwice is returned by [History.Add] for a run that it has: a run counts once.
var ErrTwice = errors.New("the run is in the history already")

// History is the findings of the runs of one suite. Runs may be added in any order,
// and their records come in any. The zero History is empty. It is not safe for
// concurrent use.
type History struct {
	runs    map[string]*run
	members map[memberKey]*member
	unread  []eval.Unread
	left    int
}

// run is what a run looked at.
type run struct {
	eval.Sighting
	// looked are the places where somebody looked.
	looked map[place]bool
}

// place is where a finding can be: a story x variant x host, and the finder.
type place struct {
	arm    eval.Trial
	source string
}

type memberKey struct{ kind, tool, action, fingerprint string }

// member is the findings of one fingerprint.
type member struct {
	memberKey
	// first is the oldest sighting with evidence that exists, where there is one
	// (verified), and firstText what it says.
	first     eval.Sighting
	firstText string
	firstKey  string
	verified  bool
	// last is what to show of it.
	last shown
	seen []seen
}

// shown is the sighting whose text is shown: of the newest run, and there the most
// urgent.
type shown struct {
	at               eval.Sighting
	rank             int
	trial            string
	text, suggestion string
}

// seen is a finding in one trial.
type seen struct {
	run        *run
	place      place
	trial      string
	severity   eval.Severity
	count      int
	unverified int
}

// Add takes in a run and its records. A record that cannot be read is told among what
// is unread, and reading goes on.
func (h *History) Add(id string, started time.Time, records iter.Seq2[*eval.Record, error]) error {
	if h.runs[id] != nil {
		return fmt.Errorf("run %s: %w", id, ErrTwice)
	}
	if h.runs == nil {
		h.runs, h.members = map[string]*run{}, map[memberKey]*member{}
	}
	r := &run{Sighting: eval.Sighting{Run: id, At: started.UTC()}, looked: map[place]bool{}}
	h.runs[id] = r
	for rec, err := range records {
		if err != nil {
			h.Unread(id, err)
			continue
		}
		h.add(r, rec)
	}
	return nil
}

// Unread keeps in mind that something of a run could not be read.
func (h *History) Unread(id string, err error) {
	h.unread = append(h.unread, eval.Unread{Run: id, Why: err.Error()})
}

// engineSource is the finder of what the engine saw itself.
const engineSource = "engine"

func (h *History) add(r *run, rec *eval.Record) {
	arm := rec.Arm()
	if rec.Status == eval.StatusPassed || rec.Status == eval.StatusFailed {
		r.looked[place{arm, engineSource}] = true
		for _, s := range rec.Scores {
			if s.State == eval.Scored {
				r.looked[place{arm, s.Scorer}] = true
			}
		}
	}
	for i := range rec.Findings {
		h.find(r, rec, &rec.Findings[i])
	}
}

// find takes in one finding. It was looked for where it was found, whatever the
// trial came to.
func (h *History) find(r *run, rec *eval.Record, f *eval.Finding) {
	at := place{rec.Arm(), cmp.Or(f.Source, engineSource)}
	if !f.Unverified {
		r.looked[at] = true
	}
	key := memberKey{f.Kind, f.Tool, f.Action, f.Fingerprint}
	if !isFingerprint(key.fingerprint) {
		key.fingerprint = Fingerprint(*f)
	}
	m := h.members[key]
	if m == nil {
		if len(h.members) == maxMembers {
			h.left++
			return
		}
		m = &member{memberKey: key}
		h.members[key] = m
	}
	m.age(r, rec.ID, f)
	if v := (shown{r.Sighting, rank(f.Severity), rec.ID, cut(f.Text, maxShown), cut(f.Suggestion, maxShown)}); len(m.seen) == 0 || v.before(m.last) {
		m.last = v
	}
	s := seen{run: r, place: at, trial: rec.ID, severity: f.Severity}
	if f.Unverified {
		s.unverified = 1
	} else {
		s.count = 1
	}
	m.see(s)
}

// before reports whether s goes before t in what is shown.
func (s shown) before(t shown) bool {
	return cmp.Or(
		t.at.At.Compare(s.at.At), cmp.Compare(t.at.Run, s.at.Run), cmp.Compare(s.rank, t.rank),
		cmp.Compare(s.trial, t.trial), cmp.Compare(s.text, t.text), cmp.Compare(s.suggestion, t.suggestion),
	) < 0
}

func cut(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// see adds a sighting to those of its trial, where the last one was of it.
func (m *member) see(s seen) {
	if n := len(m.seen); n > 0 {
		last := &m.seen[n-1]
		if last.run == s.run && last.trial == s.trial && last.place == s.place && (last.count > 0) == (s.count > 0) {
			last.count, last.unverified = last.count+s.count, last.unverified+s.unverified
			if rank(s.severity) < rank(last.severity) {
				last.severity = s.severity
			}
			return
		}
	}
	m.seen = append(m.seen, s)
}

// age keeps the oldest sighting; one that is verified is older than any that is not.
func (m *member) age(r *run, trial string, f *eval.Finding) {
	text := cut(f.Text, maxText)
	key := trial + "\x00" + text
	older := cmp.Or(
		compareBool(m.verified, !f.Unverified), r.At.Compare(m.first.At), cmp.Compare(r.Run, m.first.Run), cmp.Compare(key, m.firstKey),
	) < 0
	if len(m.seen) == 0 || older {
		m.first, m.firstText, m.firstKey, m.verified = r.Sighting, text, key, !f.Unverified
	}
}

// ordered are the runs, oldest first, up to the one named; all for "".
func (h *History) ordered(last string) []*run {
	var list []*run
	for _, r := range h.runs {
		list = append(list, r)
	}
	slices.SortFunc(list, byAge)
	if i := slices.IndexFunc(list, func(r *run) bool { return r.Run == last }); i >= 0 {
		list = list[:i+1]
	}
	return list
}

func byAge(a, b *run) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Run, b.Run))
}

// rank is 0 for the most urgent; what is no severity comes last.
func rank(s eval.Severity) int {
	list := []eval.Severity{eval.SeverityCritical, eval.SeverityMajor, eval.SeverityMinor, eval.SeverityInfo}
	if i := slices.Index(list, s); i >= 0 {
		return i
	}
	return len(list)
}
