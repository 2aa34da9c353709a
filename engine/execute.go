package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/exec"
	"github.com/evalengine/evalengine/engine/internal/gateway"
	"github.com/evalengine/evalengine/engine/internal/plan"
	"github.com/evalengine/evalengine/engine/internal/story"
)

// preflightTimeout bounds the look at one target's tools.
const preflightTimeout = 2 * time.Minute

// execute runs the trials and writes the summary. A trial without a record is
// left to a later resume.
func (r *run) execute(ctx context.Context) (*Result, error) {
	local := r.scheduler(ctx)
	r.runner.Pace = local
	r.budget.set(local)
	failed := local.Execute(ctx, r.p.Trials)
	why, reason := local.Stopped()
	return r.conclude(ctx, why, reason, failed)
}

// conclude writes the summary of a run that has ended, or that the store has
// ended: then failed says how.
func (r *run) conclude(ctx context.Context, why eval.Stop, reason string, failed error) (*Result, error) {
	s := r.fold.Summary(&r.info, time.Now().UTC(), ctx.Err() != nil)
	s.Stopped, s.StopReason = r.stopped(ctx, why, reason, failed)
	s.StopReason = r.secrets.String(s.StopReason)
	if err := r.ledger.WriteSummary(s); err != nil && failed == nil {
		failed = storeFault(err)
		s.Stopped, s.StopReason = r.stopped(ctx, why, reason, failed)
	}
	if failed != nil {
		failed = fmt.Errorf("%w; then run: evalengine resume %s", failed, r.info.ID)
	}
	return &Result{Run: r.info, Dir: r.ledger.Dir(), Summary: s}, failed
}

// storeFault is an error of the store as the fault that ends a run.
func storeFault(err error) *eval.Fault {
	return &eval.Fault{Cause: eval.CauseStore, Retry: eval.RetryNever, Detail: err.Error()}
}

// isStore reports whether the store ended the run.
func isStore(err error) bool {
	var f *eval.Fault
	return errors.As(err, &f) && f.Cause == eval.CauseStore
}

// done takes in an ended trial and decides whether the run goes on.
func (r *run) done(t eval.Trial, rec *eval.Record, err error) error {
	if err != nil {
		if isStore(err) {
			return err
		}
		r.e.o.Logger.Debug("trial without a record", "trial", t.ID(), "error", err)
		return nil
	}
	r.fold.Add(rec)
	r.spend(rec)
	if r.o.FailFast && rec.Status == eval.StatusFailed {
		if r.failedFast == "" {
			r.failedFast = rec.ID
		}
		return exec.ErrStop
	}
	return nil
}

// spend takes in what a trial cost.
func (r *run) spend(rec *eval.Record) {
	cost, unknown := 0.0, false
	for _, a := range rec.Attempts {
		if a.Usage.CostUSD != nil {
			cost += *a.Usage.CostUSD
		} else if a.Usage.InputTokens+a.Usage.OutputTokens > 0 {
			unknown = true
		}
	}
	judges, known := judged(rec)
	cost, unknown = cost+judges, unknown || !known
	r.spent += cost
	r.most = max(r.most, cost)
	if unknown && r.s.BudgetUSD > 0 && !r.unpriced {
		r.unpriced = true
		r.e.o.Logger.Warn("the budget does not hold trials whose cost is not known", "trial", rec.ID, "models", rec.Usage.Models)
	}
}

// stopped says why not all of the plan was run.
func (r *run) stopped(ctx context.Context, why eval.Stop, reason string, failed error) (eval.Stop, string) {
	switch {
	case ctx.Err() != nil:
		return eval.StopInterrupted, "the run was interrupted"
	case failed != nil:
		return eval.StopStore, failed.Error()
	case r.failedFast != "":
		return eval.StopFailFast, "trial " + r.failedFast + " failed"
	}
	return why, reason
}

// keyName is the variable that a host's config names for its key.
func keyName(config eval.JSON) string {
	var cfg struct {
		APIKeyEnv string `json:"api_key_env"`
	}
	if json.Unmarshal(config, &cfg) != nil {
		return ""
	}
	return cfg.APIKeyEnv
}

// keyNames are the variables that the plan's drivers take their keys from by
// default.
func (r *run) keyNames() []string {
	var names []string
	for _, d := range r.p.Needs.Drivers {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		h, err := r.e.pool.Host(ctx, d, "")
		if err == nil {
			if desc, err := h.Describe(ctx); err == nil && desc.Model != nil && desc.Model.KeyEnv != "" {
				names = append(names, desc.Model.KeyEnv)
			}
		}
		cancel()
	}
	return names
}

// preflight makes one target of each kind that the plan uses, lists its tools
// and holds the suite's tool names against them: a story that asks for a tool
// which nobody offers would fail every agent. A target that cannot be made is
// left to the trials, which are retried and counted, unless its config allows
// none at all.
func (r *run) preflight(ctx context.Context) error {
	var wg sync.WaitGroup
	names := r.targets()
	found := make([]diag.List, len(names))
	for i, name := range names {
		wg.Go(func() {
			tools, err := r.listTools(ctx, name)
			if err != nil {
				found[i] = diag.List{r.notLooked(name, err)}
				return
			}
			found[i] = story.CheckTools(r.selected(), name, tools)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil // the trials see it too, and the run is recorded as interrupted
	}
	diags := slices.Concat(found...)
	if err := diags.Err(); err != nil {
		return err
	}
	if len(diags) > 0 && r.o.Warn != nil {
		r.o.Warn(diags)
	}
	return nil
}

// notLooked says why a target's tools are not known.
func (r *run) notLooked(name string, err error) diag.Diagnostic {
	d := diag.Diagnostic{
		Severity: diag.Warning, Summary: "tools not compared", Subject: word(r.s.Target(name).Source, "target"),
		Detail: fmt.Sprintf("target.%s could not be asked for its tools beforehand: %s. The trials try again.", name, r.secrets.String(err.Error())),
	}
	var f *eval.Fault
	if errors.As(err, &f) && f.Retry == eval.RetryStop {
		d.Severity, d.Summary, d.Detail = diag.Error, "target cannot be made", r.secrets.String(err.Error())+"."
	}
	return d
}

// selected is the suite with the stories of the plan alone: another story's
// mistake is no reason not to run these.
func (r *run) selected() *eval.Suite {
	s := *r.s
	s.Stories = slices.DeleteFunc(slices.Clone(s.Stories), func(st eval.Story) bool {
		return !slices.ContainsFunc(r.p.Arms, func(a plan.Arm) bool { return a.Story == st.Name })
	})
	return &s
}

func (r *run) targets() []string {
	var names []string
	for _, a := range r.p.Arms {
		if a.Target != "" && !slices.Contains(names, a.Target) {
			names = append(names, a.Target)
		}
	}
	return names
}

func (r *run) listTools(ctx context.Context, name string) ([]eval.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	cfg := r.s.Target(name)
	p, err := r.e.pool.Provisioner(ctx, cfg.Provisioner, cfg.SHA256)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(r.temp.Path, "preflight-*")
	if err != nil {
		return nil, err
	}
	target, err := p.Provision(ctx, eval.ProvisionRequest{
		Trial:  eval.Trial{Story: "preflight", Host: "engine", Repeat: 1},
		Config: cfg.Config, WorkDir: dir, Env: r.environ(cfg.Env), Nonce: nonce(),
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if err := p.Destroy(ctx, target.ID); err != nil {
			r.e.o.Logger.Warn("preflight target stays", "target", name, "error", err)
		}
	}()
	tools, err := gateway.ListTools(ctx, r.gatewayOptions(), target.Servers)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", name, err)
	}
	return tools, nil
}

func (r *run) environ(names []string) map[string]string {
	env := map[string]string{}
	for _, n := range names {
		if v, ok := r.e.o.Environ(n); ok {
			env[n] = v
		}
	}
	return env
}

// nonce is unguessable and unique.
func nonce() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
