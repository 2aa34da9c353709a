package main

import (
	"testing"

	"github.com/evalengine/evalengine/scorers/internal/docstest"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

func TestDocs(t *testing.T) { docstest.Check(t, scorertest.Manifest(t)) }
