// Command evalengine runs evals of agents that use MCP servers. Everything it
// does is in package cli.
package main

import (
	"os"

	"github.com/evalengine/evalengine/engine/cli"
	"github.com/evalengine/evalengine/internal/proc"
)

func main() {
	proc.Keeper()
	os.Exit(cli.Main())
}
