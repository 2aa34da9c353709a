// Package provisioner is for authors of provisioner plugins: programs that make,
// observe and destroy targets. Implement [eval.Provisioner], call [Serve] as the
// last thing of main, and name the binary evalengine-provisioner-NAME.
//
// Package provisionertest beside it checks a finished plugin.
package provisioner

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

// Serve serves p until the engine is done with it; targets that are left then are
// destroyed. Stdout belongs to the protocol from here on; what is written to
// stderr is kept as the plugin's log.
//
// The binary may be started again as the keeper of what a target runs, so nothing
// may happen in main before Serve.
func Serve(p eval.Provisioner) {
	proc.Keeper()
	rpc.ServeProvisioner(p)
}

// Config reads the request's config into the struct that v points to. The engine
// has checked it against the plugin's schema, so a field that v does not know, or
// cannot hold, is a mistake of the plugin: the error is a [*eval.Fault].
func Config(req eval.ProvisionRequest, v any) error {
	if len(req.Config) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(req.Config))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one JSON value")
		}
	}
	if err != nil {
		return &eval.Fault{
			Cause: eval.CauseProvision, Retry: eval.RetryStop, Detail: fmt.Sprintf("config: %v", err),
		}
	}
	return nil
}
