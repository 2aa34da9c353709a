package capture

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
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

// maxHTML bounds the rendered document, scriptLimit the time to write it.
const (
	maxHTML     = 16 << 20
	scriptLimit = 5 * time.Second
)

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
	mu   sync.Mutex // guards the page's Unsettled
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
	if err != nil {
		err = t.w.restless(err)
	}
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
	resized := t.resize(ctx, t.job.Viewports[0])
	if err := t.navigate(ctx); err != nil {
		return err
	}
	if err := resized(); err != nil {
		return err
	}
	for i, v := range t.job.Viewports {
		if i > 0 {
			if err := t.resize(ctx, v)(); err != nil {
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

func (t *tab) resize(ctx context.Context, v eval.Viewport) func() error {
	return later(start(ctx, t.s, emulation.SetDeviceMetricsOverride, t.metrics(v)))
}

func (t *tab) navigate(ctx context.Context) error {
	res, err := do(ctx, t.s, page.Navigate, page.NavigateParams{URL: t.job.URL})
	if err != nil {
		return err
	}
	t.w.mu.Lock()
	fatal, status := t.w.fatal, t.w.status
	t.w.mu.Unlock()
	switch {
	case res.IsDownload:
		return errors.New("the address is a download, not a page")
	case fatal != "":
		return errors.New(fatal)
	case res.ErrorText == "net::ERR_HTTP_RESPONSE_CODE_FAILURE":
		return fmt.Errorf("status %d, without a page", status)
	case res.ErrorText == "net::ERR_INVALID_AUTH_CREDENTIALS":
		return fmt.Errorf("status %d: the page asks for a name and a password (HTTP authentication); they can stand in the capture's url, as in http://NAME:PASSWORD@HOST/", status)
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
	shot, err := t.still(ctx, v, i == 0)
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
	f, err := call[facts](ctx, t, 0, "facts()")
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
	says, err := call[bool](ctx, t, scriptLimit, fmt.Sprintf("says(%s)", text))
	if err == nil && !says {
		err = fmt.Errorf("not the expected page: the text %q is not on it; its title is %q, its address %s", x, f.Title, cut(f.URL))
	}
	return err
}

type facts struct {
	Title, URL string
	Elements   int
}

// document is what is taken beside the pictures.
type document struct {
	html, cut string
	tree      eval.JSON
	axErr     error
	layers    []layer
}

// treeLimit is how long the browser may take for the accessibility tree.
const treeLimit = 10 * time.Second

// document takes the rendered HTML and the accessibility tree.
func (t *tab) document(ctx context.Context) (document, error) {
	type answer struct{ HTML, Cut string }
	var d document
	ax := make(chan struct{})
	go func() {
		defer close(ax)
		if t.elements > maxNodes {
			d.axErr = errCutTree // it would take minutes
			return
		}
		ctx, cancel := context.WithTimeout(ctx, treeLimit)
		defer cancel()
		var cut bool
		if d.tree, cut, d.axErr = accessibilityTree(ctx, t.s); cut && d.axErr == nil {
			d.axErr = errCutTree
		}
	}()
	t.closedRoots(ctx)
	d.layers, _ = call[[]layer](ctx, t, 0, "covered()")
	a, err := call[answer](ctx, t, scriptLimit, fmt.Sprintf("html(%d, %d)", maxHTML, scriptLimit.Milliseconds()))
	<-ax
	if err == nil && errors.Is(d.axErr, errGone) {
		err = d.axErr
	}
	if d.html, d.cut = a.HTML, a.Cut; len(d.html) > maxHTML {
		d.html, d.cut = strings.ToValidUTF8(d.html[:maxHTML], ""), "size"
	}
	return d, err
}

// keep puts the document into the page.
func (t *tab) keep(d document) {
	for _, l := range d.layers {
		what := "a layer"
		if l.Consent {
			what = "a cookie layer"
		}
		t.unsettled("%s covers %d %% of the screen: %s (%q); hide takes it away", what, l.Share, l.Name, l.Text)
	}
	if d.axErr != nil {
		t.unsettled("the accessibility tree is not whole: %v", d.axErr)
	}
	if d.cut != "" {
		t.unsettled("the rendered HTML is cut (%s) after %d bytes", d.cut, len(d.html))
		d.html += "\n<!-- cut: " + d.cut + " -->"
	}
	t.page.HTML, t.page.Accessibility = []byte(d.html), d.tree
}

var errCutTree = fmt.Errorf("the page has more than %d nodes", maxNodes)

func (t *tab) unsettled(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.page.Unsettled) < 50 {
		t.page.Unsettled = append(t.page.Unsettled, cut(fmt.Sprintf(format, args...)))
	}
}

// evalLimit is how long a page may keep the engine's script waiting after the time
// to come to rest, and beyond what the script is given.
const evalLimit = 3 * time.Second

// call evaluates an expression of the engine's script, which takes at most as long
// as told. A page that went elsewhere meanwhile gets the script anew; one whose own
// script does not end is stopped, once.
func call[R any](ctx context.Context, t *tab, takes time.Duration, expr string) (R, error) {
	var r R
	for n, stopped := 0, false; n < 5 || time.Now().Before(t.by); n++ {
		var err error
		if t.world == 0 {
			err = t.enter(ctx)
		}
		if err == nil {
			r, err = evaluate[R](ctx, t, takes, "evalengine."+expr)
		}
		switch {
		case errors.Is(err, errBusy) && !stopped:
			if err := t.interrupt(ctx); err != nil {
				return r, err
			}
			stopped = true
		case errors.Is(err, errMoved):
			t.world = 0
			if err := sleep(ctx, t.s, poll); err != nil {
				return r, err
			}
		default:
			return r, err
		}
	}
	return r, errRestless
}

// limited is a context for one command that takes as long as told; errBusy tells that
// the page did not let it.
func limited[R any](ctx context.Context, t *tab, takes time.Duration, f func(context.Context) (R, error)) (R, error) {
	limit, cancel := context.WithTimeout(ctx, evalLimit+max(0, takes, time.Until(t.by)))
	defer cancel()
	r, err := f(limit)
	switch {
	case err == nil:
	case ctx.Err() == nil && limit.Err() != nil:
		err = errBusy
	case moved(err):
		err = fmt.Errorf("%w: %v", errMoved, err)
	}
	return r, err
}

// errMoved is returned where the document is another one by now.
var errMoved = errors.New("the page went elsewhere")

// moved tells whether the browser's answer means that, or that the engine's script
// was stopped with the page's.
func moved(err error) bool {
	for _, s := range []string{"Cannot find context", "context was destroyed", "navigated or closed", "No frame for given id", "Execution context", "Internal error", "terminated"} {
		if strings.Contains(err.Error(), s) {
			return true
		}
	}
	return false
}

func (t *tab) enter(ctx context.Context) error {
	w, err := limited(ctx, t, 0, func(ctx context.Context) (page.CreateIsolatedWorldResult, error) {
		return do(ctx, t.s, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: t.w.frame, WorldName: "evalengine"})
	})
	if err != nil {
		return err
	}
	t.world = w.ExecutionContextID
	_, err = evaluate[any](ctx, t, 0, script+";0")
	return err
}

// errRestless is returned where the page has gone elsewhere each time that it was
// asked.
var errRestless = errors.New("the page keeps navigating")

// manyNavs is more than a page that comes to rest navigates.
const manyNavs = 20

// restless says of an error that the page never stayed where it was, whatever came
// of that, or that it left for a download: the browser then reads it no further, and
// does not answer for it either.
func (w *watch) restless(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(err, errRestless) || w.navs > manyNavs {
		return fmt.Errorf("%w: %d times, last to %s", errRestless, w.navs, w.url)
	}
	if errors.Is(err, errBusy) && w.download != "" {
		return fmt.Errorf("the page went to a download before it had loaded: %s", w.download)
	}
	return err
}

// errBusy is returned where the page's own script keeps the page for itself.
var errBusy = errors.New("a script of the page does not end")

func evaluate[R any](ctx context.Context, t *tab, takes time.Duration, expr string) (R, error) {
	var r R
	yes := true
	res, err := limited(ctx, t, takes, func(ctx context.Context) (runtime.EvaluateResult, error) {
		return do(ctx, t.s, runtime.Evaluate, runtime.EvaluateParams{Expression: expr, ContextID: t.world, ReturnByValue: &yes, AwaitPromise: &yes})
	})
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
