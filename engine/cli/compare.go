package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

// compareFlags are those of every command that compares.
type compareFlags struct {
	engine.CompareOptions
	output string
}

func (f *compareFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Float64Var(&f.Level, "level", 0.95, "level of intervals; 1 less it is that of tests")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of what is drawn at random")
	fl.StringArrayVar(&f.Gates, "gate", nil, "let scores and efforts whose names match this glob gate as well (repeatable)")
	fl.StringVarP(&f.output, "output", "o", "", "also write the answer to this file; the ending chooses the format (.md, .json, .txt)")
}

func (f *compareFlags) addSelection(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.Selection.Stories, "story", nil, "only stories that match this glob (repeatable)")
	fl.StringArrayVar(&f.Selection.Hosts, "host", nil, "only hosts that match this glob (repeatable)")
	fl.StringArrayVar(&f.Selection.Variants, "variant", nil, "only variants that match this glob (repeatable)")
}

func (f *compareFlags) check() error {
	if !(f.Level >= 0.5 && f.Level < 1) {
		return fmt.Errorf("--level %v: give one from 0.5 to below 1, such as 0.95", f.Level)
	}
	if f.Seed == 0 || f.Seed > math.MaxUint32 {
		return fmt.Errorf("--seed %d: give a number from 1 to %d", f.Seed, uint32(math.MaxUint32))
	}
	return nil
}

type comparisonFlags struct {
	compareFlags
	failOn []string
}

func (a *app) compareCommand() *cobra.Command {
	f := &comparisonFlags{}
	cmd := &cobra.Command{
		Use:   "compare BASE HEAD | compare RUN --by host|variant",
		Short: "Hold two runs, or two hosts or variants of one, against each other",
		Long: `Hold the trials of two stored runs, or of two hosts or variants of one run, against
each other: paired by story, each quantity by itself, with its interval, the test and
why that one, and a verdict: regressed, improved, no evidence or insufficient data. What
else differs between the sides is said too. Nothing is run and nothing is changed.

A comparison is an answer, so its exit code is 0 whatever it says. With --fail-on
regressed it is 1 where a gate regressed, and 3 where there was too little data for each
of them; with --fail-on vanished it is 1 where head lacks a story that base has. A run of which a file cannot be read is not compared: 3.`,
		Example: "  evalengine compare latest --by variant --fail-on regressed",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.compare(a, cmd, args) },
	}
	f.add(cmd)
	f.addSelection(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.By, "by", "", "compare two hosts or variants of one run: host or variant")
	fl.StringVar(&f.Base, "base", "", "with --by: the host or variant to compare with")
	fl.StringVar(&f.Head, "head", "", "with --by: the host or variant that is compared")
	fl.BoolVar(&f.Force, "force", false, "compare also scores whose scorer, parameters or model changed; the answer says which")
	fl.StringSliceVar(&f.failOn, "fail-on", nil, "what ends with a code other than 0: regressed, vanished (repeatable)")
	return cmd
}

func (f *comparisonFlags) compare(a *app, cmd *cobra.Command, args []string) error {
	if err := f.checkArgs(args); err != nil {
		return err
	}
	write, err := fileWriter(f.output, comparisonFormats)
	if err != nil {
		return err
	}
	if f.Store, err = engine.OpenStore(a.store); err != nil {
		return err
	}
	e, err := a.engine(1)
	if err != nil {
		return err
	}
	defer e.Close()
	head := ""
	if len(args) == 2 {
		head = args[1]
	}
	c, err := e.Compare(cmd.Context(), args[0], head, f.CompareOptions)
	if err != nil {
		return comparisonError(err)
	}
	if a.json {
		err = a.writeJSON(c)
	} else {
		report.Comparison(a.out, c, a.style(a.outFile))
	}
	if err == nil {
		err = write(c)
	}
	if err != nil {
		return &exitError{code: exitIncomplete, err: err}
	}
	return f.exit(c)
}

func (f *comparisonFlags) checkArgs(args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	switch {
	case slices.ContainsFunc(f.failOn, func(s string) bool { return s != failRegressed && s != failVanished }):
		return fmt.Errorf("--fail-on %s: it takes regressed and vanished", strings.Join(f.failOn, ","))
	case f.By != "" && f.By != "host" && f.By != "variant":
		return fmt.Errorf("--by %q: it takes host or variant", f.By)
	case f.By != "" && len(args) != 1:
		return fmt.Errorf("--by %s compares within one run, and %d are given: write: evalengine compare RUN --by %s", f.By, len(args), f.By)
	case f.By == "" && (f.Base != "" || f.Head != ""):
		return errors.New("--base and --head are for --by host and --by variant")
	case f.By == "" && len(args) != 2:
		return fmt.Errorf("two runs are compared, and %s given: write: evalengine compare BASE HEAD, or RUN --by host or variant", report.Count(len(args), "is", "are"))
	}
	return nil
}

// What --fail-on takes.
const (
	failRegressed = "regressed"
	failVanished  = "vanished"
)

// exit is the code of what was asked for: a story that is gone, then the verdict.
func (f *comparisonFlags) exit(c *eval.Comparison) error {
	gone := slices.ContainsFunc(c.Unpaired, func(u eval.Unpaired) bool { return u.Whole && u.Side == "base" })
	regressed := slices.Contains(f.failOn, failRegressed)
	switch {
	case slices.Contains(f.failOn, failVanished) && gone, regressed && c.Verdict == eval.Regressed:
		return &exitError{code: exitFailed}
	case regressed && c.Verdict == eval.InsufficientData:
		return &exitError{code: exitIncomplete}
	}
	return nil
}

// comparisonError gives an error its code: what is wrong with a run's files, or too
// little of them, is no mistake in the command.
func comparisonError(err error) error {
	if errors.Is(err, engine.ErrDamaged) || errors.Is(err, engine.ErrTooFew) {
		return &exitError{code: exitIncomplete, err: err}
	}
	return err
}

// comparisonFormats write a comparison by the ending of a file's name.
var comparisonFormats = map[string]func(io.Writer, *eval.Comparison) error{
	".json": indented[*eval.Comparison],
	".md": func(w io.Writer, c *eval.Comparison) error {
		report.ComparisonMarkdown(w, c)
		return nil
	},
	".txt": func(w io.Writer, c *eval.Comparison) error {
		report.Comparison(w, c, report.Style{})
		return nil
	},
}

func indented[T any](w io.Writer, v T) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// orList is a list of two or more as a sentence has it.
func orList(list []string) string {
	n := len(list) - 1
	return strings.Join(list[:n], ", ") + " or " + list[n]
}

// fileWriter returns what writes an answer to the file of -o, or nothing where there
// is none. What is wrong with the name is told before anything is done.
func fileWriter[T any](file string, formats map[string]func(io.Writer, T) error) (func(T) error, error) {
	if file == "" {
		return func(T) error { return nil }, nil
	}
	format, ok := formats[strings.ToLower(filepath.Ext(file))]
	if !ok {
		return nil, fmt.Errorf("-o %s: the ending chooses the format: %s", file, orList(slices.Sorted(maps.Keys(formats))))
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("-o %s: there is no folder %s", file, filepath.Dir(file))
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return nil, fmt.Errorf("-o %s: it is a folder", file)
	}
	return func(v T) error {
		var b bytes.Buffer
		if err := format(&b, v); err != nil {
			return err
		}
		return os.WriteFile(file, b.Bytes(), 0o644)
	}, nil
}
