// Command evalengine-host-scripted is a host without a model: a deterministic MCP
// client that performs written tool calls, with values taken from earlier results.
// It is for demonstrations, golds and tests.
//
// SCRIPT.md beside this file is the reference of a script; script.go reads it,
// session.go plays it.
package main

import (
	"runtime"

	"github.com/evalengine/evalengine/plugins/host"
)

func main() {
	// Sessions mostly wait: threads would only wake each other.
	runtime.GOMAXPROCS(1)
	host.Serve(&scripted{})
}
