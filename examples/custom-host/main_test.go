package main

import (
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/hosttest"
)

func TestConformance(t *testing.T) {
	hosttest.Kit{
		Host: shell{},
		Spec: func(_ testing.TB, s *eval.SessionSpec) { s.Config = eval.JSON(`{"program":"sh"}`) },
		Turns: []hosttest.Turn{
			{Prompt: "echo text >note; echo written", Answer: "written"},
			{Prompt: "cat note", Answer: "text"},
		},
		Long: "echo up; sleep 1000",
		BrokenSpec: func(_ testing.TB, s *eval.SessionSpec) {
			s.Config = eval.JSON(`{"program":"no-such-shell"}`)
		},
		Sessions: 10,
	}.Run(t)
}
