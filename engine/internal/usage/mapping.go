package usage

import (
	"fmt"
	"strings"
)

// Mapping names the column of each field. Session and Tool are needed; an empty name
// is a field that the file does not have. Without a time, the calls of a session are
// taken in the order of the file.
type Mapping struct {
	Session, Time, Tool, Action, OK, Latency string
	// given are the fields that somebody named: their columns must be there.
	given map[string]bool
}

// DefaultMapping is that of columns that are named as the fields are.
func DefaultMapping() Mapping {
	return Mapping{Session: "session", Time: "time", Tool: "tool", Action: "action", OK: "ok", Latency: "latency"}
}

// ParseMapping reads field=column pairs; fields that are not named keep their
// column.
func ParseMapping(pairs []string) (*Mapping, error) {
	m := DefaultMapping()
	m.given = map[string]bool{}
	for _, p := range pairs {
		field, column, ok := strings.Cut(p, "=")
		to := m.field(field)
		switch {
		case !ok || to == nil:
			return nil, fmt.Errorf("mapping %q: write FIELD=COLUMN, FIELD being session, time, tool, action, ok or latency", p)
		case m.given[field]:
			return nil, fmt.Errorf("mapping %q: %s is mapped twice", p, field)
		case column == "" && (field == "session" || field == "tool"):
			return nil, fmt.Errorf("mapping %q: a column for %s is needed", p, field)
		}
		*to, m.given[field] = column, true
	}
	columns := map[string]string{}
	for i, c := range m.columns() {
		if other, twice := columns[c]; twice && c != "" {
			return nil, fmt.Errorf("mapping: %s and %s are both the column %q; say %s= for none", other, fieldNames[i], c, fieldNames[i])
		}
		columns[c] = fieldNames[i]
	}
	return &m, nil
}

func (m *Mapping) field(name string) *string {
	switch name {
	case "session":
		return &m.Session
	case "time":
		return &m.Time
	case "tool":
		return &m.Tool
	case "action":
		return &m.Action
	case "ok":
		return &m.OK
	case "latency":
		return &m.Latency
	}
	return nil
}

// columns are the columns in the order of [fields].
func (m *Mapping) columns() [fieldCount]string {
	return [fieldCount]string{session: m.Session, at: m.Time, tool: m.Tool, action: m.Action, outcome: m.OK, latency: m.Latency}
}

// needed reports whether a file must have the column of a field.
func (m *Mapping) needed(i int) bool {
	return i == session || i == tool || i == at && m.Time != "" || m.given[fieldNames[i]] && m.columns()[i] != ""
}
