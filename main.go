// Command evalengine runs evals of agents that use MCP servers. Everything it
// does is in package cli.
package main

import (
	"os"

	"github.com/evalengine/evalengine/engine/cli"
)

func main() { os.Exit(cli.Main()) }
