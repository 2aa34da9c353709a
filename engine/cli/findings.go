package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

type findingsFlags struct {
	suite, experiment, triage string
	hosts, kinds, states      []string
	since, output             string
	runs                      int
	note, by                  string
}

func (a *app) findingsCommand() *cobra.Command {
	f := &findingsFlags{}
	cmd := &cobra.Command{
		Use:   "findings",
		Short: "List a suite's findings over its runs: new, known, fixed, came back",
		Long: `List the findings of a suite over all its stored runs. The same finding of other
trials, runs and hosts is one line, also where it is worded otherwise: with its state as of
the newest run, when it was first and last seen, how often on each host, what would mend it,
and what people decided about it (ack, fixed, reopen).

A finding is fixed only where somebody has looked again: where its story was not run, its
trials errored or its finder was skipped it is "not looked at".

Ends with 3 where a part of a run could not be read; what it holds is not in the list.`,
		Example: "  evalengine findings --runs 7 --state new,came_back",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return f.list(a) },
	}
	f.which(cmd.PersistentFlags())
	fl := cmd.Flags()
	fl.StringSliceVar(&f.hosts, "host", nil, "only what was found on this host (glob, repeatable); states are of that host then")
	fl.StringSliceVar(&f.kinds, "kind", nil, "only this kind (glob, repeatable)")
	fl.StringSliceVar(&f.states, "state", nil, "only this state: "+strings.Join(stateNames(), ", ")+" (repeatable)")
	fl.StringVar(&f.since, "since", "", "only what was seen, went or came back since: a date (2026-11-30), a time, or a duration back from now (72h, 7d)")
	fl.IntVar(&f.runs, "runs", 0, "only what was seen, went or came back in the newest N runs (default: all)")
	fl.StringVarP(&f.output, "output", "o", "", "also write the list to this file; the ending chooses the format (.md, .json, .txt)")
	cmd.AddCommand(
		f.decideCommand(a, "ack", eval.TriageAcknowledged, "Say that findings are known, and stay"),
		f.decideCommand(a, "fixed", eval.TriageFixed, "Say that findings are fixed; one that is seen in a later run came back"),
		f.decideCommand(a, "reopen", eval.TriageOpen, "Take back what was said about findings"),
	)
	return cmd
}

// which are the flags that say whose findings are meant.
func (f *findingsFlags) which(fl *pflag.FlagSet) {
	fl.StringVar(&f.suite, "suite", "", "the suite's name (default: that of the newest run)")
	fl.StringVar(&f.experiment, "experiment", "", "only runs of this experiment")
	fl.StringVar(&f.triage, "triage", "", "the file of decisions (default: evalengine.findings.jsonl beside the suite, or in the working folder where the suite is not there)")
}

func stateNames() []string {
	var list []string
	for _, s := range eval.FindingStates() {
		list = append(list, string(s))
	}
	return list
}

func (f *findingsFlags) options(a *app) (o engine.FindingsOptions, err error) {
	if o.Store, err = engine.OpenStore(a.store); err != nil {
		return o, err
	}
	o.Suite, o.Experiment, o.Triage, o.Hosts, o.Kinds, o.Newest = f.suite, f.experiment, f.triage, f.hosts, f.kinds, f.runs
	if f.runs < 0 {
		return o, fmt.Errorf("--runs %d: give a number from 1", f.runs)
	}
	for _, s := range f.states {
		if !slices.Contains(stateNames(), s) {
			return o, fmt.Errorf("--state %s: there is %s", s, strings.Join(stateNames(), ", "))
		}
		o.States = append(o.States, eval.FindingState(s))
	}
	if f.since != "" {
		o.Since, err = sinceTime(f.since, time.Now())
	}
	return o, err
}

// sinceTime reads a date, a time or a duration back from now.
func sinceTime(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	var days int
	if n, err := fmt.Sscanf(text, "%dd", &days); n == 1 && err == nil && days > 0 && fmt.Sprintf("%dd", days) == text {
		return now.AddDate(0, 0, -days), nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("--since %s: give a date as 2026-11-30, a time as 2026-11-30T08:00:00Z, or a duration as 72h or 7d", text)
}

func (f *findingsFlags) list(a *app) error {
	o, err := f.options(a)
	if err != nil {
		return err
	}
	write, err := fileWriter(f.output, findingsFormats)
	if err != nil {
		return err
	}
	h, err := engine.Findings(o)
	if err != nil {
		return err
	}
	h.Triage = relative(h.Triage)
	if a.json {
		err = a.writeJSON(h)
	} else {
		report.Findings(a.out, h, a.style(a.outFile))
	}
	if err == nil {
		err = write(h)
	}
	if err != nil {
		return err
	}
	if len(h.Unread) == 0 {
		return nil
	}
	for _, u := range h.Unread {
		fmt.Fprintln(a.err, "evalengine: not read:", report.Line(strings.TrimSpace(u.Run+" "+u.Why), 1000))
	}
	return &exitError{code: exitIncomplete, err: fmt.Errorf("%s could not be read; what they hold is not in the list", report.Count(len(h.Unread), "part of the runs", "parts of the runs"))}
}

var findingsFormats = map[string]func(io.Writer, *eval.FindingHistory) error{
	".json": indented[*eval.FindingHistory],
	".md": func(w io.Writer, h *eval.FindingHistory) error {
		report.FindingsMarkdown(w, h)
		return nil
	},
	".txt": func(w io.Writer, h *eval.FindingHistory) error {
		report.Findings(w, h, report.Style{})
		return nil
	},
}

// decideCommand is a command that writes a decision about findings.
func (f *findingsFlags) decideCommand(a *app, name string, state eval.TriageState, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name + " ID...",
		Short: short,
		Long: short + `.

An ID is that of evalengine findings, a start of it that only one finding has, or any
fingerprint of the finding. The decision is written to a file that can be committed; of two
about one finding the later counts.`,
		Example: "  evalengine findings " + name + ` 3f09ab12cd34 --note "waits for version 2"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || slices.Contains(args, "") {
				return errors.New("which finding? Give an ID; evalengine findings lists them")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.decide(a, args, state) },
	}
	cmd.Flags().StringVar(&f.note, "note", "", "why, for who reads the list")
	cmd.Flags().StringVar(&f.by, "by", "", "who decided (default: $USER)")
	return cmd
}

func (f *findingsFlags) decide(a *app, ids []string, state eval.TriageState) error {
	o, err := f.options(a)
	if err != nil {
		return err
	}
	by := f.by
	if by == "" {
		by, _ = a.environ("USER")
	}
	decided, path, err := engine.Decide(ids, eval.Triage{State: state, By: by, At: time.Now(), Note: a.secrets.String(f.note)}, o)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(decided)
	}
	for _, g := range decided {
		fmt.Fprintf(a.out, "%s %s  %s %s\n", g.ID, state, report.Line(strings.TrimSpace(g.Kind+" "+g.Tool+" "+g.Action), 80), report.Line(g.Text, 100))
	}
	fmt.Fprintln(a.out, "written to", relative(path))
	return nil
}
