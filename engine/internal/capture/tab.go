package capture

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
)

// tab returns an empty page in a fresh context: the one that was made ahead, or a
// new one. The caller must dispose it.
func (in *instance) tab(ctx context.Context) (*tab, error) {
	if t := in.ready(ctx); t != nil {
		return t, nil
	}
	t := &tab{in: in}
	if err := t.open(ctx); err != nil {
		t.dispose()
		return nil, err
	}
	return t, nil
}

// ready returns the tab that was made ahead, if there is one. One that is being made
// is waited for, by one page.
func (in *instance) ready(ctx context.Context) *tab {
	in.mu.Lock()
	making := in.making
	in.making = nil
	in.mu.Unlock()
	if making == nil {
		return nil
	}
	select {
	case t := <-making:
		if t != nil && !t.s.live() {
			t.dispose()
			return nil
		}
		return t
	case <-ctx.Done():
		go func() { (<-making).dispose() }()
		return nil
	}
}

// ahead makes the next page's tab: a context takes as long to make as a page to
// draw.
func (in *instance) ahead() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.making != nil || in.ending {
		return
	}
	made := make(chan *tab, 1)
	in.making = made
	in.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		defer cancel()
		t := &tab{in: in}
		err := t.open(ctx)
		if err == nil {
			err = t.warm(ctx)
		}
		if err != nil {
			t.dispose()
			t = nil
		}
		made <- t
	})
}

// warm lets the renderer lay out and draw something, so that its fonts and its way to
// the screen are there when the page comes.
func (t *tab) warm(ctx context.Context) error {
	for _, body := range []string{"<h1>A</h1><p>a <a href=#>b</a> <button>c</button> <input>", ""} {
		if _, err := do(ctx, t.s, runtime.Evaluate, runtime.EvaluateParams{Expression: fmt.Sprintf("document.body.innerHTML = %q; 0", body)}); err != nil {
			return err
		}
		if _, err := t.shoot(ctx, 1280, strip{height: 1600}); err != nil {
			return err
		}
	}
	return nil
}

// open makes the context and its page. The commands that prepare it are sent
// together; none waits for the answer of another.
func (t *tab) open(ctx context.Context) error {
	var err error
	if t.proxy, err = newProxy(t.in.local, t.in.peer); err != nil {
		return err
	}
	t.w, t.key = newWatch(t.proxy), "t"+rand.Text()
	root := t.in.c.root()
	yes := true
	bc, err := do(ctx, root, target.CreateBrowserContext, target.CreateBrowserContextParams{DisposeOnDetach: &yes, ProxyServer: "http://" + t.proxy.addr, ProxyBypassList: "<-loopback>"})
	if err != nil {
		return err
	}
	t.bc = bc.BrowserContextID
	t.in.belongs(t.bc, "")
	deny := start(ctx, root, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: t.bc})
	tg, err := do(ctx, root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: t.bc, Width: 1280, Height: 800, NewWindow: &yes})
	if err != nil {
		return err
	}
	t.id = tg.TargetID
	t.in.belongs(t.bc, t.id)
	at, err := do(ctx, root, target.AttachToTarget, target.AttachToTargetParams{TargetID: t.id, Flatten: &yes})
	if err != nil {
		return err
	}
	t.w.mu.Lock()
	t.w.frame = cdp.FrameID(t.id)
	t.s = t.in.c.session(at.SessionID, t.w.event)
	t.w.s = t.s
	t.w.mu.Unlock()
	if _, err := deny(); err != nil {
		return err
	}
	return t.prepare(ctx)
}

func (t *tab) prepare(ctx context.Context) error {
	none := int64(0)
	waits := []func() error{
		later(start(ctx, t.s, page.Enable, page.EnableParams{})),
		later(start(ctx, t.s, network.Enable, network.EnableParams{MaxTotalBufferSize: &none, MaxResourceBufferSize: &none, MaxPostDataSize: &none})),
		later(start(ctx, t.s, runtime.Enable, cdp.Empty{})),
		later(start(ctx, t.s, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: strings.Replace(timers, "KEY", t.key, 1)})),
		later(start(ctx, t.s, log.Enable, cdp.Empty{})),
		later(start(ctx, t.s, inspector.Enable, cdp.Empty{})),
		later(start(ctx, t.s, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})),
		later(start(ctx, t.s, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-reduced-motion", Value: "reduce"}, {Name: "prefers-color-scheme", Value: "light"}}})),
	}
	for _, w := range waits {
		if err := w(); err != nil {
			return err
		}
	}
	return nil
}

func later[R any](f func() (R, error)) func() error {
	return func() error { _, err := f(); return err }
}

// disposeLimit is how long a context may take to go.
const disposeLimit = 10 * time.Second

// dispose takes the context from the browser, with all that the page started.
func (t *tab) dispose() {
	if t == nil {
		return
	}
	if t.proxy != nil {
		defer t.proxy.close()
	}
	if t.bc == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), disposeLimit)
	defer cancel()
	if t.s != nil {
		t.in.c.drop(t.s.id)
	}
	do(ctx, t.in.c.root(), target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: t.bc})
	t.in.mu.Lock()
	delete(t.in.pages, t.bc)
	t.in.mu.Unlock()
}
