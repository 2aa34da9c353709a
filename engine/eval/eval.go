// Package eval holds the nouns of evalengine and the interfaces between its
// parts: what a suite says ([Suite], [Story]), what one trial is ([Trial]) and
// leaves behind ([Record], [Step], [Score], [Finding]), and what a plugin is to
// the engine ([Host], [Session], [Provisioner]).
//
// It imports nothing but small packages of the standard library, so that a
// scorer compiled to WebAssembly, a plugin and the engine can all share it. It
// runs nothing: start at [Suite] for what is to be run, at [Record] for what was.
//
// Every struct that is written to disk has snake_case JSON names; the JSON
// Schemas made from proto/evalengine/record/v1 describe the same fields.
package eval
