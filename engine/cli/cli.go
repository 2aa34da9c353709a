// Package cli is the command line: it reads flags and the environment, calls
// package engine, and shows what comes back. Machine output goes to stdout,
// everything for people who watch to stderr.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/redact"
	"github.com/evalengine/evalengine/engine/internal/report"
)

// Exit codes.
const (
	exitOK          = 0   // every gate held
	exitFailed      = 1   // a verdict: a trial failed
	exitUsage       = 2   // usage or configuration error; nothing was run
	exitIncomplete  = 3   // incomplete, and no trial failed
	exitInterrupted = 130 // interrupted; what was finished is recorded
)

// exitError is an error with an exit code. A nil err was told already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// app is one call of the program with its surroundings.
type app struct {
	in       io.Reader
	out, err io.Writer
	environ  func(string) (string, bool)
	// environment is the whole of it as name=value.
	environment []string
	// errFile is the terminal behind err, nil where it is none.
	errFile *os.File
	outFile *os.File
	exe     string
	// secrets are taken out of everything that is shown.
	secrets *redact.Set

	json       bool
	store      string
	noProgress bool
	verbose    bool
}

// Main runs the program with the process's own arguments and streams and returns
// its exit code. The first interrupt ends the run in order; the second ends the
// process.
func Main() int {
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "evalengine:", err)
		return exitUsage
	}
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.LookupEnv, environment: os.Environ(), exe: exe}
	a.errFile, a.outFile = terminal(os.Stderr), terminal(os.Stdout)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return a.run(ctx, os.Args[1:])
}

func terminal(f *os.File) *os.File {
	if term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

func (a *app) run(ctx context.Context, args []string) int {
	a.secrets = &redact.Set{}
	a.out, a.err = a.secrets.Writer(a.out), a.secrets.Writer(a.err)
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetIn(a.in)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	return a.fail(err)
}

// fail shows an error and gives its exit code: whatever is not said to be
// something else is a usage error.
func (a *app) fail(err error) int {
	var (
		exit  *exitError
		list  diag.List
		fault *eval.Fault
	)
	switch {
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(a.err, "evalengine:", exit.err)
		}
		return exit.code
	case errors.As(err, &list):
		a.showDiags(list)
		return exitUsage
	case errors.As(err, &fault):
		fmt.Fprintln(a.err, "evalengine:", err)
		return exitIncomplete
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(a.err, "evalengine: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(a.err, "evalengine:", err)
	return exitUsage
}

func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evalengine",
		Short: "Run evals of agents that use MCP servers",
		Long: `evalengine runs real agent hosts headless against fresh throw-away targets and
grades what the agent chose to do.`,
		Example:      "  evalengine init demo && evalengine run demo/suite.hcl",
		SilenceUsage: true,
		// How far a word may be from the command that it is taken for.
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		Args:                       a.commandArgs,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("store") && a.store == "" {
				return errors.New("--store is empty: give a folder or a file:// URL")
			}
			return a.twins(cmd.Flags())
		},
	}
	f := cmd.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "write machine output to stdout and nothing else there")
	f.StringVar(&a.store, "store", "file://.evalengine", "where runs are kept: a file:// URL or a path")
	f.BoolVar(&a.noProgress, "no-progress", false, "show no progress")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "log what the engine does to stderr")
	cmd.CompletionOptions.HiddenDefaultCmd = true
	cmd.AddCommand(
		a.initCommand(), a.validateCommand(), a.planCommand(), a.runCommand(), a.resumeCommand(), a.scoreCommand(), a.showCommand(), a.goldCommand(), a.calibrateCommand(),
		a.suggestCommand(),
		a.coverageCommand(),
		a.nightlyCommand(),
		a.baselineCommand(),
		a.compareCommand(),
		a.aaCommand(),
		a.findingsCommand(),
		a.reportCommand(),
		a.doctorCommand(), a.pluginCommand(), a.versionCommand(), a.workerCommand(), a.shimCommand(),
	)
	return cmd
}

// commandArgs says what was likely meant by a word that is no command.
func (a *app) commandArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	known := cmd.SuggestionsFor(args[0])
	if len(known) == 0 {
		return fmt.Errorf("there is no command %q; evalengine --help lists them", args[0])
	}
	return fmt.Errorf("there is no command %q; did you mean %q?", args[0], known[0])
}

// suiteArgs are those of commands that load a suite.
func suiteArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return fmt.Errorf("which suite? Write: %s suite.hcl", cmd.CommandPath())
}

// twins sets each flag that was not given from its variable EVALENGINE_<FLAG>,
// where that is set and not empty.
func (a *app) twins(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "EVALENGINE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		v, ok := a.environ(name)
		if f.Changed || !ok || v == "" || f.Name == "help" || failed != nil {
			return
		}
		if err := flags.Set(f.Name, v); err != nil {
			failed = fmt.Errorf("%s: %w", name, err)
		}
	})
	return failed
}

// logger writes to stderr: warnings, and with --verbose everything.
func (a *app) logger() *slog.Logger {
	level := slog.LevelWarn
	if a.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, at slog.Attr) slog.Attr {
		if at.Key == slog.TimeKey && len(groups) == 0 && !a.verbose {
			return slog.Attr{}
		}
		return at
	}}))
}

// style of reports on stdout.
func (a *app) style(f *os.File) report.Style {
	st := report.Style{}
	if f == nil {
		return st
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil {
		st.Width = w
	}
	_, no := a.environ("NO_COLOR")
	kind, _ := a.environ("TERM")
	st.Color = !no && kind != "dumb"
	return st
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	rev, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if rev == "" {
		return "devel"
	}
	return "devel-" + rev[:min(12, len(rev))] + dirty
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Say which version this is", Example: "  evalengine version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.writeJSON(map[string]string{"version": version()})
			}
			_, err := fmt.Fprintln(a.out, "evalengine", version())
			return err
		},
	}
}
