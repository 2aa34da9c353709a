// Package conform holds what the conformance kits of the plugin kinds share: the
// checks of a description and the plugin under test. It knows no kind's own rules.
package conform

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/internal/proc"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// Bound is how long the kits wait for what must come to an end.
const Bound = 2 * time.Minute

// describeBound is more than a plugin may take, for busy machines.
const describeBound = 10 * time.Second

// Start starts a built plugin as the engine does and ends it with the test.
func Start(t *testing.T, kind, name, binary string, env []string) *rpc.Process {
	t.Helper()
	path, err := filepath.Abs(binary)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rpc.Start(t.Context(), rpc.Command{
		Kind: kind, Name: name, Path: path, Env: env, Log: logWriter{t.Output()}, StartTimeout: Bound,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// logWriter shields the test's output from writes after its end.
type logWriter struct{ w io.Writer }

func (l logWriter) Write(b []byte) (int, error) {
	_, _ = l.w.Write(b)
	return len(b), nil
}

// Children returns what lists the processes that the plugin under test has
// started: those of p, or for an implementation in this process those that carry
// the mark of its SDK.
func Children(t *testing.T, p *rpc.Process) func() []int {
	t.Helper()
	if p != nil {
		return p.Children
	}
	mark := rand.Text()
	t.Setenv(rpc.EnvMark, mark)
	return func() []int { return proc.Members(0, rpc.EnvMark+"="+mark) }
}

var (
	snake = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	name  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
)

// Description checks what a plugin says of itself.
func Description(t *testing.T, describe func(context.Context) (eval.Description, error)) eval.Description {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), describeBound)
	defer cancel()
	d, err := describe(ctx)
	if err != nil {
		t.Fatalf("Describe: %v", err)
	}
	again, err := describe(ctx)
	if err != nil || !reflect.DeepEqual(stable(d), stable(again)) {
		t.Errorf("Describe gave %+v, then %+v, %v; want the same twice", d, again, err)
	}
	for _, p := range Problems(d) {
		t.Errorf("Describe: %s", p)
	}
	return d
}

// stable leaves out what may change: what is installed.
func stable(d eval.Description) eval.Description { d.Needs = nil; return d }

// Problems lists what is wrong with a description. Types are not parsed: that
// they are HCL type expressions is checked by the engine.
func Problems(d eval.Description) []string {
	var list []string
	add := func(bad bool, text string) {
		if bad {
			list = append(list, text)
		}
	}
	add(!name.MatchString(d.Name), "name "+quote(d.Name)+" is not of the form a-b-c")
	add(d.Version == "", "no version")
	seen := map[string]bool{}
	for _, c := range d.Capabilities {
		add(!snake.MatchString(c), "capability "+quote(c)+" is not snake_case")
		add(seen[c], "capability "+quote(c)+" is there twice")
		seen[c] = true
	}
	seen = map[string]bool{}
	for _, a := range d.Schema.Attributes {
		at := "attribute " + quote(a.Name)
		add(!snake.MatchString(a.Name), at+" is not snake_case")
		add(seen[a.Name], at+" is there twice")
		seen[a.Name] = true
		add(a.Type == "", at+" has no type")
		add(len(a.Default) > 0 && !json.Valid(a.Default), at+" has a default that is not JSON")
		add(len(a.Default) > 0 && a.Required, at+" is required and has a default")
		add(len(a.Enum) > 0 && a.Type != "string", at+" has an enum and is no string")
		add(a.Format != "" && !strings.Contains(a.Type, "string"), at+" has a format and holds no string")
		add(!inEnum(a), at+" has a default that is not in its enum")
	}
	if m := d.Model; m != nil {
		switch m.API {
		case "anthropic-messages", "openai-responses", "openai-chat":
		default:
			add(true, "model API "+quote(m.API)+" is unknown")
		}
	}
	return list
}

func inEnum(a eval.Attribute) bool {
	if len(a.Enum) == 0 || len(a.Default) == 0 {
		return true
	}
	for _, e := range a.Enum {
		if b, err := json.Marshal(e); err == nil && string(b) == string(a.Default) {
			return true
		}
	}
	return false
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(b)
}

// Fault checks that err is a fault that says what may be done.
func Fault(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s gave no error; want a fault", what)
		return
	}
	f := eval.AsFault(err)
	if f.Cause == "" || f.Detail == "" {
		t.Errorf("%s: fault %+v has no cause or detail", what, f)
	}
	switch f.Retry {
	case eval.RetryTrial, eval.RetryNever, eval.RetryStop:
	default:
		t.Errorf("%s: fault %+v does not say what may be done", what, f)
	}
}

// NothingLeft checks that no process is left. The end of a process is its kernel's
// matter once it was killed, so it is waited for.
func NothingLeft(t *testing.T, children func() []int) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		left := children()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("processes left: %v", left)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
