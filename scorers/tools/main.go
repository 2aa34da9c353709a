// Command tools is the scorer module of asserts on tool calls: which tools the
// agent called, with what arguments, in what order, and whether it kept to the
// rules. It is built for WebAssembly and does nothing as a program.
package main

import "github.com/evalengine/evalengine/scorers/scorer"

func init() {
	scorer.Module("tools", "1.0.0", "Asserts on the tool calls of a trial.")
	registerCalled()
	registerOrder()
	registerArguments()
	registerResult()
	registerRules()
	registerExpected()
}

func main() {}
