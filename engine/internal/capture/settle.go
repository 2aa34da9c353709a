package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"github.com/evalengine/evalengine/engine/eval"
)

const (
	// calm is how long a page must have asked for nothing when it is taken. The
	// time that the pictures take counts.
	calm = 150 * time.Millisecond
	// timersLimit is how long timers that the page has set are waited for.
	timersLimit = 2 * time.Second
	// poll is how often the network is looked at.
	poll = 10 * time.Millisecond
)

// settle waits until the page is there: loaded, scrolled through once, with what
// the capture waits for. It gives up at the tab's deadline and says what was
// missing.
func (t *tab) settle(ctx context.Context, first bool) error {
	if first {
		if err := t.load(ctx); err != nil {
			return err
		}
		if err := t.awaited(ctx); err != nil {
			return err
		}
	} else {
		t.by = time.Now().Add(min(settleLimit, t.job.Timeout/2))
	}
	if _, err := t.rest(ctx, 2*time.Second); err != nil {
		return err
	}
	if t.job.FirstScreen {
		return nil
	}
	return t.scroll(ctx)
}

// load waits for the load event.
func (t *tab) load(ctx context.Context) error {
	timer := time.NewTimer(time.Until(t.by))
	defer timer.Stop()
	for {
		t.w.mu.Lock()
		loaded := t.w.loaded
		t.w.mu.Unlock()
		if loaded {
			t.timersBy = time.Now().Add(timersLimit)
			return nil
		}
		select {
		case <-t.w.changed:
		case <-timer.C:
			t.unsettled("the page had not loaded: %s", list(t.w.underWay(), "its script was still running"))
			if t.w.gone() {
				return errBusy
			}
			return t.interrupt(ctx)
		case <-t.s.gone:
			return errGone
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// interrupt stops a script that does not end, so that the page can be looked at.
func (t *tab) interrupt(ctx context.Context) error {
	answers := func() bool {
		quick, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := do(quick, t.s, runtime.Evaluate, runtime.EvaluateParams{Expression: "0"})
		return err == nil
	}
	if answers() {
		return nil
	}
	for range 3 {
		quick, cancel := context.WithTimeout(ctx, time.Second)
		do(quick, t.s, runtime.TerminateExecution, cdp.Empty{})
		cancel()
		if answers() {
			t.unsettled("a script of the page did not end; it was stopped")
			return nil
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errBusy
}

// awaited waits for the capture's selector.
func (t *tab) awaited(ctx context.Context) error {
	if t.job.WaitFor == "" {
		return nil
	}
	sel, _ := json.Marshal(t.job.WaitFor)
	for {
		there, err := call[bool](ctx, t, 0, fmt.Sprintf("has(%s)", sel))
		if err != nil {
			return err
		}
		if there {
			return nil
		}
		if time.Now().After(t.by) {
			t.unsettled("nothing on the page matches %q, which it was to be waited for", t.job.WaitFor)
			return nil
		}
		if err := sleep(ctx, t.s, 5*poll); err != nil {
			return err
		}
	}
}

// state is what the engine's script says of the page.
type state struct {
	Open   []string
	Height int
	Width  int
}

// rest waits until the network is quiet and the page's fonts and pictures are
// there.
func (t *tab) rest(ctx context.Context, limit time.Duration) (state, error) {
	hide, _ := json.Marshal(append([]string{}, t.job.Hide...))
	by := time.Now().Add(limit)
	if t.by.Before(by) {
		by = t.by
	}
	for {
		ticking := t.ticking(ctx)
		st, err := call[state](ctx, t, time.Until(by), fmt.Sprintf("rest(%s, %d)", hide, max(0, time.Until(by).Milliseconds())))
		still := ticking()
		if err != nil {
			return st, err
		}
		if len(st.Open) == 0 && t.w.quiet() > 0 && !still || time.Now().After(by) {
			return st, nil
		}
		if err := sleep(ctx, t.s, poll); err != nil {
			return st, err
		}
	}
}

// ticking asks whether the page has set timers that are about to fire; the answer
// is there when what it returns is called.
func (t *tab) ticking(ctx context.Context) func() bool {
	if time.Now().After(t.timersBy) {
		return func() bool { return false }
	}
	ctx, cancel := context.WithDeadline(ctx, t.timersBy)
	yes := true
	answer := start(ctx, t.s, runtime.Evaluate, runtime.EvaluateParams{Expression: fmt.Sprintf("self[%q]?.()", t.key), ReturnByValue: &yes})
	return func() bool {
		defer cancel()
		res, err := answer()
		var n float64
		return err == nil && res.Result != nil && decode(res.Result.Value, &n) && n > 0
	}
}

// scroll shows every part of the page once, for what comes only when it is seen.
func (t *tab) scroll(ctx context.Context) error {
	high, grown := t.job.heights()
	type answer struct {
		Height, First int
		Cut           string
	}
	takes := max(time.Second, time.Until(t.by))
	a, err := call[answer](ctx, t, takes, fmt.Sprintf("scrollThrough(%d, %d, %d)", high, grown, takes.Milliseconds()))
	if err != nil {
		return err
	}
	switch a.Cut {
	case "grows":
		t.unsettled("the page grows as it is scrolled: from %d px to %d px, where it was left; it is taken to %d px", a.First, a.Height, min(a.Height, grown))
	case "slow":
		t.unsettled("the page was not scrolled to its end in time: it is %d px high", a.Height)
	}
	t.page.Unsettled = dedupe(t.page.Unsettled)
	if a.Cut == "grows" {
		t.job.MaxHeight = grown
	}
	return nil
}

// look is a page as it was at one moment.
type look struct {
	height   int
	strips   []strip
	pictures [][]byte
	doc      document
}

// still takes pictures until two in sequence are equal and nothing was asked for
// meanwhile. What does not come to rest is taken as it is, with what moved. The
// document is taken along with the second, unless it is so large that the page would
// have no time for both.
func (t *tab) still(ctx context.Context, v eval.Viewport, first bool) (look, error) {
	var last look
	for n := 0; ; n++ {
		st, err := t.rest(ctx, time.Until(t.by))
		if err != nil {
			return last, err
		}
		now := look{height: st.Height, strips: t.strips(st.Height, v)}
		with := func() error { return nil }
		if first && n > 0 && t.elements <= maxSearched {
			with = t.along(ctx, &now)
		}
		now.pictures, err = t.shootAll(ctx, v.Width, now.strips)
		if werr := with(); err == nil {
			err = werr
		}
		if err != nil {
			return now, err
		}
		done := false
		if n > 0 {
			if done, err = t.done(ctx, st, &last, &now); err != nil {
				return now, err
			}
		}
		if done {
			return now, t.rendered(ctx, first, &now)
		}
		last = now
	}
}

// rendered puts the document into the page, taken now if it was not before.
func (t *tab) rendered(ctx context.Context, first bool, l *look) error {
	if !first {
		return nil
	}
	if t.elements > maxSearched {
		var err error
		if l.doc, err = t.document(ctx); err != nil {
			return err
		}
	}
	t.keep(l.doc)
	return nil
}

// along takes the document while the pictures are taken: other processes draw them.
func (t *tab) along(ctx context.Context, l *look) func() error {
	err := make(chan error, 1)
	go func() {
		var derr error
		l.doc, derr = t.document(ctx)
		err <- derr
	}()
	return func() error { return <-err }
}

// done reports whether the page is at rest, or its time over, and notes what is not.
func (t *tab) done(ctx context.Context, st state, last, now *look) (bool, error) {
	late := time.Now().After(t.by)
	changes := t.moved(ctx, last, now)
	if !late && (changes != "" || len(st.Open) > 0) {
		return false, nil
	}
	for !late {
		q := t.w.quiet()
		if q >= calm {
			break
		}
		if q == 0 {
			return false, nil
		}
		if err := sleep(ctx, t.s, calm-q); err != nil {
			return false, err
		}
	}
	t.finish(ctx, st, *now, changes)
	return true, nil
}

// strips are the parts that are taken.
func (t *tab) strips(height int, v eval.Viewport) []strip {
	high, _ := t.job.heights()
	height = max(height, v.Height)
	if t.job.FirstScreen {
		height = v.Height
	}
	side := t.side
	if side <= 0 {
		side = tileSide
	}
	return strips(min(height, high), t.job.Scale, side)
}

// moved says what two takes do not agree on.
func (t *tab) moved(ctx context.Context, a, b *look) string {
	if a.height != b.height {
		return fmt.Sprintf("the page's height changes: %d px, then %d px", a.height, b.height)
	}
	r, ok := differs(b.strips, t.job.Scale, a.pictures, b.pictures)
	if !ok {
		return ""
	}
	mid := r.Min.Add(r.Max).Div(2)
	name, _ := call[string](ctx, t, 0, fmt.Sprintf("at(%d, %d)", mid.X, mid.Y))
	if name == "" {
		name = "unknown"
	}
	return fmt.Sprintf("the picture still changes at %d,%d (%dx%d px): %s", r.Min.X, r.Min.Y, r.Dx(), r.Dy(), name)
}

// finish notes what was not at rest and what lies over the page.
func (t *tab) finish(ctx context.Context, st state, now look, moved string) {
	if moved != "" {
		t.unsettled("%s", moved)
	}
	for _, o := range st.Open {
		t.unsettled("%s", o)
	}
	if w := t.w.underWay(); len(w) > 0 {
		t.unsettled("still loading: %s", list(w, ""))
	}
	high, _ := t.job.heights()
	if now.height > high && !t.job.FirstScreen {
		t.unsettled("the page is %d px high; it is taken to %d px", now.height, high)
	}
	t.page.Unsettled = dedupe(t.page.Unsettled)
}

// layer is what lies over the page.
type layer struct {
	Name, Text string
	Share      int
	Consent    bool
}

// list joins the first of many.
func list(l []string, none string) string {
	if len(l) == 0 {
		return none
	}
	more := ""
	if len(l) > 5 {
		more = fmt.Sprintf(" and %d more", len(l)-5)
		l = l[:5]
	}
	return strings.Join(l, ", ") + more
}

func dedupe(l []string) []string {
	seen := map[string]bool{}
	out := l[:0]
	for _, s := range l {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// sleep waits, unless the page or the context ends.
func sleep(ctx context.Context, s *session, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.gone:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}
