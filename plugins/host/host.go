// Package host is for authors of host plugins: programs that drive one agent
// program. Implement [eval.Host], call [Serve] as the last thing of main, and name
// the binary evalengine-host-NAME.
//
// Package agentproc beside it runs an agent's command line; package hosttest
// checks a finished plugin.
package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/internal/proc"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// Serve serves h until the engine is done with it. Stdout belongs to the protocol
// from here on; what is written to stderr is kept as the plugin's log.
//
// The binary is started again as the keeper of each agent that package agentproc
// runs, so nothing may happen in main before Serve.
func Serve(h eval.Host) {
	proc.Keeper()
	rpc.ServeHost(h)
}

// Config reads the session's config into the struct that v points to. The engine
// has checked it against the plugin's schema, so a field that v does not know, or
// cannot hold, is a mistake of the plugin: the error is a [*eval.Fault] that stops
// the host.
func Config(spec eval.SessionSpec, v any) error {
	if len(spec.Config) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(spec.Config))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one JSON value")
		}
	}
	if err != nil {
		return &eval.Fault{
			Cause: eval.CauseHostConfig, Retry: eval.RetryStop, Detail: fmt.Sprintf("config: %v", err),
		}
	}
	return nil
}
