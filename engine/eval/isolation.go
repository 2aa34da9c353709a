package eval

// IsolationPolicy says whether an agent is to be kept from what is not its own. The
// zero IsolationPolicy is IsolationOff.
type IsolationPolicy string

// Isolation policies.
const (
	// IsolationAuto: where the machine and the host's driver can, and else not.
	IsolationAuto IsolationPolicy = "auto"
	// IsolationRequired: a trial without it is not run.
	IsolationRequired IsolationPolicy = "require"
	// IsolationOff: the agent reaches what any program of the user does.
	IsolationOff IsolationPolicy = "none"
)

// Isolation says what an agent may reach of the machine. Everything else can be
// read, and not written to.
type Isolation struct {
	Policy IsolationPolicy
	// Hidden are files and folders that look empty to the agent.
	Hidden []string
	// Writable are the trial's own folders.
	Writable []string
	// Readable stay readable although they lie in a hidden folder.
	Readable []string
}

// Isolated says how far an agent was kept from what is not its own; empty where
// there was no agent program.
type Isolated string

// What an agent was kept from.
const (
	// IsolatedFully: from files and processes.
	IsolatedFully Isolated = "full"
	// IsolatedFiles: from files, and from all of other processes but their
	// existence and command lines: the machine allows no other /proc.
	IsolatedFiles Isolated = "files"
	// NotIsolated: from nothing.
	NotIsolated Isolated = "none"
)
