package trial

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/model"
	"github.com/evalengine/evalengine/engine/internal/price"
)

// Bounds of what is done around the agent's own run.
const (
	provisionTimeout = 5 * time.Minute
	observeTimeout   = time.Minute
	destroyTimeout   = time.Minute
	scoreTimeout     = 5 * time.Minute
)

// attempt is one try at a trial, in the order of its phases. What it gathers is
// there whether or not it ends with a fault.
type attempt struct {
	r     *Runner
	trial eval.Trial
	story *eval.Story
	host  *eval.HostConfig
	n     int
	// past are the attempts before this one.
	past  []eval.Attempt
	draft *ledger.Draft
	dir   string
	// raw is where the host keeps the agent's raw output.
	raw string
	// part is what a fault is to be blamed on: "host NAME" or "target NAME".
	part string

	started time.Time
	timings eval.Timings

	provisioner eval.Provisioner
	target      eval.Target
	placed      *eval.Placed
	values      eval.JSON
	gateway     *gateway.Gateway
	model       *gateway.Model
	origin      time.Time
	closing     sync.Once

	before, after eval.JSON
	prompts       []string
	steps         []eval.Step
	tools         []eval.Tool
	digest        string
	outcome       eval.Outcome
	detail        string
	answer        string
	usage         eval.Usage
	agentVersion  string
	isolated      eval.Isolated
	pages         []eval.Page
	scores        []eval.Score
	// other is the trial that judges compare this one with; nil for none.
	other *Gold
	// said is what later scorers are told of the scores before them.
	said []eval.Score
	// mu guards findings while judges are at work.
	mu       sync.Mutex
	findings []eval.Finding
	fault    *eval.Fault
	// own says that judges answer anew for this repeat, whatever is shared.
	own bool
	// judgeLog is where requests to models are kept; nil is the draft.
	judgeLog io.Writer
	// replay has the models' answers where none is to be asked; nil asks.
	replay *model.Replay
}

// attempt runs one attempt and leaves nothing of it but its draft.
func (r *Runner) attempt(ctx context.Context, t eval.Trial, story *eval.Story, host *eval.HostConfig, past []eval.Attempt) *attempt {
	n := len(past) + 1
	a := &attempt{r: r, trial: t, story: story, host: host, n: n, past: past, draft: r.Ledger.Draft(t.ID(), n), started: time.Now()}
	a.timings.StartedAt = a.started
	a.fault = a.run(ctx)
	a.timings.FinishedAt = time.Now()
	a.timings.Total = time.Since(a.started).Seconds()
	return a
}

func (a *attempt) run(ctx context.Context) *eval.Fault {
	defer a.cleanFolders()
	a.part = "target " + a.story.Target
	if f := a.provision(ctx); f != nil {
		return f
	}
	defer a.destroy(ctx)
	a.part = "host " + a.host.Name
	if f := a.converse(ctx); f != nil {
		return f
	}
	// The agent is done: what it did is looked up and judged even when the run is
	// being interrupted.
	ctx = context.WithoutCancel(ctx)
	if f := a.observeAfter(ctx); f != nil {
		return f
	}
	if f := a.capture(ctx); f != nil {
		return f
	}
	if f := a.settle(); f != nil {
		return f
	}
	return a.score(ctx)
}

func (a *attempt) phase(text string) {
	a.r.observe(Event{Kind: Phase, Trial: a.trial, Attempt: a.n, Text: text})
}

// provision makes the target and takes its state before the run.
func (a *attempt) provision(ctx context.Context) *eval.Fault {
	cfg := a.r.Suite.Target(a.story.Target)
	if cfg == nil {
		a.values = a.r.Values
		return a.evaluate()
	}
	a.phase("provisioning " + cfg.Name)
	start := time.Now()
	defer func() { a.timings.Provision = time.Since(start).Seconds() }()
	ctx, cancel := context.WithTimeout(ctx, provisionTimeout)
	defer cancel()
	p, err := a.r.Plugins.Provisioner(ctx, cfg.Provisioner, cfg.SHA256)
	if err != nil {
		return faultOf(err, eval.CausePlugin)
	}
	req, err := a.request(cfg)
	if err != nil {
		return faultOf(err, eval.CauseProvision)
	}
	target, err := p.Provision(ctx, req)
	if err != nil {
		return faultOf(fmt.Errorf("target %q: %w", cfg.Name, err), eval.CauseProvision)
	}
	a.provisioner, a.target = p, target
	if f := a.place(ctx, cfg); f != nil {
		a.destroy(ctx)
		return f
	}
	return nil
}

// place takes in what the provisioner said of the new target.
func (a *attempt) place(ctx context.Context, cfg *eval.TargetConfig) *eval.Fault {
	for _, s := range a.target.Secrets {
		if err := a.r.Secrets.Add("secret of target "+cfg.Name, s); err != nil {
			return &eval.Fault{Cause: eval.CauseProvision, Retry: eval.RetryStop, Detail: err.Error()}
		}
	}
	a.values = a.target.Values
	a.placed = &eval.Placed{
		Name: cfg.Name, Provisioner: cfg.Provisioner, ID: a.target.ID,
		Values: eval.JSON(a.r.Secrets.Bytes(a.target.Values)),
	}
	var err error
	if a.before, err = a.provisioner.Snapshot(ctx, a.target.ID); err != nil {
		return faultOf(fmt.Errorf("target %q: state before the run: %w", cfg.Name, err), eval.CauseObserve)
	}
	return a.evaluate()
}

func (a *attempt) request(cfg *eval.TargetConfig) (eval.ProvisionRequest, error) {
	var nonce [16]byte
	rand.Read(nonce[:])
	dir, err := a.folder("target")
	if err != nil {
		return eval.ProvisionRequest{}, err
	}
	return eval.ProvisionRequest{Trial: a.trial, Config: cfg.Config, WorkDir: dir, Env: a.env(cfg.Env), Nonce: hex.EncodeToString(nonce[:])}, nil
}

// env is the allow-list's part of the engine's environment.
func (a *attempt) env(names []string) map[string]string {
	env := make(map[string]string, len(names))
	for _, name := range names {
		if v, ok := a.r.Environ(name); ok {
			env[name] = v
		}
	}
	return env
}

// folder makes a fresh folder of this attempt.
func (a *attempt) folder(name string) (string, error) {
	dir := a.path(name)
	return dir, os.MkdirAll(dir, 0o700)
}

// path is where a folder of this attempt is, or will be: an attempt that needs
// none makes none.
func (a *attempt) path(name string) string {
	if a.dir == "" {
		var b [8]byte
		rand.Read(b[:])
		a.dir = filepath.Join(a.r.Temp, "t-"+hex.EncodeToString(b[:]))
	}
	return filepath.Join(a.dir, name)
}

func (a *attempt) cleanFolders() {
	if a.dir == "" {
		return
	}
	if err := os.RemoveAll(a.dir); err != nil {
		// A read-only folder that the agent left stops RemoveAll.
		makeWritable(a.dir)
		err = os.RemoveAll(a.dir)
		if err != nil {
			a.r.Logger.Warn("temporary folder stays", "trial", a.trial.ID(), "error", err)
		}
	}
}

func makeWritable(dir string) {
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
}

// destroy ends the target, also when the run is being interrupted.
func (a *attempt) destroy(ctx context.Context) {
	if a.provisioner == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), destroyTimeout)
	defer cancel()
	if err := a.provisioner.Destroy(ctx, a.target.ID); err != nil {
		a.r.Logger.Warn("target stays", "trial", a.trial.ID(), "target", a.target.ID, "error", err)
		a.finding("target_left", eval.SeverityMinor, "", "the target could not be destroyed: "+err.Error())
	}
	a.provisioner = nil
}

// observeAfter looks up the target's state after the run.
func (a *attempt) observeAfter(ctx context.Context) *eval.Fault {
	if a.provisioner == nil {
		return nil
	}
	a.phase("looking up the state")
	start := time.Now()
	defer func() { a.timings.Observe = time.Since(start).Seconds() }()
	ctx, cancel := context.WithTimeout(ctx, observeTimeout)
	defer cancel()
	var err error
	if a.after, err = a.provisioner.Snapshot(ctx, a.target.ID); err != nil {
		return faultOf(fmt.Errorf("target %q: state after the run: %w", a.placed.Name, err), eval.CauseObserve)
	}
	return nil
}

func (a *attempt) finding(kind string, severity eval.Severity, tool, text string) {
	a.findings = append(a.findings, eval.Finding{Kind: kind, Severity: severity, Tool: tool, Text: text, Source: "engine"})
}

func (a *attempt) discard() {
	if err := a.draft.Discard(); err != nil {
		a.r.Logger.Warn("draft stays", "trial", a.trial.ID(), "error", err)
	}
}

func (a *attempt) summary() eval.Attempt {
	f := a.fault
	if f != nil {
		clean := *f
		clean.Detail = a.r.Secrets.String(f.Detail)
		f = &clean
	}
	return eval.Attempt{N: a.n, StartedAt: a.started, Seconds: a.timings.Total, Outcome: a.outcome, Fault: f, Usage: a.usage}
}

// hideSecrets takes secrets out of what scorers and checks said: their
// parameters may hold some that the evidence no longer has, and reports show
// these texts without going by the ledger.
func (a *attempt) hideSecrets() {
	red := a.r.Secrets
	for i := range a.scores {
		a.scores[i].Reason = red.String(a.scores[i].Reason)
	}
	for i := range a.findings {
		f := &a.findings[i]
		f.Text, f.Suggestion = red.String(f.Text), red.String(f.Suggestion)
	}
}

// record is the trial's record, but for its attempts.
func (a *attempt) record() *eval.Record {
	a.hideSecrets()
	status, cause, reason := verdict(a.fault, a.outcome, a.detail, a.r.Suite.OnTimeout, a.scores)
	reason = a.r.Secrets.String(reason)
	rec := &eval.Record{
		Run: a.r.Ledger.Info.ID, ID: a.trial.ID(), Trial: a.trial, Driver: a.host.Driver,
		Status: status, Cause: cause, Reason: reason,
		Scores: a.scores, Findings: a.findings, Definitions: a.definitions(), Prompts: a.prompts, Answer: a.answer,
		Calls: counts(a.steps), Usage: a.usage, Timings: a.timings, Target: a.placed,
		ToolsDigest: a.digest, Isolation: a.isolated, Versions: a.versions(),
		Attempts: append(slices.Clip(a.past), a.summary()), Pages: a.pages,
	}
	rec.Findings = settle(rec.Findings, a.steps)
	return rec
}

func (a *attempt) versions() map[string]string {
	if a.agentVersion == "" {
		return a.r.Versions
	}
	v := map[string]string{}
	maps.Copy(v, a.r.Versions)
	v["agent/"+a.host.Driver] = a.agentVersion
	return v
}

// faultOf gives err a cause where it has none of its own.
func faultOf(err error, cause string) *eval.Fault {
	var f *eval.Fault
	if errors.As(err, &f) {
		whole := *f
		// The cause is said once, in front of all.
		whole.Detail = strings.Replace(err.Error(), f.Error(), f.Detail, 1)
		return &whole
	}
	return &eval.Fault{Cause: cause, Retry: eval.RetryTrial, Detail: err.Error()}
}

// cost fills in what the usage costs where every model's price is known.
func cost(u *eval.Usage) {
	if u.CostUSD != nil || len(u.Models) != 1 || u.LowerBound && u.InputTokens+u.OutputTokens == 0 {
		return
	}
	if usd, ok := price.Cost(u.Models[0], *u); ok {
		u.CostUSD = &usd
	}
}
