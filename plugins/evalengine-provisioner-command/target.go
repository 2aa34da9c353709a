package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// target is one target with everything that belongs to it.
type target struct {
	id string
	// marks are variables that everything the target starts inherits.
	marks map[string]string
	// work is the working folder; home and tmp lie beside it, so that they are no
	// part of its files.
	work, home, tmp string
	client          *http.Client
	plan            *plan
	ports           map[string]*port
	relays          map[string]*relay // by backend

	// ctx ends with the target.
	ctx    context.Context
	cancel context.CancelFunc
	served map[string]*process // by part
	kept   []*process          // of setup

	mu      sync.Mutex
	ended   bool           // no call may begin
	busy    sync.WaitGroup // calls that have begun
	destroy sync.Mutex
	gone    bool // nothing is left, guarded by destroy
}

// newTarget makes the folders of a target in dir and its plan. The caller must
// call end.
func (c *command) newTarget(ctx context.Context, req eval.ProvisionRequest, cfg *config) (*target, error) {
	t := &target{
		id: rand.Text(), marks: map[string]string{envTarget: rand.Text()},
		client: c.client, ports: map[string]*port{}, relays: map[string]*relay{}, served: map[string]*process{},
	}
	if c.around.mark != "" {
		t.marks[rpc.EnvMark] = c.around.mark
	}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	dir, err := filepath.EvalSymlinks(req.WorkDir)
	if err != nil || !filepath.IsAbs(dir) {
		return t, fmt.Errorf("the target's folder %q: %w", req.WorkDir, errors.Join(err, errAbsolute(dir)))
	}
	t.work, t.home, t.tmp = filepath.Join(dir, "work"), filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, d := range []string{t.work, t.home, t.tmp} {
		if err := errors.Join(removeAll(d), os.MkdirAll(d, 0o700)); err != nil {
			return t, err
		}
	}
	x := &expander{
		fixed: map[string]string{
			"workdir": t.work, "home": t.home, "tmp": t.tmp, "nonce": req.Nonce, "trial": req.Trial.ID(), "token": rand.Text(),
		},
		env: req.Env, used: map[string]bool{},
		port: func(name string) (int, error) { return t.port(c.ports, name) },
		backend: func(name string) (string, error) {
			r, err := t.relay(cfg.Backends, name)
			if err != nil {
				return "", err
			}
			return r.url, nil
		},
	}
	t.plan, err = newPlan(cfg, x, t.environment(c.around, req.Env))
	if err == nil {
		err = t.connect(t.plan.backends)
	}
	if err != nil {
		return t, &eval.Fault{Cause: eval.CauseProvision, Retry: eval.RetryStop, Detail: "config: " + err.Error()}
	}
	return t, nil
}

func errAbsolute(dir string) error {
	if filepath.IsAbs(dir) {
		return nil
	}
	return errors.New("not an absolute path")
}

// removeAll removes a folder, also with folders in it that deny it.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// environment is the environment of everything that the target starts, before the
// config's own.
func (t *target) environment(around surroundings, allowed map[string]string) map[string]string {
	env := map[string]string{"PATH": around.path, "LANG": "C.UTF-8"}
	if env["PATH"] == "" {
		env["PATH"] = "/usr/local/bin:/usr/bin:/bin"
	}
	env = overlay(env, allowed)
	env["HOME"], env["TMPDIR"] = t.home, t.tmp
	return env
}

func (t *target) port(from *ports, name string) (int, error) {
	if p := t.ports[name]; p != nil {
		return p.number, nil
	}
	p, err := from.take()
	if err != nil {
		return 0, err
	}
	t.ports[name] = p
	return p.number, nil
}

// program is a command of the target's own.
func (t *target) program(argv []string, env map[string]string) program {
	return program{argv: argv, dir: t.work, env: overlay(env, t.marks)}
}

// values are the target's values as JSON.
func (t *target) values() (eval.JSON, error) {
	return json.Marshal(overlay(map[string]string{"workdir": t.work}, t.plan.values))
}

// enter begins a call; ok is false where the target is ending.
func (t *target) enter() (leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, false
	}
	t.busy.Add(1)
	return t.busy.Done, true
}

func (t *target) snapshot(ctx context.Context) (eval.JSON, error) {
	leave, ok := t.enter()
	if !ok {
		return nil, noTarget(t.id)
	}
	defer leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	env := t.program(nil, t.plan.env).env
	state, err := t.plan.state.read(ctx, t.work, env, t.client, t.traffic())
	if err == nil {
		return eval.JSON(state), nil
	}
	return nil, t.fault(eval.CauseObserve, "state", fmt.Errorf("%w%s", err, t.dead()))
}

// dead names the processes of the target that have ended though they should run.
func (t *target) dead() string {
	var b strings.Builder
	for _, name := range sortedKeys(t.served) {
		select {
		case <-t.served[name].done:
			fmt.Fprintf(&b, "; the process of server %q has ended: %s%s", name, t.served[name].ended(), t.served[name].said())
		default:
		}
	}
	return b.String()
}

// end ends the calls and the processes of the target, runs cleanup and ends what
// is left. Where cleanup fails, it may be called again.
func (t *target) end(ctx context.Context) error {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.cancel()
	t.busy.Wait()
	t.destroy.Lock()
	defer t.destroy.Unlock()
	if t.gone {
		return nil
	}
	var wg sync.WaitGroup
	for _, p := range t.served {
		wg.Go(p.stop)
	}
	wg.Wait()
	err := t.cleanup(ctx)
	endMarked(envTarget + "=" + t.marks[envTarget])
	for _, p := range t.kept {
		p.endKept()
	}
	t.kept = nil
	for _, p := range t.ports {
		p.release()
	}
	t.ports = nil
	err = errors.Join(err, t.endRelays())
	t.gone = err == nil
	return err
}

// cleanup runs all cleanup commands, also after one that failed.
func (t *target) cleanup(ctx context.Context) error {
	if t.plan == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.plan.cleanupTimeout, fmt.Errorf("not done after %s", t.plan.cleanupTimeout))
	defer cancel()
	var errs []error
	for i, argv := range t.plan.cleanup {
		if _, err := run(ctx, t.program(argv, t.plan.env)); err != nil {
			errs = append(errs, fmt.Errorf("cleanup[%d]: %w", i, err))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return t.fault(eval.CauseProvision, "cleanup", errors.Join(errs...))
}
