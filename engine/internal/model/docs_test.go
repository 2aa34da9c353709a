package model

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The table of settings in docs/models.md has the attributes of the schemas, all
// of them, in their order, with their types and defaults.
func TestDocumentedSettings(t *testing.T) {
	b, err := os.ReadFile("../../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(b), "<!-- settings")
	if !ok {
		t.Fatal("docs/models.md has no table of settings")
	}
	type row struct{ kind, value string }
	rows, order := map[string]row{}, []string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.HasPrefix(cells[1], " `") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		name := strings.Trim(cells[1], " `")
		rows[name] = row{strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])}
		order = append(order, name)
	}
	seen := map[string]bool{}
	for _, p := range Providers() {
		schema, ok := Schema(p)
		if !ok {
			t.Fatalf("no schema of %s", p)
		}
		var names []string
		for _, a := range schema.Attributes {
			seen[a.Name] = true
			names = append(names, a.Name)
			r, ok := rows[a.Name]
			kind, _, _ := strings.Cut(a.Type, "(")
			if !ok || r.kind != kind {
				t.Errorf("%s: %s is documented as %+v; want type %s", p, a.Name, r, kind)
			}
			value := "`" + strings.Trim(string(a.Default), `"`) + "`"
			if len(a.Default) > 0 && !strings.HasPrefix(r.value, "the vendor's") && r.value != value {
				t.Errorf("%s: default of %s is documented as %s; want %s", p, a.Name, r.value, value)
			}
			if a.Doc == "" {
				t.Errorf("%s: %s has no doc", p, a.Name)
			}
		}
		if !slices.Contains(order, p) && !strings.Contains(string(b), "| `"+p+"` |") {
			t.Errorf("provider %s is not documented", p)
		}
		for _, n := range names {
			if !slices.Contains(order, n) {
				t.Errorf("%s is not in the table", n)
			}
		}
	}
	for _, n := range order {
		if !seen[n] {
			t.Errorf("the table has %s, which no provider has", n)
		}
	}
}
