package capture

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// newBrowser is a Browser for one test; it needs an installed one.
func newBrowser(t testing.TB, o Options) *Browser {
	t.Helper()
	if _, err := Find(o.Config); err != nil {
		t.Fatalf("these tests drive a real browser: %v", err)
	}
	o.Temp = t.TempDir()
	b := New(o)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return b
}

// site serves testdata and what a test adds.
func site(t testing.TB, handlers map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	if handlers["/"] == nil {
		mux.Handle("/", http.FileServer(http.Dir("testdata")))
	}
	for p, h := range handlers {
		mux.HandleFunc(p, h)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func job(name, url string) Job {
	return Job{Name: name, URL: url, TargetOrigins: []string{url}, Timeout: 40 * time.Second}
}

// take takes one page.
func take(t testing.TB, b *Browser, j Job) eval.Page {
	t.Helper()
	p := b.Capture(context.Background(), []Job{j})[0]
	keep(t, &p)
	return p
}

// keep writes a page's pictures where EVALENGINE_TEST_SHOTS says, to be looked at.
func keep(t testing.TB, p *eval.Page) {
	dir := os.Getenv("EVALENGINE_TEST_SHOTS")
	if dir == "" {
		return
	}
	os.WriteFile(filepath.Join(dir, p.Name+".html"), p.HTML, 0o644)
	os.WriteFile(filepath.Join(dir, p.Name+".ax.json"), p.Accessibility, 0o644)
	for _, s := range p.Shots {
		for _, tl := range s.Tiles {
			os.WriteFile(filepath.Join(dir, tl.File), tl.PNG, 0o644)
		}
	}
}

func html(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(body))
	}
}

func TestCapture(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, nil)
	j := job("three", s.URL+"/three.html")
	p := take(t, b, j)
	if p.Error != "" || len(p.Unsettled) > 0 || len(p.Console) > 0 || len(p.Failed) > 0 {
		t.Fatalf("error %q, unsettled %q, console %v, failed %v", p.Error, p.Unsettled, p.Console, p.Failed)
	}
	if p.Name != "three" || p.URL != j.URL || p.FinalURL != j.URL || p.Title != "Three sections" || p.Status != 200 || p.Requests != 1 || p.Bytes < 1500 || p.Seconds <= 0 {
		t.Errorf("name %q, URL %q, final %q, title %q, status %d, %d requests, %d bytes, %v s", p.Name, p.URL, p.FinalURL, p.Title, p.Status, p.Requests, p.Bytes, p.Seconds)
	}
	if len(p.Shots) != 1 || p.Shots[0].Viewport != (eval.Viewport{Width: 1280, Height: 800}) || p.Shots[0].Height < 1680 || len(p.Shots[0].Tiles) != 1 || p.Shots[0].Tiles[0].File != "three.1.png" {
		t.Errorf("shots %d, %v, %d px", len(p.Shots), p.Shots[0].Viewport, p.Shots[0].Height)
	}
	if !strings.Contains(string(p.HTML), `<section id="b"><h2>Three cards</h2>`) || !json.Valid(p.Accessibility) {
		t.Errorf("HTML %s", p.HTML)
	}
}
