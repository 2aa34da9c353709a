package capture

import (
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// What holds where the suite says nothing.
const (
	timeout     = time.Minute
	settleLimit = 10 * time.Second
	// maxHeight is where a page is cut, maxGrown where one is that grows while it is
	// scrolled through.
	maxHeight = 100_000
	maxGrown  = 20_000
	// tileSide is a tile's height in device pixels: judges refuse pictures over 2,000
	// where they get many.
	tileSide    = 2000
	concurrency = 4
)

// Options say how a [Browser] works.
type Options struct {
	Config eval.BrowserConfig
	// Logger is told what does not belong to one page, such as a browser that has
	// to be started anew; nil is silence.
	Logger *slog.Logger
	// Temp is the folder that the browser's profile is made in. It should be the
	// run's own, so that a later process finds what a killed one left.
	Temp string
	// Concurrency is how many pages are taken at once where Config does not say; 0
	// is 4.
	Concurrency int
	// TileSide is the height of a tile in device pixels; 0 is 2,000.
	TileSide int
}

func (o *Options) concurrency() int {
	for _, n := range []int{o.Config.Concurrency, o.Concurrency} {
		if n > 0 {
			return n
		}
	}
	return concurrency
}

// Job is a page to take: an [eval.Capture] with its expressions evaluated.
type Job struct {
	Name, URL             string
	ExpectURL, ExpectText string
	WaitFor               string
	// Hide are selectors, Origins globs.
	Hide, Origins []string
	// TargetOrigins are the target's own, such as "http://127.0.0.1:8080"; a whole
	// address counts as its origin. The page's own origin has to be among them or
	// Origins.
	TargetOrigins []string
	Viewports     []eval.Viewport
	Scale         float64
	FirstScreen   bool
	MaxHeight     int
	Timeout       time.Duration
}

// filled sets what the job leaves open.
func (j Job) filled() Job {
	if len(j.Viewports) == 0 {
		j.Viewports = []eval.Viewport{{Width: 1280, Height: 800}}
	}
	if j.Scale <= 0 {
		j.Scale = 1
	}
	if j.Timeout <= 0 {
		j.Timeout = timeout
	}
	return j
}

// heights are where a page is cut, and where one that grows is.
func (j *Job) heights() (int, int) {
	if j.MaxHeight > 0 {
		return j.MaxHeight, j.MaxHeight
	}
	return maxHeight, maxGrown
}

// allow says which addresses the page may reach.
type allow struct {
	own   map[string]bool // host:port
	globs []string
}

func (j *Job) allow() allow {
	a := allow{own: map[string]bool{}, globs: j.Origins}
	for _, o := range j.TargetOrigins {
		if u, err := url.Parse(o); err == nil && u.Host != "" {
			a.own[address(u)] = true
		}
	}
	return a
}

// address is the URL's host and port. The names of this machine's loopback are
// one address.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "ws": "80"}[strings.ToLower(u.Scheme)]
		if port == "" {
			port = "443"
		}
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "localhost" || host == "::1" {
		host = "127.0.0.1"
	}
	return host + ":" + port
}

// url reports whether the address may be reached.
func (a *allow) url(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "ws":
		return a.reach(u, "http")
	case "https", "wss":
		return a.reach(u, "https")
	}
	return false
}

// host reports whether a host and port may be reached by either scheme.
func (a *allow) host(hostport string) bool {
	for _, scheme := range []string{"http", "https"} {
		u, err := url.Parse(scheme + "://" + hostport)
		if err == nil && u.Host != "" && a.reach(u, scheme) {
			return true
		}
	}
	return false
}

func (a *allow) reach(u *url.URL, scheme string) bool {
	addr := address(u)
	if a.own[addr] {
		return true
	}
	host, port := strings.ToLower(u.Hostname()), addr[strings.LastIndexByte(addr, ':'):]
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	origins := []string{scheme + "://" + host + port}
	if scheme == "http" && port == ":80" || scheme == "https" && port == ":443" {
		origins = append(origins, scheme+"://"+host)
	}
	for _, g := range a.globs {
		for _, o := range origins {
			if eval.Glob(strings.TrimSuffix(g, "/"), o) {
				return true
			}
		}
	}
	return false
}

// withoutUser is an address without the name and the password in it, which are for
// the server alone.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}
