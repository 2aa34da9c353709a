package capture

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/proc"
	"github.com/evalengine/evalengine/engine/internal/scratch"
)

// family lists the live processes whose environment or command line names the
// folder.
func family(t *testing.T, dir string) map[int]string {
	t.Helper()
	found := map[int]string{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.Contains(env, []byte(dir)) || bytes.Contains(line, []byte(dir)) {
			found[pid] = string(bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		}
	}
	return found
}

// renderers are the browser's processes that hold pages.
func renderers(t *testing.T, b *Browser) []int {
	var list []int
	for pid, line := range family(t, b.in.profile) {
		if bytes.Contains([]byte(line), []byte("--type=renderer")) {
			list = append(list, pid)
		}
	}
	return list
}

// until waits for a condition that comes by itself.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 500 {
		if f() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%s: still not so after 10 s", what)
}

func targets(t *testing.T, b *Browser) (int, int) {
	t.Helper()
	res, err := do(context.Background(), b.in.c.root(), target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		t.Fatal(err)
	}
	ctxs, err := do(context.Background(), b.in.c.root(), target.GetBrowserContexts, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	return len(res.TargetInfos), len(ctxs.BrowserContextIDs)
}

// Many pages leave nothing in the browser, and the browser leaves nothing at all.
func TestNothingIsLeft(t *testing.T) {
	temp := t.TempDir()
	b := New(Options{Temp: temp, Concurrency: 4})
	defer b.Close()
	s := site(t, map[string]http.HandlerFunc{
		"/a": html(`<p>a</p><script>open("/b"); new Worker("data:text/javascript,setInterval(() => 0, 10)"); localStorage.n = Number(localStorage.n || 0) + 1; document.title = localStorage.n</script>`),
		"/b": html(`<p>b</p>`),
	})
	if p := b.Capture(context.Background(), []Job{job("first", s.URL+"/a")})[0]; p.Error != "" {
		t.Fatal(p.Error)
	}
	b.busy.Wait()
	b.in.work.Wait() // the next page's tab is there
	before, _ := targets(t, b)
	processes := len(family(t, temp))
	var jobs []Job
	for i := range 60 {
		j := job(fmt.Sprint("p", i), s.URL+"/a")
		j.FirstScreen = true
		jobs = append(jobs, j)
	}
	for i, p := range b.Capture(context.Background(), jobs) {
		if p.Error != "" || p.Name != jobs[i].Name || p.Title != "1" {
			t.Errorf("page %s: error %q, title %q; a page sees another's storage", p.Name, p.Error, p.Title)
		}
	}
	b.busy.Wait()
	until(t, "targets and contexts are gone", func() bool {
		n, ctxs := targets(t, b)
		return n <= before && ctxs <= 1
	})
	until(t, "renderers are gone", func() bool { return len(family(t, temp)) <= processes })
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	until(t, "all processes are gone", func() bool { return len(family(t, temp)) == 0 })
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left in the temporary folder: %v", left)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if p := b.Capture(context.Background(), jobs[:1])[0]; p.Error == "" {
		t.Error("a closed browser takes pages")
	}
}

// The sweep after a killed run finds every process of the browser.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "evalengine-run-killed")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b := New(Options{Temp: dir})
	defer b.Close()
	s := site(t, map[string]http.HandlerFunc{"/": html("<p>x</p>")})
	if p := take(t, b, job("swept", s.URL)); p.Error != "" {
		t.Fatal(p.Error)
	}
	b.busy.Wait()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir, old, old); err != nil {
		t.Fatal(err)
	}
	left, err := scratch.Sweep(parent)
	if err != nil || len(left) != 1 || len(left[0].Processes) == 0 {
		t.Errorf("Sweep = %+v, %v", left, err)
	}
	until(t, "all processes are gone", func() bool { return len(family(t, dir)) == 0 })
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is still there")
	}
}

func TestCancel(t *testing.T) {
	b := newBrowser(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	s := site(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() },
	})
	p := b.Capture(ctx, []Job{job("cancelled", s.URL), job("never", s.URL)})
	for _, p := range p {
		if p.Error == "" {
			t.Errorf("page %s has no error", p.Name)
		}
	}
	b.busy.Wait()
	until(t, "contexts are gone", func() bool { _, n := targets(t, b); return n <= 1 })
}

// A browser that runs already is used and left as it was.
func TestRemote(t *testing.T) {
	s := site(t, map[string]http.HandlerFunc{"/": html("<p>remote</p>")})
	address := remoteBrowser(t)
	r := New(Options{Config: eval.BrowserConfig{URL: address}})
	if p := take(t, r, job("remote", s.URL)); p.Error != "" || !bytes.Contains(p.HTML, []byte("remote")) || len(p.Shots) != 1 {
		t.Errorf("error %q, HTML %s", p.Error, p.HTML)
	}
	r.busy.Wait()
	until(t, "contexts are gone", func() bool { _, n := targets(t, r); return n <= 1 })
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	res, err := http.Get(address + "/json/version")
	if err != nil {
		t.Fatalf("the browser is gone: %v", err)
	}
	res.Body.Close()
}

// remoteBrowser starts a browser that is not the engine's and returns its address.
func remoteBrowser(t *testing.T) string {
	t.Helper()
	path, err := Find(eval.BrowserConfig{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p, err := proc.Start(proc.Spec{Command: path, Env: environment(dir), Dir: dir, Grace: time.Second,
		Args: []string{"--headless=new", "--remote-debugging-port=0", "--user-data-dir=" + dir, "--no-first-run", "--no-sandbox", "about:blank"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	var port string
	until(t, "the browser listens", func() bool {
		b, err := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
		port, _, _ = strings.Cut(string(b), "\n")
		return err == nil && port != ""
	})
	return "http://127.0.0.1:" + port
}

func TestCrashedRenderer(t *testing.T) {
	b := newBrowser(t, Options{})
	hits := make(chan struct{}, 10)
	release := make(chan struct{})
	s := site(t, map[string]http.HandlerFunc{
		"/wait": html("<p>waits</p><img src=/pic>"),
		"/pic": func(w http.ResponseWriter, r *http.Request) {
			hits <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
		},
	})
	kill := func() {
		for _, pid := range renderers(t, b) {
			p, err := os.FindProcess(pid)
			if err != nil {
				t.Fatal(err)
			}
			p.Kill()
		}
	}
	done := make(chan eval.Page)
	go func() { done <- take(t, b, job("once", s.URL+"/wait")) }()
	<-hits
	browser := b.in.p.PID()
	kill()
	<-hits
	close(release)
	if p := <-done; p.Error != "" || !strings.Contains(string(p.HTML), "waits") {
		t.Errorf("error %q, HTML %s", p.Error, p.HTML)
	}
	if b.in.p.PID() != browser {
		t.Error("a renderer's end costs the browser")
	}
	release = make(chan struct{})
	go func() { done <- take(t, b, job("twice", s.URL+"/wait")) }()
	<-hits
	kill()
	<-hits
	kill()
	if p := <-done; !strings.Contains(p.Error, "the page ended its renderer or the browser, 2 times") {
		t.Errorf("error %q", p.Error)
	}
}
