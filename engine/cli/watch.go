package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

// maxProblems bounds how many problems a watcher keeps for the summary.
const maxProblems = 1000

// refresh is how often the live view is drawn again.
const refresh = 200 * time.Millisecond

// watcher shows a run while it goes on: on a terminal what each agent does now,
// elsewhere a line for each trial that ended.
type watcher struct {
	a     *app
	out   io.Writer
	tty   *os.File
	style report.Style
	quiet bool
	total int
	begun time.Time

	mu       sync.Mutex
	active   []*active
	tally    eval.Tally
	spent    float64
	trouble  []report.Problem
	lines    int
	finished chan struct{}
	drawn    sync.WaitGroup
}

// active is a trial under way.
type active struct {
	trial   eval.Trial
	attempt int
	text    string
	cost    *float64
	since   time.Time
}

func (a *app) watch(total, jobs int) *watcher {
	w := &watcher{a: a, out: a.err, total: total, begun: time.Now(), quiet: a.noProgress, finished: make(chan struct{})}
	_, ci := a.environ("CI")
	if a.errFile != nil && !ci {
		w.tty = a.errFile
	}
	w.style = a.style(w.tty)
	return w
}

// start is told when the run's folder is there.
func (w *watcher) start(run eval.Run, dir string) {
	if w.quiet {
		return
	}
	fmt.Fprintf(w.out, "run %s: %s, records in %s\n", run.ID, report.Count(w.total, "trial", "trials"), relative(dir))
	if w.tty == nil {
		return
	}
	w.drawn.Go(func() {
		tick := time.NewTicker(refresh)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.draw()
			case <-w.finished:
				return
			}
		}
	})
}

// stop ends the live view and leaves nothing of it.
func (w *watcher) stop() {
	close(w.finished)
	w.drawn.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tty != nil {
		w.erase()
	}
}

func (w *watcher) problems() []report.Problem {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.trouble, func(a, b report.Problem) int { return a.Trial.Repeat - b.Trial.Repeat })
	return w.trouble
}

func (w *watcher) observe(e engine.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case engine.TrialStarted:
		w.active = append(w.active, &active{trial: e.Trial, attempt: 1, since: time.Now()})
	case engine.TrialFinished:
		w.done(e.Record)
	case engine.TrialRetrying:
		w.set(e)
		if !w.quiet && w.tty == nil {
			fmt.Fprintf(w.out, "~ %s  attempt %d: %s\n", e.Trial.ID(), e.Attempt, report.Line(e.Text, 160))
		}
	default:
		w.set(e)
	}
}

func (w *watcher) set(e engine.Event) {
	for _, t := range w.active {
		if t.trial == e.Trial {
			if e.Attempt != t.attempt {
				t.cost = nil
			}
			t.text, t.attempt = e.Text, e.Attempt
			if e.CostUSD != nil {
				t.cost = e.CostUSD
			}
		}
	}
}

func (w *watcher) done(r *eval.Record) {
	w.active = slices.DeleteFunc(w.active, func(t *active) bool { return t.trial == r.Trial })
	w.tally.Total++
	switch r.Status {
	case eval.StatusPassed:
		w.tally.Passed++
	case eval.StatusFailed:
		w.tally.Failed++
	case eval.StatusErrored:
		w.tally.Errored++
	case eval.StatusSkipped:
		w.tally.Skipped++
	}
	for _, at := range r.Attempts {
		if at.Usage.CostUSD != nil {
			w.spent += *at.Usage.CostUSD
		}
	}
	if p, ok := report.ProblemOf(r); ok && len(w.trouble) < maxProblems {
		w.trouble = append(w.trouble, p)
	}
	if w.quiet {
		return
	}
	if w.tty != nil {
		w.erase()
	}
	fmt.Fprintln(w.out, report.TrialLine(r, w.style))
}

// erase takes the live lines off the terminal. The cursor is below them.
func (w *watcher) erase() {
	if w.lines > 0 {
		fmt.Fprintf(w.out, "\x1b[%dA\x1b[J", w.lines)
		w.lines = 0
	}
}

// draw writes the live lines: one for each trial under way, as many as fit, and
// one for the whole run.
func (w *watcher) draw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	width, height, err := term.GetSize(int(w.tty.Fd()))
	if err != nil || width < 20 {
		width, height = 80, 24
	}
	var b strings.Builder
	rows := min(len(w.active), max(1, height-3))
	for _, t := range w.active[:rows] {
		text := fmt.Sprintf("  %s %6s  %s", t.trial.ID(), report.Duration(time.Since(t.since)), t.text)
		if t.cost != nil {
			text += fmt.Sprintf("  $%.4f", *t.cost)
		}
		if t.attempt > 1 {
			text += fmt.Sprintf(" (attempt %d)", t.attempt)
		}
		b.WriteString(report.Line(text, width-1) + "\n")
	}
	whole := fmt.Sprintf("%d/%d  %d passed, %d failed, %d errored  %s", w.tally.Total, w.total,
		w.tally.Passed, w.tally.Failed, w.tally.Errored, report.Duration(time.Since(w.begun)))
	if w.spent > 0 {
		whole += fmt.Sprintf("  $%.2f", w.spent)
	}
	b.WriteString(report.Line(whole, width-1) + "\n")
	w.erase()
	fmt.Fprint(w.out, b.String())
	w.lines = rows + 1
}
