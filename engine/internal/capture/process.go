package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"github.com/evalengine/evalengine/engine/internal/gateway/proc"
)

// startLimit is how long a browser may take to answer for the first time, ended
// how long it may take to end by itself.
const (
	startLimit = 45 * time.Second
	endLimit   = 2 * time.Second
)

// instance is one running browser: a process of the engine's, or a connection to
// somebody else's.
type instance struct {
	c       *conn
	p       *proc.Proc // nil for somebody else's
	profile string
	own     *proxy // what the browser itself asks for; it gets nothing
	local   string // where pages' proxies listen
	peer    net.IP // who may use them, nil for this machine

	work sync.WaitGroup

	mu     sync.Mutex
	pages  map[cdp.BrowserContextID]target.ID
	making chan *tab // the tab that is made ahead
	ending bool
}

// nowhere is where the browser is told that its maker's services are.
const nowhere = "http://127.0.0.1:1/"

// flags are the browser's. It asks nobody for updates, lists, models or
// suggestions, shows the same pixels each time, and has no way to the network but
// a proxy.
func flags(profile, proxy string) []string {
	f := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + profile,
		"--no-first-run", "--no-default-browser-check", "--no-pings", "--no-service-autorun",
		// The network: all of it by way of the proxy, names included.
		"--proxy-server=http://" + proxy, "--proxy-bypass-list=<-loopback>",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--disable-quic", "--dns-prefetch-disable",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--enforce-webrtc-ip-permission-check",
		// Nothing of its own.
		"--disable-background-networking", "--disable-component-update", "--disable-component-extensions-with-background-pages",
		"--disable-client-side-phishing-detection", "--disable-default-apps", "--disable-domain-reliability", "--disable-sync",
		"--gaia-url=" + nowhere, "--component-updater=url-source=" + nowhere,
		"--disable-breakpad", "--disable-crash-reporter", "--disable-extensions", "--disable-field-trial-config",
		"--metrics-recording-only", "--safebrowsing-disable-auto-update", "--disable-search-engine-choice-screen",
		"--password-store=basic", "--use-mock-keychain",
		// Pages run as if they were looked at.
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
		"--disable-ipc-flooding-protection", "--disable-hang-monitor", "--disable-prompt-on-repost",
		"--js-flags=--max-old-space-size=1024",
		// No windows, no devices, no sound.
		"--block-new-web-contents", "--disable-print-preview", "--deny-permission-prompts", "--disable-notifications", "--mute-audio",
		"--no-startup-window", "--disable-device-discovery-notifications", "--disable-external-intent-requests",
		// The same pixels everywhere.
		"--force-color-profile=srgb", "--font-render-hinting=none", "--disable-lcd-text", "--hide-scrollbars", "--lang=en-US",
		"--autoplay-policy=document-user-activation-required", "--blink-settings=imageAnimationPolicy=2",
		"--disable-features=" + strings.Join([]string{
			"Translate", "OptimizationHints", "OptimizationGuideModelDownloading", "MediaRouter", "DialMediaRouteProvider",
			"InterestFeedContentSuggestions", "CertificateTransparencyComponentUpdater", "AutofillServerCommunication",
			"PrivacySandboxSettings4", "HttpsUpgrades", "HttpsFirstBalancedMode", "LensOverlay", "GlobalMediaControls", "NetworkTimeServiceQuerying",
			"PaintHolding", "IsolateOrigins", "site-per-process", "BackForwardCache", "SafeBrowsingOnUIThread",
		}, ","),
	}
	return f
}

// newInstance starts the suite's browser, or connects to it.
func newInstance(ctx context.Context, o *Options) (*instance, error) {
	if o.Config.URL != "" {
		return attach(ctx, o.Config.URL)
	}
	path, err := Find(o.Config)
	if err != nil {
		return nil, err
	}
	in, err := launch(ctx, path, o, root())
	if err != nil && !root() && strings.Contains(err.Error(), "sandbox") {
		logger(o).Warn("the browser has no sandbox here; pages are taken without one", "browser", path)
		in, err = launch(ctx, path, o, true)
	}
	return in, err
}

// root reports whether the engine runs as root, whom Chromium's sandbox does not
// serve.
func root() bool { return runtime.GOOS == "linux" && os.Geteuid() == 0 }

func launch(ctx context.Context, path string, o *Options, bare bool) (*instance, error) {
	profile, err := os.MkdirTemp(o.Temp, "b-")
	if err != nil {
		return nil, fmt.Errorf("profile of the browser: %w", err)
	}
	in := &instance{profile: profile, local: "127.0.0.1", pages: map[cdp.BrowserContextID]target.ID{}}
	if in.own, err = newProxy(in.local, nil); err != nil {
		os.RemoveAll(profile)
		return nil, err
	}
	args := flags(profile, in.own.addr)
	if bare {
		args = append(args, "--no-sandbox")
	}
	if err := in.run(ctx, path, args); err != nil {
		in.stop()
		return nil, fmt.Errorf("browser %s: %w", path, err)
	}
	return in, nil
}

// run starts the process; commands go through a pipe, so that no port of the
// machine leads to the browser.
func (in *instance) run(ctx context.Context, path string, args []string) error {
	var ends [2][2]*os.File
	for i := range ends {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		ends[i] = [2]*os.File{r, w}
	}
	p, err := proc.Start(proc.Spec{Command: path, Args: args, Env: environment(in.profile), Dir: in.profile,
		Files: []*os.File{ends[0][0], ends[1][1]}, Grace: endLimit})
	ends[0][0].Close()
	ends[1][1].Close()
	if err != nil {
		ends[0][1].Close()
		ends[1][0].Close()
		return err
	}
	in.p = p
	in.c = newConn(chromedp.NewPipeConn(newBounded(ends[1][0], maxMessage), ends[0][1]), in.event)
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if _, err := do(ctx, in.c.root(), target.SetDiscoverTargets, target.SetDiscoverTargetsParams{Discover: true}); err != nil {
		in.c.close()
		p.Stop()
		return fmt.Errorf("does not answer: %v%s", err, lastLines(p.Stderr()))
	}
	return nil
}

// lastLines is the end of what the browser said, which says why it did not start.
func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if s = strings.Join(lines[max(0, len(lines)-3):], "; "); s == "" {
		return ""
	}
	return " (" + s[max(0, len(s)-600):] + ")"
}

// environment is the browser's: its own folder for everything, and no secret of
// the engine's.
func environment(profile string) map[string]string {
	env := map[string]string{"HOME": profile, "TMPDIR": socketFolder(profile, os.TempDir(), "/tmp"), "XDG_CONFIG_HOME": profile, "XDG_CACHE_HOME": profile,
		"XDG_RUNTIME_DIR": profile, "LANG": "C.UTF-8", "TZ": "UTC", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
	for _, k := range []string{"PATH", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "FONTCONFIG_FILE", "SystemRoot", "LOCALAPPDATA"} {
		if v, ok := os.LookupEnv(k); ok {
			env[k] = v
		}
	}
	return env
}

// socketFolder is the first of the folders in which a socket of the browser's has a
// path that is short enough for one, or the first of all.
func socketFolder(folders ...string) string {
	for _, f := range folders {
		if len(f)+len("/org.chromium.Chromium.XXXXXX/SingletonSocket.") <= 100 {
			return f
		}
	}
	return folders[0]
}

// attach connects to a browser that runs already. Only contexts of the engine's
// own are made and disposed there.
func attach(ctx context.Context, address string) (*instance, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("browser %q: %w", address, err)
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	ws, local, err := devtools(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("browser at %s: %w", u.Redacted(), err)
	}
	tr, err := remote.DialContext(ctx, ws)
	if err != nil {
		return nil, fmt.Errorf("browser at %s: %w", u.Redacted(), err)
	}
	in := &instance{local: local.String(), pages: map[cdp.BrowserContextID]target.ID{}}
	if !local.IsLoopback() {
		if ips, _ := net.DefaultResolver.LookupIP(ctx, "ip", u.Hostname()); len(ips) > 0 {
			in.peer = ips[0]
		}
	}
	in.c = newConn(tr, in.event)
	if _, err := do(ctx, in.c.root(), target.SetDiscoverTargets, target.SetDiscoverTargetsParams{Discover: true}); err != nil {
		in.c.close()
		return nil, fmt.Errorf("browser at %s: %w", u.Redacted(), err)
	}
	return in, nil
}

// devtools finds the browser's socket, and this machine's address towards it.
func devtools(ctx context.Context, u *url.URL) (string, net.IP, error) {
	var local net.IP
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			local = c.LocalAddr().(*net.TCPAddr).IP
		}
		return c, err
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[u.Scheme == "wss" || u.Scheme == "https"]
	}
	if u.Scheme == "ws" || u.Scheme == "wss" {
		c, err := dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
		if err != nil {
			return "", nil, err
		}
		c.Close()
		return u.String(), local, nil
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath("json", "version").String(), nil)
	if err != nil {
		return "", nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer res.Body.Close()
	var v struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&v); err != nil || v.URL == "" {
		return "", nil, fmt.Errorf("%s is no DevTools address: it names no webSocketDebuggerUrl", req.URL.Redacted())
	}
	ws, err := url.Parse(v.URL)
	if err != nil {
		return "", nil, err
	}
	ws.Host = net.JoinHostPort(u.Hostname(), port) // what it calls itself may lead elsewhere
	if u.Scheme == "https" {
		ws.Scheme = "wss"
	}
	return ws.String(), local, nil
}

// event hears of the browser's targets: windows that pages open are closed.
func (in *instance) event(method string, params []byte) {
	if method != target.TargetCreated.Method {
		return
	}
	var ev target.EventTargetCreated
	if !decode(params, &ev) || ev.TargetInfo == nil || ev.TargetInfo.Type != "page" {
		return
	}
	in.mu.Lock()
	own := in.pages[ev.TargetInfo.BrowserContextID]
	in.mu.Unlock()
	if own != "" && own != ev.TargetInfo.TargetID {
		tell(in.c.root(), target.CloseTarget, target.CloseTargetParams{TargetID: ev.TargetInfo.TargetID})
	}
}

// belongs notes which page a context is for.
func (in *instance) belongs(bc cdp.BrowserContextID, id target.ID) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pages[bc] = id
}

func (in *instance) alive() bool {
	select {
	case <-in.c.done:
		return false
	default:
		return true
	}
}

// stop ends the browser with all its processes and removes its profile. Somebody
// else's is let go.
func (in *instance) stop() error {
	in.mu.Lock()
	in.ending = true
	in.mu.Unlock()
	if in.p != nil && in.alive() {
		ctx, cancel := context.WithTimeout(context.Background(), endLimit)
		do(ctx, in.c.root(), browser.Close, cdp.Empty{})
		cancel()
	}
	if in.c != nil {
		in.c.close()
	}
	if in.p != nil {
		in.p.Stop()
	}
	in.work.Wait()
	in.ready(context.Background()).dispose()
	if in.own != nil {
		in.own.close()
	}
	if in.profile == "" {
		return nil
	}
	return removeAll(in.profile)
}

// removeAll tries again: what a process writes last may come after its end is
// seen.
func removeAll(dir string) error {
	var err error
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

func logger(o *Options) *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.New(slog.DiscardHandler)
}
