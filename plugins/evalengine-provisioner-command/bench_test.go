package main

import (
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// BenchmarkTarget is a target of a server over stdio: made, looked at, destroyed.
func BenchmarkTarget(b *testing.B) {
	c := newTestCommand()
	req := eval.ProvisionRequest{WorkDir: b.TempDir(), Nonce: "nonce", Config: eval.JSON(`{"name":"t","command":["true"],"files":{"a":"b"},"values":{"p":"{port}"}}`)}
	for b.Loop() {
		target, err := c.Provision(b.Context(), req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Snapshot(b.Context(), target.ID); err != nil {
			b.Fatal(err)
		}
		if err := c.Destroy(b.Context(), target.ID); err != nil {
			b.Fatal(err)
		}
	}
}
