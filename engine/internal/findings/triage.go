package findings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// TriageFile is the usual name of the file of decisions.
const TriageFile = "evalengine.findings.jsonl"

// Bounds of the file of decisions.
const (
	maxTriageSize = 16 << 20
	maxNote       = 2 << 10
)

// ErrTriage is returned for a file of decisions that cannot be read: the error names
// the line.
var ErrTriage = errors.New("triage file")

// Triage is what people decided about findings: one JSON object a line, sorted by
// finding, so that the changes of two people merge line by line. It is not safe for
// concurrent use.
type Triage struct {
	list []eval.Triage
	by   map[string]eval.Triage
}

// ReadTriage reads the file of decisions. One that is not there holds none.
func ReadTriage(path string) (*Triage, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Triage{}, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > maxTriageSize {
		return nil, fmt.Errorf("%w %s: it is larger than %d MiB", ErrTriage, path, maxTriageSize>>20)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := parseTriage(b)
	if err != nil {
		return nil, fmt.Errorf("%w %s:%w", ErrTriage, path, err)
	}
	return t, nil
}

// parseTriage reads decisions; an error begins with the number of its line.
func parseTriage(b []byte) (*Triage, error) {
	t := &Triage{}
	n := 0
	for line := range bytes.Lines(bytes.TrimPrefix(b, []byte("\ufeff"))) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		d, err := parseDecision(line)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		t.list = append(t.list, d)
	}
	t.sort()
	return t, nil
}

func parseDecision(line []byte) (eval.Triage, error) {
	var d eval.Triage
	for _, mark := range []string{"<<<<<<<", "=======", ">>>>>>>", "|||||||"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return d, errors.New("a merge was not finished: keep the lines of both sides and delete the marks")
		}
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return d, fmt.Errorf("it is no decision: %w", err)
	}
	if dec.More() {
		return d, errors.New("there is more than one decision in the line: write one a line")
	}
	return d, valid(&d)
}

// isFingerprint says how fingerprints look.
func isFingerprint(s string) bool {
	return len(s) == 12 && strings.Trim(s, "0123456789abcdef") == ""
}

func valid(d *eval.Triage) error {
	states := []eval.TriageState{eval.TriageAcknowledged, eval.TriageFixed, eval.TriageOpen}
	switch {
	case d.Schema != schemaVersion:
		return fmt.Errorf("schema %d is not known; this version reads %d", d.Schema, schemaVersion)
	case !isFingerprint(d.Finding):
		return fmt.Errorf("finding %q is no fingerprint: it has 12 of 0-9 and a-f", cut(d.Finding, 40))
	case !slices.Contains(states, d.State):
		return fmt.Errorf("state %q is none of acknowledged, fixed and open", cut(string(d.State), 40))
	case d.At.IsZero():
		return errors.New(`"at" is missing: of two decisions the later one counts`)
	}
	return nil
}

// sort brings decisions into the order of the file and finds the one that counts for
// each finding: the last by time.
func (t *Triage) sort() {
	slices.SortStableFunc(t.list, func(a, b eval.Triage) int {
		return cmp.Or(cmp.Compare(a.Finding, b.Finding), a.At.Compare(b.At), cmp.Compare(a.State, b.State), cmp.Compare(a.By, b.By), cmp.Compare(a.Note, b.Note))
	})
	t.by = map[string]eval.Triage{}
	for _, d := range t.list {
		t.by[d.Finding] = d
	}
}

// of is the last decision about one of the group's fingerprints; nil where there is
// none, or it was taken back.
func (t *Triage) of(g *group) *eval.Triage {
	if t == nil {
		return nil
	}
	var last *eval.Triage
	for _, m := range g.members {
		d, ok := t.by[m.fingerprint]
		if ok && (last == nil || cmp.Or(d.At.Compare(last.At), cmp.Compare(d.Finding, last.Finding)) > 0) {
			last = &d
		}
	}
	if last == nil || last.State == eval.TriageOpen {
		return nil
	}
	return last
}

// Decide puts a decision about a group in the place of earlier ones about it. One that
// is no later than they are, by a clock that was set back, is dated after them.
func (t *Triage) Decide(g *eval.FindingGroup, d eval.Triage) error {
	d.Schema, d.Finding, d.Note, d.At = schemaVersion, g.ID, cut(d.Note, maxNote), d.At.UTC().Truncate(time.Millisecond)
	d.About = cut(strings.TrimSpace(g.Kind+" "+strings.TrimSpace(g.Tool+" "+g.Action)), 200)
	t.list = slices.DeleteFunc(t.list, func(old eval.Triage) bool {
		earlier := slices.Contains(g.Fingerprints, old.Finding) || old.Finding == g.ID
		if earlier && !d.At.After(old.At) {
			d.At = old.At.Add(time.Millisecond)
		}
		return earlier
	})
	if err := valid(&d); err != nil {
		return err
	}
	t.list = append(t.list, d)
	t.sort()
	return nil
}

// Write writes the file, whole or not at all.
func (t *Triage) Write(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".evalengine-findings-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(t.bytes())
	err = cmp.Or(err, tmp.Chmod(mode), tmp.Sync())
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func (t *Triage) bytes() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, d := range t.list {
		enc.Encode(d)
	}
	return b.Bytes()
}
