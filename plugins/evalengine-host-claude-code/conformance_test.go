package main

import (
	"os"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/hosttest"
)

func TestConformance(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mode := func(name string) func(testing.TB, *eval.SessionSpec) {
		return func(_ testing.TB, s *eval.SessionSpec) {
			s.Config = eval.JSON(mustJSON(map[string]any{"command": []string{self}}))
			s.Env = map[string]string{envFake: name}
			s.Servers = []eval.Endpoint{{Name: "cms", URL: "http://127.0.0.1:1/mcp", Token: "token-of-the-gateway"}}
		}
	}
	hosttest.Kit{
		Host: &driver{}, Sessions: 20,
		Spec:     mode("answers"),
		Turns:    []hosttest.Turn{{Prompt: "one", Answer: "answer 1"}, {Prompt: "two", Answer: "answer 2"}},
		Long:     "go",
		LongSpec: mode("hangs"), BrokenSpec: mode("no server"),
	}.Run(t)
}
