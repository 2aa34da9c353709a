package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/internal/proc"
)

// build seeds the working folder, runs setup and starts the servers, each ready
// before the next one.
func (t *target) build(ctx context.Context) error {
	if err := t.seed(); err != nil {
		return err
	}
	if err := t.setup(ctx); err != nil {
		return err
	}
	for _, p := range t.plan.parts {
		if err := t.open(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (t *target) seed() error {
	root, err := os.OpenRoot(t.work)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range sortedKeys(t.plan.files) {
		if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("files: %w", err)
		}
		if err := root.WriteFile(path, []byte(t.plan.files[path]), 0o644); err != nil {
			return fmt.Errorf("files: %w", err)
		}
	}
	return nil
}

func (t *target) setup(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, t.plan.setupTimeout, fmt.Errorf("not done after %s", t.plan.setupTimeout))
	defer cancel()
	for i, argv := range t.plan.setup {
		p := t.program(argv, t.plan.env)
		p.keep = true
		r, err := run(ctx, p)
		if err != nil {
			return t.fault(eval.CauseProvision, fmt.Sprintf("setup[%d]", i), err)
		}
		t.kept = append(t.kept, r)
	}
	return nil
}

// open starts one server's process and waits until server and process are ready.
func (t *target) open(ctx context.Context, p part) error {
	at := fmt.Sprintf("server %q", p.name)
	if len(p.command) > 0 {
		if _, err := look(p.command[0], t.work, p.env["PATH"]); err != nil {
			return t.fault(eval.CauseProvision, at, err)
		}
	}
	var served *process
	if len(p.serve) > 0 {
		var err error
		if served, err = start(t.program(p.serve, p.env)); err != nil {
			return t.fault(eval.CauseProvision, at+": serve", err)
		}
		t.served[p.name] = served
	}
	err := await(ctx, served, p.timeout, func(ctx context.Context) error { return t.check(ctx, p, served) })
	if err == nil {
		return nil
	}
	if served == nil {
		return t.fault(eval.CauseNotReady, at, err)
	}
	if errors.Is(err, errEnded) {
		err = fmt.Errorf("%w: %s%s", err, served.ended(), served.said())
		if inUse.MatchString(served.tail.String()) {
			err = &portTaken{err}
		}
		return t.fault(eval.CauseNotReady, at, err)
	}
	return t.fault(eval.CauseNotReady, at, fmt.Errorf("%w%s", err, served.said()))
}

// inUse is how programs say that somebody else listens on their port.
var inUse = regexp.MustCompile(`(?i)EADDRINUSE|(address|port)\b[^\n]{0,60}\b(in use|already allocated|taken|already used)\b`)

// portTaken is the error of a process that found its port in use.
type portTaken struct{ error }

func (p *portTaken) Unwrap() error { return p.error }

// check asks once whether a server is ready, and whether what answers is the
// target's own.
func (t *target) check(ctx context.Context, p part, served *process) error {
	// Before anything is asked of it: another trial's server must not notice.
	for _, address := range []string{p.ready.url, p.url} {
		if err := t.owns(served, address, p.ready.proves()); err != nil {
			return err
		}
	}
	if p.ready.url != "" {
		if err := p.ready.check(ctx, t.client); err != nil {
			return err
		}
	}
	switch {
	case p.probe && p.url != "":
		return probeURL(ctx, t.client, p.url, p.headers)
	case p.probe && len(p.command) > 0:
		return probeCommand(ctx, t.program(p.command, p.env))
	}
	return nil
}

// owns makes sure that what answers on a port of this machine is the process that
// was started for the target, where that is not proven by the nonce or by a port
// that nobody else has.
func (t *target) owns(served *process, address string, proven bool) error {
	n := loopback(address)
	if served == nil || proven || n == 0 {
		return nil
	}
	for _, p := range t.ports {
		if p.number == n {
			return nil
		}
	}
	pid := served.kept.Pid()
	mine := append(proc.Members(pid, envProcess+"="+served.mark), pid)
	mine = slices.AppendSeq(mine, maps.Keys(proc.KinOf(pid)))
	found, own := listener(mine, n)
	switch {
	case own:
		return nil
	case !found:
		return fmt.Errorf("nothing listens at %s", address)
	}
	return fmt.Errorf("another process than this target's answers at %s: use {port} for the port", address)
}

// fault is err as a fault that holds no secret.
func (t *target) fault(cause, what string, err error) error {
	retry := eval.RetryTrial
	if errors.Is(err, errNotFound) {
		retry = eval.RetryNever
	}
	detail := what + ": " + err.Error()
	for _, s := range t.plan.secrets {
		detail = strings.ReplaceAll(detail, s, "[secret]")
	}
	f := &eval.Fault{Cause: cause, Retry: retry, Detail: detail}
	var taken *portTaken
	if errors.As(err, &taken) {
		return &portTaken{f}
	}
	return f
}
