// Command evalengine-provisioner-command makes a target of any MCP server: one
// that is started with a command line and speaks over stdio, one that is started
// and speaks HTTP, or one that runs elsewhere. Each target has a fresh working
// folder, ports and a token of its own, processes in sessions of their own, and
// leaves nothing behind.
//
// It knows no server: what is to be run is the suite's. docs/provisioners.md is
// its reference. A target's way is in target.go; its config in config.go, its
// placeholders in expand.go, what its state is made of in state.go.
package main

import (
	"os"

	"github.com/evalengine/evalengine/plugins/provisioner"
	"github.com/evalengine/evalengine/plugins/rpc"
)

func main() {
	provisioner.Serve(newCommand(surroundings{
		path: os.Getenv("PATH"), mark: os.Getenv(rpc.EnvMark),
	}))
}
