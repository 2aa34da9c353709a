package agentproc

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/internal/proc"
)

// ErrIsolation is returned by [Start] where the isolation that the command requires
// cannot be had.
var ErrIsolation = proc.ErrBox

// temps are the folders where all programs of the machine leave temporary files.
func temps() []string { return []string{os.TempDir(), "/tmp", "/var/tmp"} }

// box is what the program is kept in.
func (c *Command) box() proc.Box {
	i := c.Isolation
	if i.Policy != eval.IsolationAuto && i.Policy != eval.IsolationRequired {
		return proc.Box{}
	}
	b := proc.Box{Namespaces: true, Hidden: i.Hidden, Writable: i.Writable, Readable: i.Readable, Temps: temps()}
	for _, w := range i.Writable {
		if strings.HasPrefix(c.Env["TMPDIR"], filepath.Clean(w)+"/") {
			b.Temp = filepath.Clean(c.Env["TMPDIR"])
		}
	}
	return b
}

// Tell has a session's turns say what came of its isolation, with a warning where
// that is less than it should be.
type Tell func(eval.Session) eval.Session

// Isolate has c run as the session's Isolation says. The session that runs it is to
// be passed through tell.
func Isolate(c *Command, spec eval.SessionSpec) (tell Tell) {
	c.Isolation, c.told = spec.Isolation, &told{}
	return func(s eval.Session) eval.Session { return &telling{Session: s, told: c.told} }
}

// told is what came of the isolation of a session's latest process.
type told struct {
	mu       sync.Mutex
	isolated eval.Isolated
	why      error
}

func (t *told) set(i eval.Isolated, why error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isolated, t.why = i, why
}

type telling struct {
	eval.Session
	told *told
	once sync.Once
}

func (s *telling) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	r, err := s.Session.Turn(ctx, prompt, emit)
	s.told.mu.Lock()
	defer s.told.mu.Unlock()
	r.Isolated = s.told.isolated
	if why := s.told.why; why != nil {
		s.once.Do(func() { emit(eval.Event{Warning: "the agent was not isolated: " + why.Error()}) })
	}
	return r, err
}

// allow is what mostly stands in the way.
const allow = "sysctl -w user.max_user_namespaces=15000 kernel.apparmor_restrict_unprivileged_userns=0"

// Isolates tells whether this machine lets an agent be isolated, by trying it. A
// driver that passes a session's Isolation on to its commands has the need in its
// description, and the capability [eval.CapIsolation] where ok is true.
func Isolates() (n eval.Need, ok bool) {
	boxed, err := proc.Try()
	n = eval.Need{Name: "isolation"}
	switch {
	case err != nil:
		n.Path, n.Install = err.Error(), allow
	case boxed.OwnProc:
		n.Version = string(eval.IsolatedFully)
	default:
		n.Version, n.Path = string(eval.IsolatedFiles), "this machine allows no other /proc"
	}
	return n, err == nil
}
