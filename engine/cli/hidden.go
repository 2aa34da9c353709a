package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
	"github.com/evalengine/evalengine/engine/internal/wasm"
)

// workerCommand serves scorer calls on stdin and stdout; the engine starts it.
func (a *app) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use: engine.CommandScorerWorker, Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return wasm.ServeWorker(cmd.Context(), a.in, a.out)
		},
	}
}

// shimCommand speaks MCP over stdio to an agent and forwards to the gateway's
// endpoint; the token comes by environment, since arguments can be seen.
func (a *app) shimCommand() *cobra.Command {
	return &cobra.Command{
		Use: engine.CommandShim + " URL", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, ok := a.environ(eval.ShimTokenEnv)
			if !ok {
				return fmt.Errorf("%s is not set", eval.ShimTokenEnv)
			}
			return gateway.Shim(cmd.Context(), args[0], token, a.in, a.out)
		},
	}
}
