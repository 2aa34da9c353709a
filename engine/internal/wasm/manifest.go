package wasm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/wire"
)

const maxManifest = 4 << 20

// decodeManifest reads a manifest and holds it to what a suite can rely on.
func decodeManifest(b []byte) (*eval.Manifest, error) {
	if len(b) > maxManifest {
		return nil, fmt.Errorf("%d bytes, at most %d are allowed", len(b), maxManifest)
	}
	m, err := wire.DecodeManifest(append([]byte(nil), b...))
	if err != nil {
		return nil, err
	}
	switch {
	case !isName(m.Module):
		return nil, fmt.Errorf("module name %q is not in snake_case", cut(m.Module))
	case m.Version == "":
		return nil, errors.New("no version")
	case len(m.Scorers) == 0:
		return nil, errors.New("no scorers")
	}
	seen := map[string]bool{}
	for i := range m.Scorers {
		s := &m.Scorers[i]
		if !isName(s.Name) || seen[s.Name] {
			return nil, fmt.Errorf("scorer name %q is not in snake_case, or there twice", cut(s.Name))
		}
		seen[s.Name] = true
		if err := checkSpec(s); err != nil {
			return nil, fmt.Errorf("scorer %q: %w", s.Name, err)
		}
	}
	return m, nil
}

func checkSpec(s *eval.ScorerSpec) error {
	gates := s.Dimension == eval.DimensionOutcome || s.Dimension == eval.DimensionConstraint
	switch {
	case s.Role != eval.RoleAssert && s.Role != eval.RoleMeasure && s.Role != eval.RoleJudge:
		return fmt.Errorf("unknown role %q", cut(string(s.Role)))
	case !gates && s.Dimension != eval.DimensionPath && s.Dimension != eval.DimensionQuality:
		return fmt.Errorf("unknown dimension %q", cut(string(s.Dimension)))
	case s.Role == eval.RoleAssert && !gates:
		return fmt.Errorf("an assert of dimension %s; path and quality never fail a trial", s.Dimension)
	}
	for _, p := range s.Needs {
		if !wire.KnownPart(p) {
			return fmt.Errorf("it needs %q, which this engine does not have", cut(string(p)))
		}
	}
	seen := map[string]bool{}
	for _, a := range s.Params.Attributes {
		if !isName(a.Name) || seen[a.Name] || strings.TrimSpace(a.Type) == "" {
			return fmt.Errorf("parameter %q is not in snake_case, there twice, or without a type", cut(a.Name))
		}
		seen[a.Name] = true
	}
	return nil
}

func isName(s string) bool {
	for i, c := range s {
		switch {
		case c >= 'a' && c <= 'z':
		case i > 0 && (c == '_' || c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return s != "" && len(s) <= 64
}
