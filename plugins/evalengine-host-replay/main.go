// Command evalengine-host-replay is a host without a model: it makes the tool calls
// of a stored trial again, against a fresh target, and answers what was answered
// then.
//
// REPLAY.md beside this file says what is made again and how values are carried
// over; stored.go reads the trial, session.go plays it, mapping.go maps values.
package main

import "github.com/evalengine/evalengine/plugins/host"

func main() { host.Serve(replay{}) }
