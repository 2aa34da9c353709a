// Package rpc holds both halves of every plugin protocol: the servers that offer
// an [eval.Host] or [eval.Provisioner] over gRPC, the clients that are one, and
// what lies between: handshake, versions, conversions, and the start of a plugin
// process ([Start]) with hashicorp/go-plugin.
//
// Every major of a kind's proto package is a [Protocol] in the engine and a
// [Service] in a plugin. Each side may have several; the highest that both have is
// spoken. docs/architecture.md says how a new major is added.
//
// It finds no plugins and decides nothing about them: that is the engine's
// launcher. Plugin authors use package plugins/host or plugins/provisioner, which
// call [ServeHost] and [ServeProvisioner].
package rpc

import (
	"time"

	"github.com/hashicorp/go-plugin"
)

// Kinds of plugins. A binary is called evalengine-KIND-NAME.
const (
	KindHost        = "host"
	KindProvisioner = "provisioner"
	KindModel       = "model"
)

// Limits of the protocols.
const (
	// MaxMessage bounds one gRPC message in either direction.
	MaxMessage = 256 << 20
	// MaxStep bounds one step; a larger one is cut and marked by the plugin's half.
	MaxStep = 128 << 20
	// MaxSnapshot bounds the state of one target.
	MaxSnapshot = 256 << 20
	// snapshotChunk is the size of a snapshot's pieces.
	snapshotChunk = 1 << 20
	// window is how much of a stream may be under way. A fixed one, because gRPC
	// finds its own with pings, and those are half of a small session's packets.
	window = 4 << 20
)

// Bounds in time.
const (
	// CloseTimeout is how long the engine waits for a plugin to end a session
	// after it was told to.
	CloseTimeout = 20 * time.Second
	// describeTimeout is generous: a plugin should answer within a second.
	describeTimeout = 10 * time.Second
	// drainTimeout is how long a plugin that was told to stop takes to end its
	// sessions and targets.
	drainTimeout = 10 * time.Second
)

// Environment of a plugin process, beside go-plugin's own.
const (
	// EnvLifetime is "stdin" where the plugin's stdin is a pipe that ends when the
	// engine does, so that a plugin never outlives a killed engine.
	EnvLifetime = "EVALENGINE_PLUGIN_LIFETIME"
	// EnvMark is a value unique to the plugin process. Whatever the plugin starts
	// for a session should inherit it: the engine ends every process that carries
	// it when the plugin died without doing so.
	EnvMark = "EVALENGINE_PLUGIN_MARK"
)

// Handshake is the cookie by which a plugin knows that an engine started it. It
// never changes: versions are told apart by [Protocols].
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		MagicCookieKey:   "EVALENGINE_PLUGIN",
		MagicCookieValue: "1f0d8c52-6d7b-4e0a-9a3c-evalengine",
	}
}
