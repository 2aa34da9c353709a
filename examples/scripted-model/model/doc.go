// Package model is a deterministic scripted model server for tests and
// demonstrations: it speaks the Anthropic Messages, OpenAI Responses and OpenAI
// chat completions protocols on a loopback address and answers from a script,
// so that a real agent CLI runs with no key and no network. It is not a model,
// a proxy or a recording: what it says is written beforehand.
//
// Enter at [Parse] for the script language and at [Start] for the server.
package model
