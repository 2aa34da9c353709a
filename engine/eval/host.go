package eval

import (
	"context"
	"time"
)

// Host drives one agent program. A host plugin implements it; the engine calls
// it over gRPC. Methods are safe for concurrent use.
type Host interface {
	// Describe says what the host is and what its config block takes. It must
	// answer within a second and touch no network.
	Describe(ctx context.Context) (Description, error)
	// Start prepares one trial's session. The session must not outlive ctx: when
	// ctx ends, everything it started ends. Errors that are a [*Fault] say what
	// may be done; any other is taken for a fault of the host.
	Start(ctx context.Context, spec SessionSpec) (Session, error)
}

// Session is one trial's conversation with an agent. Its methods are called one
// at a time.
type Session interface {
	// Turn gives the agent one prompt and returns when the agent has ended its
	// turn. It emits events as they happen; emit is safe for concurrent use and
	// must not be called after Turn returns. An infrastructure fault is returned
	// as a [*Fault]; an agent's own failure is a TurnResult.
	Turn(ctx context.Context, prompt string, emit func(Event)) (TurnResult, error)
	// Close ends the agent and everything it started.
	Close() error
}

// SessionSpec is everything that a session gets. Nothing else of the engine's
// surroundings may reach the agent.
type SessionSpec struct {
	Trial Trial
	// Config is the host block's config, checked against the Description's
	// schema, defaults filled in.
	Config JSON
	// Home and WorkDir are fresh, empty, absolute folders of this trial, removed
	// by the engine; empty for a host with CapNoFolders.
	Home, WorkDir string
	// RawDir is where the agent's raw output is kept; it becomes host/ of the
	// record. The host creates it when it has something to keep.
	RawDir string
	// Env is the whole environment the agent may see beside what the host sets.
	Env map[string]string
	// Servers are the MCP endpoints of the trial's gateway.
	Servers []Endpoint
	// Model is the model proxy's endpoint; nil where the host goes its own way.
	Model *ModelEndpoint
	// Turns is how many prompts will come, 0 where unknown.
	Turns int
	// Isolation says what the agent may reach beside.
	Isolation Isolation
}

// Endpoint is one MCP server as the agent reaches it: the gateway's loopback
// address.
type Endpoint struct {
	Name  string `json:"name"`
	URL   string `json:"url"`
	Token string `json:"token"`
	// Shim is a command that speaks MCP over stdio for hosts that cannot do HTTP.
	// Its environment must have the token as [ShimTokenEnv].
	Shim []string `json:"shim,omitempty"`
}

// ShimTokenEnv is the variable by which an endpoint's token reaches its shim: the
// command line can be seen by every process.
const ShimTokenEnv = "EVALENGINE_MCP_TOKEN"

// ModelEndpoint is where the agent's model requests go.
type ModelEndpoint struct {
	BaseURL string
	// Key is a stand-in without worth outside the proxy.
	Key string
}

// Event is something that happened in a turn: one field is set.
type Event struct {
	// Step is part of the transcript; the engine gives it ID, Turn and AtMS.
	Step *Step
	// Progress is a line for people who watch, not recorded.
	Progress string
	// Warning is kept with the trial, as a finding of the engine's.
	Warning string
}

// TurnResult is how a turn ended.
type TurnResult struct {
	Outcome Outcome
	// Answer is the agent's final message of the turn.
	Answer string
	// Detail says more of an outcome that is not completed.
	Detail string
	// Usage is of this turn alone.
	Usage Usage
	// AgentVersion is the agent program's own version, where it says one.
	AgentVersion string
	// Retries is how often the agent program asked its model again by itself.
	Retries int
	// Isolated says what the session's [Isolation] came to.
	Isolated Isolated
}

// Provisioner makes, observes and destroys targets. Methods are safe for
// concurrent use.
type Provisioner interface {
	Describe(ctx context.Context) (Description, error)
	// Provision returns when the target is ready and proven to be its own: not a
	// neighbour's.
	Provision(ctx context.Context, req ProvisionRequest) (Target, error)
	// Snapshot looks up the target's state as one JSON value, without going
	// through anything that the agent could have bent.
	Snapshot(ctx context.Context, targetID string) (JSON, error)
	// Destroy removes the target and everything that belongs to it. Destroying an
	// unknown target is no error.
	Destroy(ctx context.Context, targetID string) error
}

// ProvisionRequest asks for one fresh target.
type ProvisionRequest struct {
	Trial  Trial
	Config JSON
	// WorkDir is a fresh, empty, absolute folder of this target, removed by the
	// engine after Destroy.
	WorkDir string
	// Env is the environment allow-list's values.
	Env map[string]string
	// Nonce is unguessable and unique to the trial.
	Nonce string
}

// Target is a throw-away thing the agent works on.
type Target struct {
	ID string
	// Values are what the suite can refer to as target.NAME, as a JSON object.
	Values  JSON
	Servers []Server
	// Secrets are values that must never reach a record or a log.
	Secrets []string
}

// Server is one MCP server of a target: either Command or URL is set.
type Server struct {
	Name string `json:"name"`
	// Command, Args, Env and Dir start a server that speaks over stdio. Env is
	// its whole environment.
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"dir,omitempty"`
	// URL and Headers reach a server that speaks streamable HTTP.
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// StartTimeout bounds the server's start; 0 is the engine's default.
	StartTimeout time.Duration `json:"start_timeout_ns,omitempty"`
}
