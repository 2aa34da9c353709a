package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
	"github.com/evalengine/evalengine/engine/internal/price"
)

// stopGrace is how long a host has, after the trial's time is up, to end its
// agent softly and report what it saw.
const stopGrace = 30 * time.Second

// headerTimeout and idleTimeout bound the wait for a model's answer and for its
// next byte: a model that hangs must be known as such before the trial's own time
// is up.
const (
	headerTimeout = 5 * time.Minute
	idleTimeout   = 3 * time.Minute
)

// timeout is how long the agent may take.
func (a *attempt) timeout() time.Duration {
	if a.story.Timeout > 0 {
		return a.story.Timeout
	}
	return a.r.Suite.Timeout
}

// converse runs the agent turn by turn between gateway and model proxy and
// brings together what all of them saw. A fault means that the attempt is no
// evidence of the agent.
func (a *attempt) converse(ctx context.Context) *eval.Fault {
	host, err := a.r.Plugins.Host(ctx, a.host.Driver, a.host.SHA256)
	if err != nil {
		return faultOf(fmt.Errorf("host %q: %w", a.host.Name, err), eval.CausePlugin)
	}
	desc, err := host.Describe(ctx)
	if err != nil {
		return faultOf(fmt.Errorf("host %q: %w", a.host.Name, err), eval.CausePlugin)
	}
	a.origin = time.Now()
	if err := a.open(ctx, desc); err != nil {
		return faultOf(err, eval.CauseMCP)
	}
	defer a.close()
	spec, err := a.spec(desc)
	if err != nil {
		return faultOf(fmt.Errorf("host %q: %w", a.host.Name, err), eval.CauseHostConfig)
	}
	a.phase("running " + a.host.Name)
	a.setOrigin()
	t := &turns{a: a}
	fault := t.run(ctx, host, spec)
	a.timings.Agent = time.Since(a.origin).Seconds()
	a.close()
	if err := a.draft.KeepRaw(a.raw, a.r.Secrets); err != nil {
		return &eval.Fault{Cause: eval.CauseStore, Retry: eval.RetryNever, Detail: fmt.Sprintf("trial %s: raw output: %v", a.trial.ID(), err)}
	}
	a.gather(t)
	if fault == nil {
		fault = a.notIsolated(spec)
	}
	if fault == nil && a.outcome == eval.TimedOut {
		a.finding("timed_out", eval.SeverityMinor, "", fmt.Sprintf("the agent was not done after %s; by the suite's policy (on_timeout) %s",
			a.timeout(), map[bool]string{true: "the gates decide", false: "that is a failure"}[a.r.Suite.OnTimeout == eval.TimeoutJudged]))
	}
	if fault == nil && a.gateway != nil {
		fault = a.gateway.Fault()
	}
	if ctx.Err() != nil && a.outcome == "" {
		return &eval.Fault{Cause: eval.CauseInterrupted, Retry: eval.RetryNever, Detail: context.Cause(ctx).Error()}
	}
	return fault
}

// open opens the trial's gateway and, where the host can be routed and there is
// something to route to, its model proxy.
func (a *attempt) open(ctx context.Context, desc eval.Description) error {
	var err error
	if len(a.target.Servers) > 0 {
		a.gateway, err = a.r.Hub.Open(ctx, gateway.TrialOptions{
			Servers: a.target.Servers, Changes: a.changes(), Rules: a.rules(), MaxBytes: a.limits().ToolBytes,
			Log: a.log("gateway.jsonl"), Origin: a.origin,
		})
		if err != nil {
			return fmt.Errorf("gateway: %w", err)
		}
	}
	if desc.Model == nil {
		return nil
	}
	o, ok, err := a.modelOptions(*desc.Model)
	if err != nil || !ok {
		return err
	}
	if a.model, err = a.r.Hub.OpenModel(ctx, o); err != nil {
		return fmt.Errorf("model proxy: %w", err)
	}
	return nil
}

// log is a file of the draft that no secret is written to.
func (a *attempt) log(name string) io.Writer { return a.r.Secrets.Writer(a.draft.Log(name)) }

// setOrigin starts the agent's clock, from which every time in the transcript
// counts.
func (a *attempt) setOrigin() {
	a.origin = time.Now()
	if a.gateway != nil {
		a.gateway.SetOrigin(a.origin)
	}
	if a.model != nil {
		a.model.SetOrigin(a.origin)
	}
}

// hostConfig are the attributes of a host's config that the engine itself acts
// on; a driver that offers them declares them in its schema.
type hostConfig struct {
	BaseURL   string `json:"base_url"`
	APIKeyEnv string `json:"api_key_env"`
	MaxTurns  int    `json:"max_turns"`
}

// modelOptions says where the model proxy forwards to; not ok where the host
// must go its own way because there is neither key nor base URL.
func (a *attempt) modelOptions(use eval.ModelUse) (o gateway.ModelOptions, ok bool, err error) {
	var cfg hostConfig
	if err := json.Unmarshal(a.host.Config, &cfg); err != nil {
		return o, false, fmt.Errorf("host %q: config: %w", a.host.Name, err)
	}
	name := cfg.APIKeyEnv
	if name == "" {
		name = use.KeyEnv
	}
	key, _ := a.r.Environ(name)
	if key == "" && cfg.BaseURL == "" {
		return o, false, nil
	}
	base := cfg.BaseURL
	if base == "" {
		base = use.DefaultBaseURL
	}
	limits := a.limits()
	if cfg.MaxTurns > 0 && (limits.Turns == 0 || cfg.MaxTurns < limits.Turns) {
		limits.Turns = cfg.MaxTurns
	}
	pace := a.r.pace()
	return gateway.ModelOptions{
		API: use.API, BaseURL: base, Key: key, Limits: limits, Over: a.overBytes,
		Asked:         func(first bool) { pace.Asked(a.trial, first && a.n == 1) },
		Answered:      func(status int, after time.Duration) { pace.Answered(a.trial, status, after) },
		HeaderTimeout: min(headerTimeout, a.timeout()/3), IdleTimeout: min(idleTimeout, a.timeout()/4),
		Log: a.log("model.jsonl"), Bodies: a.r.Bodies, Origin: a.origin, Price: price.Cost,
	}, true, nil
}

func (a *attempt) changes() []eval.ToolChange {
	for _, v := range a.story.Variants {
		if v.Name == a.trial.Variant {
			return v.Tools
		}
	}
	return nil
}

func (a *attempt) rules() []eval.ToolRule {
	if cfg := a.r.Suite.Target(a.story.Target); cfg != nil {
		return cfg.Tools
	}
	return nil
}

// spec is what the host gets to start a session.
func (a *attempt) spec(desc eval.Description) (eval.SessionSpec, error) {
	a.raw = a.path("raw")
	s := eval.SessionSpec{
		Trial: a.trial, Config: a.host.Config, RawDir: a.raw, Env: a.env(a.host.Env), Turns: len(a.prompts),
	}
	if a.gateway != nil {
		s.Servers = a.gateway.Endpoints()
	}
	if a.model != nil {
		e := a.model.Endpoint()
		s.Model = &e
	}
	if desc.Has(eval.CapNoFolders) {
		return s, nil
	}
	var err error
	if s.Home, err = a.folder("home"); err != nil {
		return s, err
	}
	if s.WorkDir, err = a.folder("work"); err != nil {
		return s, err
	}
	s.Isolation = a.isolation(s.Home, s.WorkDir)
	return s, nil
}

// evaluate makes the prompts, now that the target exists.
func (a *attempt) evaluate() *eval.Fault {
	vars := eval.Vars{Target: a.values, Trial: a.trial}
	for i, turn := range a.story.Turns {
		text, err := turn.Prompt.Value(vars)
		if err == nil && i == 0 {
			text, err = a.vary(text, vars)
		}
		if err != nil {
			return &eval.Fault{Cause: eval.CauseSuite, Retry: eval.RetryNever, Detail: fmt.Sprintf("story %q: prompt of turn %d: %v", a.story.Name, i+1, err)}
		}
		a.prompts = append(a.prompts, text)
	}
	return nil
}

// vary alters the first prompt as the trial's variant says.
func (a *attempt) vary(text string, vars eval.Vars) (string, error) {
	i := slices.IndexFunc(a.story.Variants, func(v eval.Variant) bool { return v.Name == a.trial.Variant })
	if i < 0 {
		return text, nil
	}
	v := a.story.Variants[i]
	for _, part := range []struct {
		late eval.Late[string]
		join func(text, part string) string
	}{
		{v.Prompt, func(_, p string) string { return p }},
		{v.Prepend, func(t, p string) string { return strings.TrimRight(p, "\n") + "\n\n" + t }},
		{v.Append, func(t, p string) string { return strings.TrimRight(t, "\n") + "\n\n" + p }},
	} {
		if part.late == nil {
			continue
		}
		p, err := part.late.Value(vars)
		if err != nil {
			return "", err
		}
		text = part.join(text, p)
	}
	return text, nil
}

// close ends gateway and model proxy; a second call does nothing.
func (a *attempt) close() {
	a.closing.Do(func() {
		if a.model != nil {
			a.model.Close()
		}
		if a.gateway == nil {
			return
		}
		if err := a.gateway.Close(); err != nil {
			a.r.Logger.Warn("gateway", "trial", a.trial.ID(), "error", err)
		}
	})
}

// keptFromAgent tells once a tool of results that were too large for the host: that
// is the target's to mend.
func (a *attempt) keptFromAgent(results []eval.Step) {
	said := map[string]bool{}
	for _, s := range results {
		if name := s.Server + "/" + s.Tool; !said[name] {
			said[name] = true
			a.finding("host_truncated_result", eval.SeverityMajor, name,
				fmt.Sprintf("the host kept a result of %d bytes from the agent because it was too large", s.Bytes))
		}
	}
}

// gather brings together what host, gateway and model proxy saw.
func (a *attempt) gather(t *turns) {
	a.answer, a.agentVersion, a.isolated, a.usage = t.answer, t.version, t.isolated, t.usage
	retries := 0
	if a.model != nil {
		facts := a.model.Facts(0)
		a.usage, retries = facts.Usage, facts.Retries
	}
	a.findings = append(a.findings, t.findings(retries)...)
	var calls []gateway.Call
	if a.gateway != nil {
		calls = a.gateway.Calls()
		a.tools = a.gateway.Tools()
		if len(a.tools) > 0 {
			a.digest = gateway.Digest(a.tools)
		}
		a.findings = append(a.findings, a.gateway.Findings()...)
	}
	cost(&a.usage)
	a.unheld()
	var kept []eval.Step
	a.steps, kept = merge(t.steps, calls, t.ends)
	a.findings = append(a.findings, repeats(a.steps)...)
	a.keptFromAgent(kept)
}
