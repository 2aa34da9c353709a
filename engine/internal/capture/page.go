package capture

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/evalengine/evalengine/engine/eval"
)

//go:embed page.js
var script string

//go:embed timers.js
var timers string

// maxHTML bounds the rendered document.
const maxHTML = 16 << 20

// tab is one page in a browser context of its own.
type tab struct {
	in    *instance
	proxy *proxy
	w     *watch
	s     *session
	bc    cdp.BrowserContextID
	id    target.ID
	world runtime.ExecutionContextID
	// key is the name under which the page's timers are counted; timersBy is until
	// when they are waited for.
	key      string
	timersBy time.Time

	job  *Job
	page *eval.Page
	side int
	// by is when the page has to have come to rest.
	by time.Time
	// elements is how many the document has.
	elements int
}

// take takes one page. What was seen until an error is in the page all the same.
// The caller must dispose the tab, which may be nil.
func (b *Browser) take(ctx context.Context, in *instance, j *Job, p *eval.Page) (*tab, error) {
	ctx, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	t, err := in.tab(ctx)
	if err != nil {
		return nil, late(err, j)
	}
	t.job, t.page, t.by, t.side = j, p, time.Now().Add(min(settleLimit, j.Timeout/2)), b.o.TileSide
	err = t.take(ctx)
	t.w.report(p)
	return t, late(err, j)
}

// late says of an error that it is the job's time that ended.
func late(err error, j *Job) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the page could not be taken within %v: %w", j.Timeout, err)
	}
	return err
}

func (t *tab) take(ctx context.Context) error {
	a := t.job.allow()
	t.proxy.let(a)
	t.w.let(a)
	if err := t.resize(ctx, t.job.Viewports[0]); err != nil {
		return err
	}
	if err := t.navigate(ctx); err != nil {
		return err
	}
	for i, v := range t.job.Viewports {
		if i > 0 {
			if err := t.resize(ctx, v); err != nil {
				return err
			}
		}
		if err := t.view(ctx, i, v); err != nil {
			return err
		}
	}
	return nil
}

func (t *tab) metrics(v eval.Viewport) emulation.SetDeviceMetricsOverrideParams {
	return emulation.SetDeviceMetricsOverrideParams{Width: int64(v.Width), Height: int64(v.Height), DeviceScaleFactor: t.job.Scale,
		ScreenWidth: int64(v.Width), ScreenHeight: int64(v.Height)}
}

func (t *tab) resize(ctx context.Context, v eval.Viewport) error {
	_, err := do(ctx, t.s, emulation.SetDeviceMetricsOverride, t.metrics(v))
	return err
}

func (t *tab) navigate(ctx context.Context) error {
	res, err := do(ctx, t.s, page.Navigate, page.NavigateParams{URL: t.job.URL})
	if err != nil {
		return err
	}
	t.w.mu.Lock()
	fatal := t.w.fatal
	t.w.mu.Unlock()
	switch {
	case res.IsDownload:
		return errors.New("the address is a download, not a page")
	case fatal != "":
		return errors.New(fatal)
	case res.ErrorText != "":
		return errors.New(res.ErrorText)
	}
	return nil
}

// view lets the page come to rest at one viewport and takes it. The first view
// also yields what does not depend on the window.
func (t *tab) view(ctx context.Context, i int, v eval.Viewport) error {
	if err := t.settle(ctx, i == 0); err != nil {
		return err
	}
	if i == 0 {
		if err := t.expected(ctx); err != nil {
			return err
		}
	}
	shot, err := t.still(ctx, v)
	if err != nil {
		return err
	}
	name := t.job.Name
	if len(t.job.Viewports) > 1 {
		name = fmt.Sprintf("%s.%dx%d", name, v.Width, v.Height)
	}
	out := eval.Shot{Viewport: v, Scale: t.job.Scale, Height: shot.height}
	if out.Tiles, out.Covered, err = tiles(shot.strips, shot.pictures, name); err != nil {
		return err
	}
	t.page.Shots = append(t.page.Shots, out)
	if i == 0 {
		return t.document(ctx)
	}
	return nil
}

// expected checks that this is the right page.
func (t *tab) expected(ctx context.Context) error {
	t.w.mu.Lock()
	fatal := t.w.fatal
	t.w.mu.Unlock()
	if fatal != "" {
		return errors.New(fatal)
	}
	f, err := call[facts](ctx, t, "facts()")
	if err != nil {
		return err
	}
	t.page.Title, t.page.FinalURL, t.elements = f.Title, cut(f.URL), f.Elements
	if g := t.job.ExpectURL; g != "" && !eval.Glob(g, f.URL) {
		return fmt.Errorf("not the expected page: its address is %s, expected %s", cut(f.URL), g)
	}
	x := t.job.ExpectText
	if x == "" {
		return nil
	}
	text, _ := json.Marshal(x)
	says, err := call[bool](ctx, t, fmt.Sprintf("says(%s)", text))
	if err == nil && !says {
		err = fmt.Errorf("not the expected page: the text %q is not on it; its title is %q, its address %s", x, f.Title, cut(f.URL))
	}
	return err
}

type facts struct {
	Title, URL string
	Elements   int
}

// document takes the rendered HTML and the accessibility tree.
func (t *tab) document(ctx context.Context) error {
	type answer struct {
		HTML, Cut string
		Hidden    int
	}
	ax := make(chan error, 1)
	go func() {
		tree, cut, err := accessibilityTree(ctx, t.s)
		t.page.Accessibility = tree
		if cut && err == nil {
			err = errCutTree
		}
		ax <- err
	}()
	t.closedRoots(ctx, t.elements)
	a, err := call[answer](ctx, t, fmt.Sprintf("html(%d, 5000)", maxHTML))
	axErr := <-ax
	if err != nil {
		return err
	}
	switch {
	case errors.Is(axErr, errGone), errors.Is(axErr, context.DeadlineExceeded):
		return axErr
	case axErr != nil:
		t.unsettled("the accessibility tree is incomplete: %v", axErr)
	}
	html := a.HTML
	if len(html) > maxHTML {
		html, a.Cut = strings.ToValidUTF8(html[:maxHTML], ""), "size"
	}
	if a.Cut != "" {
		html += "\n<!-- cut: " + a.Cut + " -->"
		t.unsettled("the rendered HTML is cut (%s) after %d bytes", a.Cut, len(html))
	}
	t.page.HTML = []byte(html)
	return nil
}

var errCutTree = fmt.Errorf("it has more than %d nodes", maxNodes)

func (t *tab) unsettled(format string, args ...any) {
	if len(t.page.Unsettled) < 50 {
		t.page.Unsettled = append(t.page.Unsettled, cut(fmt.Sprintf(format, args...)))
	}
}

// evalLimit is how long a page may keep the engine's script waiting beyond what
// that asks for.
const evalLimit = 5 * time.Second

// call evaluates an expression of the engine's script. A page that went elsewhere
// meanwhile gets the script anew, one whose own script does not end is stopped
// once.
func call[R any](ctx context.Context, t *tab, expr string) (R, error) {
	var r R
	var err error
	for range 5 {
		if t.world == 0 {
			err = t.enter(ctx)
		}
		if err == nil {
			r, err = evaluate[R](ctx, t, "evalengine."+expr)
		}
		if err == nil || ctx.Err() != nil || errors.Is(err, errGone) || errors.Is(err, errBusy) {
			return r, err
		}
		t.world = 0
	}
	return r, err
}

func (t *tab) enter(ctx context.Context) error {
	w, err := do(ctx, t.s, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: t.w.frame, WorldName: "evalengine"})
	if err != nil {
		return err
	}
	t.world = w.ExecutionContextID
	_, err = evaluate[any](ctx, t, script+";0")
	return err
}

// errBusy is returned where the page's own script keeps the page for itself.
var errBusy = errors.New("a script of the page does not end")

func evaluate[R any](ctx context.Context, t *tab, expr string) (R, error) {
	var r R
	yes := true
	limit, cancel := context.WithTimeout(ctx, evalLimit+time.Until(t.by).Abs())
	defer cancel()
	res, err := do(limit, t.s, runtime.Evaluate, runtime.EvaluateParams{Expression: expr, ContextID: t.world, ReturnByValue: &yes, AwaitPromise: &yes})
	if err != nil && ctx.Err() == nil && limit.Err() != nil {
		return r, errBusy
	}
	if err != nil {
		return r, err
	}
	if d := res.ExceptionDetails; d != nil {
		text := d.Text
		if d.Exception != nil {
			text = d.Exception.Description
		}
		return r, fmt.Errorf("in the page: %s", cut(text))
	}
	if res.Result == nil || len(res.Result.Value) == 0 {
		return r, nil
	}
	return r, json.Unmarshal(res.Result.Value, &r)
}
