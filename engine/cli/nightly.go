package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

// webhookTimeout bounds the delivery of a report.
const webhookTimeout = 30 * time.Second

type nightlyFlags struct {
	runFlags
	engine.NightlyOptions
	stored  string
	webhook string
	github  bool
}

func (a *app) nightlyCommand() *cobra.Command {
	f := &nightlyFlags{}
	cmd := &cobra.Command{
		Use:   "nightly SUITE...",
		Short: "Run a suite, hold it against its baseline and the nights before, and report what is news",
		Long: `Run a suite, or take a stored run, hold it against the suite's baseline and the median of
the nights before, and write one report of what is news: regressions, findings that are
new or gone, scores that vary more than they did, tools that changed or are no longer
covered, trials that errored. A quiet night is five lines.

Exit codes: 0 nothing regressed, 1 a gate regressed, 2 usage or configuration error,
3 trials are missing or errored, or there is too little data; 130 interrupted. Trials that
fail as they did before are no news.`,
		Example: "  evalengine nightly suite.hcl --set-baseline -o nightly.md",
		Args:    suiteArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.nightly(a, cmd, args) },
	}
	f.suiteFlags.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.stored, "run", "", "take this stored run instead of running the suite")
	fl.StringVar(&f.Against, "against", "", "hold it against this run instead of the suite's baseline")
	fl.IntVar(&f.Nights, "nights", engine.DefaultNights, "how many earlier runs make the moving baseline")
	fl.BoolVar(&f.SetBaseline, "set-baseline", false, "where no baseline is set, make this run the baseline")
	fl.StringArrayVar(&f.Gates, "gate", nil, "let scores and efforts whose names match this glob gate as well (repeatable)")
	fl.Float64Var(&f.Level, "level", 0.95, "level of intervals; 1 less it is that of tests")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of what is drawn at random")
	fl.StringVar(&f.Triage, "triage", "", "the file of what people decided about findings (default: beside the suite)")
	fl.IntVarP(&f.jobs, "jobs", "j", max(2, runtime.NumCPU()), "how many trials run at once")
	fl.StringVar(&f.experiment, "experiment", "", "name that groups runs which are to be compared")
	fl.Float64Var(&f.budget, "budget", 0, "end the run before it costs more, in USD (default: what the suite says)")
	fl.StringVar(&f.webhook, "webhook", "", "post the report to this address, as Slack's incoming webhooks take it")
	fl.BoolVar(&f.github, "github", false, "append the report to the job's summary ($GITHUB_STEP_SUMMARY)")
	fl.StringVarP(&f.output, "output", "o", "", "also write the report to this file; the ending chooses the format (.md, .html, .json, .txt)")
	f.retries = -1
	return cmd
}

func (f *nightlyFlags) nightly(a *app, cmd *cobra.Command, args []string) error {
	if err := f.checkNight(cmd); err != nil {
		return err
	}
	if f.webhook != "" {
		if err := a.secrets.Add("webhook", f.webhook); err != nil { // whoever has it can post
			return err
		}
	}
	write, err := fileWriter(f.output, nightlyFormats)
	if err != nil {
		return err
	}
	summaryFile, err := a.jobSummary(f.github)
	if err != nil {
		return err
	}
	if f.Store, err = engine.OpenStore(a.store); err != nil {
		return err
	}
	e, err := a.engine(min(f.jobs, runtime.NumCPU()))
	if err != nil {
		return err
	}
	defer e.Close()
	s, err := f.load(a, cmd, e, args)
	if err != nil {
		return err
	}
	run := f.stored
	if run == "" {
		if run, err = f.runNight(a, cmd.Context(), e, s, args); err != nil {
			return err
		}
	}
	f.CompareOptions.Selection = f.sel
	n, err := e.Nightly(cmd.Context(), s, run, f.NightlyOptions)
	if err != nil {
		return comparisonError(err)
	}
	if a.json {
		err = a.writeJSON(n)
	} else {
		report.Nightly(a.out, n, a.style(a.outFile))
	}
	if werr := write(n); err == nil {
		err = werr
	}
	if serr := appendSummary(summaryFile, n); err == nil {
		err = serr
	}
	if err != nil {
		return &exitError{code: exitIncomplete, err: err}
	}
	// What became of the message says nothing of the suite.
	if err := postReport(cmd.Context(), f.webhook, n); err != nil {
		fmt.Fprintln(a.err, "evalengine: the report was not delivered:", err)
	}
	return nightExit(n)
}

func (f *nightlyFlags) checkNight(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if err := f.check(given); err != nil {
		return err
	}
	if err := (&compareFlags{CompareOptions: f.CompareOptions}).check(); err != nil {
		return err
	}
	if f.Nights < 1 || f.Nights > 1000 {
		return fmt.Errorf("--nights %d: give a number from 1 to 1000", f.Nights)
	}
	if f.stored != "" {
		for _, name := range []string{"jobs", "experiment", "budget", "repeats"} {
			if given(name) {
				return fmt.Errorf("--%s is for a run that is to be made, and --run takes one that is there", name)
			}
		}
	}
	if u, err := url.Parse(f.webhook); f.webhook != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return errors.New("--webhook: it is no http or https address")
	}
	return nil
}

// runNight runs the suite and returns the run.
func (f *nightlyFlags) runNight(a *app, ctx context.Context, e *engine.Engine, s *eval.Suite, args []string) (string, error) {
	f.apply(s)
	p, diags := e.Plan(s, f.sel)
	if err := diags.Err(); err != nil {
		return "", err
	}
	w := a.watch(len(p.Trials), f.jobs)
	res, err := e.Run(ctx, s, p, engine.RunOptions{
		Store: f.Store, Paths: args, Concurrency: f.jobs, Experiment: f.experiment, Args: withoutWebhook(os.Args[1:]),
		Started: w.start, Warn: a.tellDiags, Observe: w.observe,
	})
	w.stop()
	switch {
	case res == nil:
		return "", nothingRun(err)
	case errors.Is(err, context.Canceled) || res.Summary != nil && res.Summary.Completion == eval.RunInterrupted:
		return "", &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted; go on with: evalengine resume %s, then evalengine nightly --run %s", res.Run.ID, res.Run.ID)}
	case err != nil:
		return "", err
	}
	return res.Run.ID, nil
}

// withoutWebhook is a command line without the address of the webhook.
func withoutWebhook(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--webhook":
			i++
		case !strings.HasPrefix(args[i], "--webhook="):
			out = append(out, args[i])
		}
	}
	return out
}

// nightExit is the code of a night.
func nightExit(n *eval.Nightly) error {
	switch {
	case n.Verdict == eval.Regressed:
		return &exitError{code: exitFailed}
	case n.Verdict == eval.InsufficientData || n.Trials.Errored+n.Trials.Skipped > 0 || n.Trials.Total < n.Planned:
		return &exitError{code: exitIncomplete}
	}
	return nil
}

var nightlyFormats = map[string]func(io.Writer, *eval.Nightly) error{
	".json": indented[*eval.Nightly],
	".md":   report.NightlyMarkdown,
	".html": report.NightlyHTML,
	".txt": func(w io.Writer, n *eval.Nightly) error {
		report.Nightly(w, n, report.Style{})
		return nil
	},
}

// jobSummary is the file that GitHub shows as a job's summary.
func (a *app) jobSummary(wanted bool) (string, error) {
	if !wanted {
		return "", nil
	}
	file, ok := a.environ("GITHUB_STEP_SUMMARY")
	if !ok || file == "" {
		return "", errors.New("--github: GITHUB_STEP_SUMMARY is not set: it is for a step of a GitHub workflow")
	}
	return file, nil
}

func appendSummary(file string, n *eval.Nightly) (err error) {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return report.NightlyMarkdown(f, n)
}

// postReport delivers a report to an incoming webhook. The address is a secret: no
// error tells it.
func postReport(ctx context.Context, address string, n *eval.Nightly) error {
	if address == "" {
		return nil
	}
	body, err := report.NightlySlack(n)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("the webhook's address cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return fmt.Errorf("the webhook: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		answer, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
		return fmt.Errorf("the webhook answered %s: %s", resp.Status, report.Line(string(answer), 200))
	}
	return nil
}
