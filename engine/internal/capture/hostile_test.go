package capture

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Pages that do harm are taken or given up in time, and harm nobody else.
func TestHostilePages(t *testing.T) {
	b := newBrowser(t, Options{Concurrency: 6})
	s := site(t, map[string]http.HandlerFunc{
		"/alerts":   html(`<p>text</p><script>for (let i = 0; i < 50; i++) { alert(i); confirm(i); prompt(i) } print()</script><p>after`),
		"/forever":  html(`<p>text</p><script>while (true) alert(1)</script>`),
		"/unload":   html(`<p>text</p><script>onbeforeunload = (e) => { e.preventDefault(); return "stay" }</script>`),
		"/popups":   html(`<p>text</p><script>for (let i = 0; i < 20; i++) { open("/popups"); open("/x", "_blank", "noopener") }</script>`),
		"/flood":    html(`<p>text</p><script>for (let i = 0; i < 20000; i++) console.error("line", i, "x".repeat(1000))</script>`),
		"/line":     html(`<p>text</p><script>console.error("y".repeat(200 << 20)); console.warn("after")</script>`),
		"/memory":   html(`<p>text</p><script>const l = []; while (true) l.push(new Array(1e5).fill(l.length + 0.5))</script>`),
		"/redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/redirect", http.StatusFound) },
		"/reload":   html(`<p>text</p><script>location.reload()</script>`),
		"/refresh":  html(`<p>text</p><meta http-equiv=refresh content="0">`),
		"/download": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=x.bin")
			w.Write([]byte("data"))
		},
		"/leaves":  html(`<script>location = "/download"</script><p>text</p>`),
		"/saves":   html(`<p>text</p><script>onload = () => setTimeout(() => location = "/download", 50)</script>`),
		"/links":   html(`<p>text</p><a id=a href=/download download>x</a><script>for (let i = 0; i < 20; i++) a.click()</script>`),
		"/file":    html(`<p>text</p><iframe src="file:///etc/passwd"></iframe><script>fetch("file:///etc/passwd").catch(() => 0); try { location = "file:///etc/passwd" } catch {}</script>`),
		"/asks":    html(`<p id=p>text</p><script>Promise.allSettled([self.Notification?.requestPermission(), new Promise((d) => navigator.geolocation.getCurrentPosition(d, d)), navigator.mediaDevices && navigator.mediaDevices.getUserMedia({audio: true})]).then(() => { p.textContent = p.className = "answered" })</script>`),
		"/abort":   func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) },
		"/missing": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(404); w.Write([]byte("not here")) },
		"/broken":  func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) },
		"/nothing": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) },
		"/empty":   func(w http.ResponseWriter, r *http.Request) {},
		"/text": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Write([]byte("plain < text"))
		},
		"/svg": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "image/svg+xml")
			w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><text y="20">drawn</text></svg>`))
		},
		"/login":   html(`<title>Sign in</title><h1>Sign in</h1>`),
		"/private": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
	})
	cases := []struct {
		path, err, html string
		status          int
		more            func(t *testing.T, j *Job, p *eval.Page)
	}{
		{path: "/alerts", html: "after", status: 200},
		{path: "/forever", html: "text", status: 200},
		{path: "/unload", html: "text", status: 200},
		{path: "/popups", html: "text", status: 200},
		{path: "/flood", html: "text", status: 200, more: func(t *testing.T, _ *Job, p *eval.Page) {
			if len(p.Console) != maxConsole || p.Console[7].Level != "error" || !strings.HasPrefix(p.Console[7].Text, "line 7 xxx") {
				t.Errorf("%d console lines", len(p.Console))
			}
		}},
		{path: "/line", html: "text", status: 200, more: func(t *testing.T, _ *Job, p *eval.Page) {
			if len(p.Console) != 1 || p.Console[0].Text != "after" {
				t.Errorf("console %.200v; want the short line alone", p.Console)
			}
		}},
		{path: "/memory", err: "the page ended its renderer or the browser, 2 times"},
		{path: "/redirect", err: "ERR_TOO_MANY_REDIRECTS"},
		{path: "/reload", err: "the page keeps navigating: "},
		{path: "/refresh", err: "the page keeps navigating: "},
		{path: "/download", err: "download"},
		{path: "/leaves", err: "the page went to a download before it had loaded: " + s.URL + "/download", status: 200},
		{path: "/saves", html: "text", status: 200},
		{path: "/links", html: "text", status: 200},
		{path: "/file", html: "text", status: 200},
		{path: "/asks", html: "answered", status: 200},
		{path: "/abort", err: "EOF"},
		{path: "/missing", html: "not here", status: 404},
		{path: "/broken", err: "status 500, without a page", status: 500},
		{path: "/nothing", err: "ERR_ABORTED"},
		{path: "/empty", html: "<body></body>", status: 200},
		{path: "/text", html: "plain &lt; text", status: 200},
		{path: "/svg", html: "drawn", status: 200},
		{path: "/private", err: "not the expected page: its address is " + s.URL + "/login", status: 200},
		{path: "/login", err: `not the expected page: the text "Welcome  back" is not on it; its title is "Sign in"`, status: 200},
	}
	var late atomic.Int32
	for _, c := range cases {
		t.Run(c.path[1:], func(t *testing.T) {
			t.Parallel()
			j := job("hostile-"+c.path[1:], s.URL+c.path)
			j.Timeout = 40 * time.Second
			switch c.path {
			case "/asks":
				j.WaitFor = ".answered"
			case "/private":
				j.ExpectURL = s.URL + "/private*"
			case "/login":
				j.ExpectText = "Welcome  back"
			}
			p := take(t, b, j)
			if strings.Contains(p.Error, "could not be taken within") || p.Error == errBusy.Error() {
				// All at once they can be too much for a slow machine, but for few.
				if late.Add(1) > 4 {
					t.Errorf("late as others before it: %s", p.Error)
				}
				return
			}
			if c.err == "" && p.Error != "" || !strings.Contains(p.Error, c.err) {
				t.Errorf("error %q; want %q", p.Error, c.err)
			}
			if c.err == "" && !strings.Contains(string(p.HTML), c.html) || c.status != 0 && p.Status != c.status {
				t.Errorf("status %d, HTML %.300q; want %d, %q", p.Status, p.HTML, c.status, c.html)
			}
			if strings.Contains(string(p.HTML), "root:") {
				t.Error("the page reads files")
			}
			if c.more != nil {
				c.more(t, &j, &p)
			}
		})
	}
}

// A renderer or a browser that ends costs one attempt; pages that are under way
// are taken anew.
func TestCrash(t *testing.T) {
	b := newBrowser(t, Options{Concurrency: 3})
	hits := make(chan struct{}, 100)
	release := make(chan struct{})
	s := site(t, map[string]http.HandlerFunc{
		"/fine": html("<p>fine</p>"),
		"/wait": html("<p>waits</p><img src=/pic>"),
		"/pic": func(w http.ResponseWriter, r *http.Request) {
			hits <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
			red(w, r)
		},
	})
	if p := take(t, b, job("fine", s.URL+"/fine")); p.Error != "" {
		t.Fatal(p.Error)
	}
	first := b.in.p.PID()
	done := make(chan []eval.Page)
	go func() {
		done <- b.Capture(context.Background(), []Job{job("one", s.URL+"/wait"), job("two", s.URL+"/wait")})
	}()
	<-hits
	<-hits
	proc, err := os.FindProcess(first)
	if err != nil {
		t.Fatal(err)
	}
	proc.Kill()
	<-hits
	<-hits
	close(release)
	for _, p := range <-done {
		if p.Error != "" || !strings.Contains(string(p.HTML), "waits") {
			t.Errorf("page %s: error %q, HTML %s", p.Name, p.Error, p.HTML)
		}
	}
	if b.in.p.PID() == first {
		t.Error("the browser is the same")
	}
}
