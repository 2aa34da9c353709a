package findings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/evalengine/evalengine/engine/eval"
)

// ErrNoFinding is returned when no finding, or more than one, has an ID.
var ErrNoFinding = errors.New("no such finding")

// Find returns the finding of an ID, a start of it that only one finding has, or any
// of its fingerprints.
func Find(list []eval.FindingGroup, id string) (*eval.FindingGroup, error) {
	var fits []*eval.FindingGroup
	for i := range list {
		g := &list[i]
		if g.ID == id || slices.Contains(g.Fingerprints, id) {
			return g, nil
		}
		if id != "" && strings.HasPrefix(g.ID, id) {
			fits = append(fits, g)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return nil, fmt.Errorf("%w: %q%s", ErrNoFinding, cut(id, 40), meant(list, id))
	}
	return nil, fmt.Errorf("%w: %q is the start of %d IDs, of %s and %s among them", ErrNoFinding, id, len(fits), fits[0].ID, fits[1].ID)
}

// meant says which ID was likely meant, or where IDs are.
func meant(list []eval.FindingGroup, id string) string {
	const slips = 3
	best, least := "", slips+1
	for _, g := range list {
		if d := levenshtein.Distance(strings.ToLower(cut(id, 40)), g.ID, nil); d < least {
			best, least = g.ID, d
		}
	}
	if best == "" {
		return "; evalengine findings lists them"
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
