package capture

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/evalengine/evalengine/engine/eval"
)

// What is kept of one page; a page may say and ask for as much as it likes.
const (
	maxConsole = 200
	maxFailed  = 200
	maxText    = 4000
	maxOpen    = 5000
	// flood is how many console lines are read before the page is no longer listened
	// to.
	flood = 5000
)

// watch follows what a page does: its requests, its console, its dialogs.
type watch struct {
	s     *session // set before the first event
	proxy *proxy
	frame cdp.FrameID // the page's own

	changed chan struct{} // told when the page has loaded

	mu       sync.Mutex
	allow    allow
	open     map[network.RequestID]*request
	dropped  map[network.RequestID]*request // given up by the page before their answers were told
	last     time.Time                      // when a request began or ended
	loaded   bool
	requests int
	bytes    int64
	status   int
	fatal    string // why the document could not be had
	url      string
	download string // what the page went to that is no page
	navs     int
	lines    int
	dialogs  int
	console  []eval.ConsoleMessage
	failed   []eval.FailedRequest
}

type request struct {
	url, method string
	kind        network.ResourceType
	loader      cdp.LoaderID
	frame       cdp.FrameID // whose document it is; empty for all else
	streams     bool        // may stay open as long as the page does
	status      int         // as it came over the wire
}

func newWatch(p *proxy) *watch {
	return &watch{proxy: p, changed: make(chan struct{}, 1), open: map[network.RequestID]*request{}, dropped: map[network.RequestID]*request{}, last: time.Now()}
}

// let says what the page may reach.
func (w *watch) let(a allow) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allow, w.last = a, time.Now()
}

// event is the session's listener.
func (w *watch) event(method string, params []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch method {
	case network.RequestWillBeSent.Method:
		w.sent(params)
	case network.ResponseReceived.Method:
		w.received(params)
	case network.ResponseReceivedExtraInfo.Method:
		w.answered(params)
	case network.LoadingFinished.Method:
		w.finished(params)
	case network.LoadingFailed.Method:
		w.lost(params)
	case network.WebSocketCreated.Method:
		w.socket(params)
	case runtime.ConsoleAPICalled.Method:
		w.said(params)
	case runtime.ExceptionThrown.Method:
		w.threw(params)
	case log.EntryAdded.Method:
		w.logged(params)
	case page.FrameNavigated.Method:
		w.navigated(params)
	case page.FrameDetached.Method:
		w.detached(params)
	case page.LoadEventFired.Method:
		w.loaded = true
		select {
		case w.changed <- struct{}{}:
		default:
		}
	case page.JavascriptDialogOpening.Method:
		w.dialog(params)
	case inspector.TargetCrashed.Method:
		w.s.end()
	}
}

func (w *watch) sent(params []byte) {
	var ev network.EventRequestWillBeSent
	if !decode(params, &ev) || ev.Request == nil {
		return
	}
	if !carried(ev.Request.URL) {
		return
	}
	if u, err := url.Parse(ev.Request.URL); ev.Type == network.ResourceTypeOther && err == nil && u.Path == "/favicon.ico" {
		return // the browser asks for it, not the page
	}
	if r := ev.RedirectResponse; r != nil {
		w.bytes += int64(r.EncodedDataLength)
		if r.Status >= 400 {
			w.fail(eval.FailedRequest{URL: r.URL, Method: ev.Request.Method, Kind: kindOf(ev.Type), Status: int(r.Status)})
		}
	}
	w.requests++
	w.last = time.Now()
	if len(w.open) < maxOpen {
		streams := slices.Contains([]network.ResourceType{network.ResourceTypeMedia, network.ResourceTypeEventSource, network.ResourceTypeWebSocket,
			network.ResourceTypePing, network.ResourceTypePrefetch, network.ResourceTypeCSPViolationReport}, ev.Type)
		r := &request{url: cut(ev.Request.URL), method: ev.Request.Method, kind: ev.Type, loader: ev.LoaderID, streams: streams}
		if ev.Type == network.ResourceTypeDocument {
			r.frame = ev.FrameID
		}
		w.open[ev.RequestID] = r
	}
}

// carried reports whether an address is asked of a network: not what the page or the
// browser has itself, such as the viewer of PDF files.
func carried(address string) bool {
	scheme, _, _ := strings.Cut(address, ":")
	return !slices.Contains([]string{"data", "blob", "chrome-extension", "chrome"}, strings.ToLower(scheme))
}

// answered notes the status of an answer that the page may not get to see.
func (w *watch) answered(params []byte) {
	var ev network.EventResponseReceivedExtraInfo
	if !decode(params, &ev) {
		return
	}
	if r := w.open[ev.RequestID]; r != nil {
		r.status = int(ev.StatusCode)
	}
	// The browser tells of what came over the wire in its own time: an answer can
	// come after the end of its request.
	if r := w.dropped[ev.RequestID]; r != nil && ev.StatusCode >= 400 {
		r.status = int(ev.StatusCode)
		w.lose(r, "")
	}
}

func (w *watch) received(params []byte) {
	var ev network.EventResponseReceived
	if !decode(params, &ev) || ev.Response == nil || !carried(ev.Response.URL) {
		return
	}
	status := int(ev.Response.Status)
	f := eval.FailedRequest{URL: cut(ev.Response.URL), Method: "GET", Kind: kindOf(ev.Type), Status: status}
	r := w.open[ev.RequestID]
	if r == nil {
		return
	}
	f.Method = r.method
	why, broken := w.proxy.why(ev.Response.URL)
	switch {
	case status == 403 && !w.allow.url(ev.Response.URL):
		f.Status, f.Blocked, f.Error = 0, true, blocked
	case status == 502 && broken:
		f.Status, f.Error = 0, why
	}
	if ev.Type == network.ResourceTypeDocument && ev.FrameID == w.frame {
		w.status, w.fatal = f.Status, f.Error
		if saved(ev.Response) {
			w.download = f.URL
		}
		if f.Blocked {
			w.fatal = f.URL + ": " + f.Error
		}
	}
	if status >= 400 {
		w.fail(f)
	}
}

// gone reports whether the page went to a download.
func (w *watch) gone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.download != ""
}

// saved reports whether a browser saves an answer rather than to show it.
func saved(r *network.Response) bool {
	for name, v := range r.Headers {
		if text, ok := v.(string); ok && strings.EqualFold(name, "Content-Disposition") {
			kind, _, _ := strings.Cut(text, ";")
			return !strings.EqualFold(strings.TrimSpace(kind), "inline")
		}
	}
	return r.MimeType == "application/octet-stream" || r.MimeType == "application/zip"
}

// blocked says why a request was refused.
const blocked = "the suite does not let pages reach this origin"

func (w *watch) finished(params []byte) {
	var ev network.EventLoadingFinished
	if !decode(params, &ev) {
		return
	}
	if _, ok := w.open[ev.RequestID]; ok {
		delete(w.open, ev.RequestID)
		w.last = time.Now()
	}
	w.bytes += int64(ev.EncodedDataLength)
}

func (w *watch) lost(params []byte) {
	var ev network.EventLoadingFailed
	if !decode(params, &ev) {
		return
	}
	r := w.open[ev.RequestID]
	if r == nil {
		return
	}
	delete(w.open, ev.RequestID)
	w.last = time.Now()
	if ev.Canceled && ev.BlockedReason == "" && r.status < 400 {
		if len(w.dropped) < maxOpen {
			w.dropped[ev.RequestID] = r
		}
		return // the page itself gave it up
	}
	text := ev.ErrorText
	if ev.BlockedReason != "" {
		text += " (" + string(ev.BlockedReason) + ")"
	}
	if ev.CorsErrorStatus != nil {
		text += " (" + string(ev.CorsErrorStatus.CorsError) + ")"
	}
	w.lose(r, strings.TrimSpace(text))
}

// lose keeps a request that got no answer, or one that the page did not see.
func (w *watch) lose(r *request, text string) {
	f := eval.FailedRequest{URL: r.url, Method: r.method, Kind: kindOf(r.kind), Error: text}
	if r.status >= 400 {
		f.Status, f.Error = r.status, ""
	}
	if why, broken := w.proxy.why(r.url); broken && r.status == 502 {
		f.Status, f.Error = 0, why
	}
	if u, err := url.Parse(r.url); err == nil && u.Host != "" && !w.allow.url(r.url) {
		f.Blocked, f.Error, f.Status = true, blocked, 0
	}
	w.fail(f)
}

func (w *watch) socket(params []byte) {
	var ev network.EventWebSocketCreated
	if !decode(params, &ev) {
		return
	}
	w.requests++
	if !w.allow.url(ev.URL) {
		w.fail(eval.FailedRequest{URL: cut(ev.URL), Method: "GET", Kind: "other", Blocked: true, Error: blocked})
	}
}

// fail keeps a failure, of the same address once.
func (w *watch) fail(f eval.FailedRequest) {
	same := func(o eval.FailedRequest) bool { return o.URL == f.URL && o.Method == f.Method }
	if len(w.failed) >= maxFailed || slices.ContainsFunc(w.failed, same) {
		return
	}
	w.failed = append(w.failed, f)
}

func kindOf(t network.ResourceType) string {
	switch t {
	case network.ResourceTypeDocument:
		return "document"
	case network.ResourceTypeScript:
		return "script"
	case network.ResourceTypeStylesheet:
		return "stylesheet"
	case network.ResourceTypeImage:
		return "image"
	case network.ResourceTypeFont:
		return "font"
	case network.ResourceTypeFetch, network.ResourceTypeXHR:
		return "fetch"
	}
	return "other"
}

// say keeps a console line.
func (w *watch) say(m eval.ConsoleMessage) {
	if len(w.console) < maxConsole {
		m.Text, m.URL = cut(m.Text), cut(m.URL)
		w.console = append(w.console, m)
	}
}

func (w *watch) said(params []byte) {
	if w.lines++; w.lines == flood {
		w.say(eval.ConsoleMessage{Level: "warning", Text: fmt.Sprintf("the page wrote more than %d lines to its console; the rest was not read", flood)})
		tell(w.s, runtime.Disable, cdp.Empty{})
	}
	if w.lines >= flood {
		return
	}
	var ev runtime.EventConsoleAPICalled
	if !decode(params, &ev) {
		return
	}
	level := ""
	switch ev.Type {
	case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeAssert:
		level = "error"
	case runtime.ConsoleAPICalledTypeWarning:
		level = "warning"
	default:
		return
	}
	m := eval.ConsoleMessage{Level: level, Text: argsText(ev.Args)}
	if st := ev.StackTrace; st != nil && len(st.CallFrames) > 0 {
		m.URL, m.Line = st.CallFrames[0].URL, int(st.CallFrames[0].LineNumber)+1
	}
	w.say(m)
}

// argsText is what the console shows of its arguments.
func argsText(args []*runtime.RemoteObject) string {
	var parts []string
	for _, a := range args {
		var s string
		switch {
		case a == nil:
			continue
		case a.Type == "string" && decode(a.Value, &s):
		case len(a.Value) > 0:
			s = string(a.Value)
		case a.UnserializableValue != "":
			s = string(a.UnserializableValue)
		default:
			s = a.Description
		}
		parts = append(parts, cut(s))
	}
	return strings.Join(parts, " ")
}

func (w *watch) threw(params []byte) {
	var ev runtime.EventExceptionThrown
	if !decode(params, &ev) || ev.ExceptionDetails == nil {
		return
	}
	d := ev.ExceptionDetails
	m := eval.ConsoleMessage{Level: "exception", Text: d.Text, URL: d.URL, Line: int(d.LineNumber) + 1}
	if d.Exception != nil {
		text := d.Exception.Description
		if text == "" {
			text = argsText([]*runtime.RemoteObject{d.Exception})
		}
		m.Text = strings.TrimSpace(d.Text + " " + text)
	}
	w.say(m)
}

// logged keeps what the browser itself has to say of the page; failed requests are
// kept as such.
func (w *watch) logged(params []byte) {
	if w.lines++; w.lines > flood {
		return
	}
	var ev log.EventEntryAdded
	if !decode(params, &ev) || ev.Entry == nil || ev.Entry.Source == log.EntrySourceNetwork {
		return
	}
	if l := ev.Entry.Level; l == log.EntryLevelError || l == log.EntryLevelWarning {
		m := eval.ConsoleMessage{Level: string(l), Text: cut(ev.Entry.Text), URL: cut(ev.Entry.URL), Line: int(ev.Entry.LineNumber)}
		if !slices.Contains(w.console, m) {
			w.say(m)
		}
	}
}

func (w *watch) navigated(params []byte) {
	var ev page.EventFrameNavigated
	if !decode(params, &ev) || ev.Frame == nil || ev.Frame.ParentID != "" {
		return
	}
	w.navs++
	w.url, w.loaded, w.last = ev.Frame.URL, false, time.Now()
	for id, r := range w.open {
		if r.loader != "" && r.loader != ev.Frame.LoaderID {
			delete(w.open, id)
		}
	}
}

// detached forgets the document of a frame that is gone, or that went over to a
// process of its own, as frames of other sites do: the end of what it loads is not
// told here. The page's load event waits for it all the same.
func (w *watch) detached(params []byte) {
	var ev page.EventFrameDetached
	if !decode(params, &ev) {
		return
	}
	for id, r := range w.open {
		if r.frame != "" && r.frame == ev.FrameID {
			delete(w.open, id)
			w.last = time.Now()
		}
	}
}

// dialog ends a dialog at once: the page waits for it.
func (w *watch) dialog(params []byte) {
	var ev page.EventJavascriptDialogOpening
	if !decode(params, &ev) {
		return
	}
	if w.dialogs++; w.dialogs <= 3 {
		w.say(eval.ConsoleMessage{Level: "warning", Text: fmt.Sprintf("the page opened a dialog (%s: %s); it was dismissed", ev.Type, cut(ev.Message)), URL: ev.URL})
	}
	tell(w.s, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: ev.Type == page.DialogTypeBeforeunload})
}

// quiet says how long nothing was asked for, 0 while something is under way.
func (w *watch) quiet() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.open {
		if !r.streams {
			return 0
		}
	}
	return time.Since(w.last)
}

// underWay names what is being loaded.
func (w *watch) underWay() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for _, r := range w.open {
		if !r.streams {
			list = append(list, r.method+" "+r.url)
		}
	}
	slices.Sort(list)
	return list
}

// report fills in what was seen.
func (w *watch) report(p *eval.Page) {
	for _, what := range w.proxy.denied() {
		w.denied(what)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.Status, p.Requests, p.Bytes = w.status, w.requests, w.bytes
	p.Console, p.Failed = w.console, w.failed
	if p.FinalURL == "" {
		p.FinalURL = cut(w.url)
	}
}

// denied adds what the page's own session does not see, such as the requests of a
// worker.
func (w *watch) denied(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	u := what
	if !strings.Contains(what, "://") {
		for _, f := range w.failed {
			if parsed, err := url.Parse(f.URL); err == nil && parsed.Host != "" && (parsed.Host == what || address(parsed) == what) {
				return
			}
		}
		u = "//" + what
	}
	w.fail(eval.FailedRequest{URL: cut(u), Method: "GET", Kind: "other", Blocked: true, Error: blocked})
}

// cut bounds a text that a page made.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}
