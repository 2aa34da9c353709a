package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/report"
	"github.com/evalengine/evalengine/engine/internal/summary"
)

type reportFlags struct {
	format, output string
	verify         bool
	passK          int
}

func (a *app) reportCommand() *cobra.Command {
	f := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Write a run's report: Markdown, HTML, JSON, JUnit or CSV",
		Long: `Write the report of a stored run, the latest by default. It is made from the records
anew: nothing is run and nothing is changed. Without --output it goes to stdout.

Exit codes: 0 written, 2 usage error, 3 written, and files of the run are missing or
cannot be read: the report names them.`,
		Example: "  evalengine report latest -o report.html",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("pass-k") && f.passK < 1 {
				return fmt.Errorf("--pass-k %d: give a number from 1", f.passK)
			}
			return f.report(a, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "", "md, html, json, junit, csv or txt (default: as the ending of --output says, else md)")
	fl.StringVarP(&f.output, "output", "o", "", "write to this file; an HTML report has small pictures of pages in a folder beside it")
	fl.IntVar(&f.passK, "pass-k", 0, passKUsage)
	fl.BoolVar(&f.verify, "verify", false, "hold every file of the trials against the sum in its record")
	return cmd
}

func (f *reportFlags) report(a *app, args []string) error {
	out, err := f.target(a.json)
	if err != nil {
		return err
	}
	store, err := engine.OpenStore(a.store)
	if err != nil {
		return err
	}
	name := "latest"
	if len(args) > 0 {
		name = args[0]
	}
	if name == "" {
		return errors.New("report: the run's name is empty; leave it out for the latest run")
	}
	run, err := store.Run(name)
	if err != nil {
		return runError(err)
	}
	d := readDocument(run, f.passK, f.verify)
	if err := out.write(a.out, run, d); err != nil {
		return &exitError{code: exitIncomplete, err: err}
	}
	return a.damage(d)
}

// runError tells a run that is not there from one that cannot be read.
func runError(err error) error {
	if errors.Is(err, ledger.ErrNoRun) {
		return err
	}
	return &exitError{code: exitIncomplete, err: err}
}

// target is where the report goes and how it is written.
func (f *reportFlags) target(jsonOut bool) (*output, error) {
	format := report.Format(f.format)
	switch {
	case f.format == "" && f.output == "" && jsonOut:
		format = report.FormatJSON
	case f.format == "" && f.output == "":
		format = report.FormatMarkdown
	case jsonOut && f.output == "" && format != report.FormatJSON:
		return nil, fmt.Errorf("--json and --format %s: stdout can hold one of them; give --output FILE", f.format)
	}
	if format != "" && !slices.Contains(report.Formats(), format) {
		return nil, fmt.Errorf("--format %s: there are md, html, json, junit, csv and txt", f.format)
	}
	return newOutput(f.output, format)
}

// damage says on stderr what of a run is missing.
func (a *app) damage(d *report.Document) error {
	if len(d.Damage) == 0 {
		return nil
	}
	for _, what := range d.Damage {
		fmt.Fprintln(a.err, "evalengine:", report.Line(what, 500))
	}
	if d.MoreDamage > 0 {
		fmt.Fprintf(a.err, "evalengine: and %d more\n", d.MoreDamage)
	}
	return &exitError{code: exitIncomplete}
}

// readDocument reads a run's records once, one after the other.
func readDocument(run *ledger.Run, passK int, verify bool) *report.Document {
	d := report.NewDocument(&run.Info)
	fold := summary.Fold{K: passK}
	for _, t := range run.Info.Trials {
		fold.Expect(t)
	}
	seen := map[string]bool{}
	last := run.Info.StartedAt
	for rec, err := range run.Records() {
		if err != nil {
			d.AddDamage(inRun(run, err.Error()))
			continue
		}
		seen[rec.ID] = true
		fold.Add(rec)
		d.Add(rec)
		if rec.Timings.FinishedAt.After(last) {
			last = rec.Timings.FinishedAt
		}
		checkFiles(run, rec, d, verify)
	}
	checkTrials(run, seen, d)
	ended, err := run.Summary()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.AddDamage(inRun(run, err.Error()))
	}
	if err == nil {
		last = ended.FinishedAt
	}
	d.Summary = fold.Summary(&run.Info, last, err == nil && ended.Completion == eval.RunInterrupted)
	d.Summary.Schema = ledger.SchemaVersion
	if err == nil {
		d.Summary.Stopped, d.Summary.StopReason = ended.Stopped, ended.StopReason
	}
	return d
}

// inRun is a message with paths as they are from the run's folder.
func inRun(run *ledger.Run, text string) string {
	return strings.ReplaceAll(text, run.Dir()+string(filepath.Separator), "")
}

// checkTrials tells of trials that have a folder and no record in it.
func checkTrials(run *ledger.Run, seen map[string]bool, d *report.Document) {
	for _, t := range run.Info.Trials {
		id := t.ID()
		if seen[id] || run.Recorded(id) {
			continue
		}
		if _, err := os.Stat(run.TrialDir(id)); err == nil {
			d.AddDamage(path.Join("trials", id, "trial.json") + ": it is missing")
		}
	}
}

// checkFiles tells of files of a trial that are not there, or not as they were.
func checkFiles(run *ledger.Run, rec *eval.Record, d *report.Document, verify bool) {
	dir := run.TrialDir(rec.ID)
	for name := range rec.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			d.AddDamage(path.Join("trials", rec.ID, "trial.json") + ": it names a file outside of the trial")
			return
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			d.AddDamage(path.Join("trials", rec.ID, name) + ": it is missing")
			return
		}
	}
	if !verify {
		return
	}
	if err := ledger.Verify(dir, rec); err != nil {
		d.AddDamage(inRun(run, err.Error()))
	}
}

// thumbnails puts small pictures of the pages into a folder beside the report. A
// picture that cannot be read is one of the run's damaged files.
func thumbnails(run *ledger.Run, d *report.Document, file string) error {
	base := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".files"
	dir := filepath.Join(filepath.Dir(file), base)
	for i := range d.Pages {
		p := &d.Pages[i]
		if p.File == "" {
			continue
		}
		id := p.Trial.ID()
		small, err := thumbnail(run.TrialDir(id), p.File)
		if err != nil {
			d.AddDamage(path.Join("trials", id, "pages", path.Base(p.File)) + ": " + inRun(run, err.Error()))
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		name := fmt.Sprintf("%03d.jpg", i+1)
		if err := os.WriteFile(filepath.Join(dir, name), small, 0o644); err != nil {
			return err
		}
		p.Thumb = base + "/" + name
	}
	return nil
}

// maxPicture bounds what is read of one picture.
const maxPicture = 64 << 20

func thumbnail(dir, name string) ([]byte, error) {
	if path.Base(name) != name || !filepath.IsLocal(name) {
		return nil, errors.New("it is no name of a picture")
	}
	f, err := ledger.OpenFile(dir, "pages/"+name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it is missing")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, maxPicture)); err != nil {
		return nil, err
	}
	return report.Thumbnail(b.Bytes())
}
