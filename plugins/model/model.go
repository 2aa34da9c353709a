// Package model is for authors of model plugins: programs that ask the models of a
// provider which the engine does not know. Implement [eval.ModelProvider], call
// [Serve] as the last thing of main, and name the binary evalengine-model-NAME: a
// suite's model block says provider = "NAME".
//
// Complete makes one request and tells what became of it. Retries, limits,
// budgets, stored answers and the record are the engine's, so an error should be a
// [*eval.Fault] whose cause says what happened: [eval.CauseTooLarge] for a prompt
// that is too long, [eval.CauseRateLimit] with RetryAfter, [eval.CauseAuth] and so
// on; Retry is [eval.RetryTrial] where asking again may do better.
//
// Package modeltest beside it checks a finished plugin.
package model

import (
	"encoding/json"
	"fmt"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// CapabilitySchema in a description says that Complete holds answers to the
// request's schema. Without it the engine says the schema in words.
const CapabilitySchema = "schema"

// Serve serves m until the engine is done with it. Stdout belongs to the protocol
// from here on; what is written to stderr is kept as the plugin's log.
func Serve(m eval.ModelProvider) { rpc.ServeModel(m) }

// Config reads the call's config into the struct that v points to. The engine has
// checked it against the plugin's schema, and reads of it what it does itself, such
// as timeout; the struct needs to have only what the plugin wants. The error is a
// [*eval.Fault].
func Config(call eval.ModelCall, v any) error {
	if len(call.Config) == 0 {
		return nil
	}
	if err := json.Unmarshal(call.Config, v); err != nil {
		return &eval.Fault{Cause: eval.CauseSuite, Retry: eval.RetryStop, Detail: fmt.Sprintf("config: %v", err)}
	}
	return nil
}
