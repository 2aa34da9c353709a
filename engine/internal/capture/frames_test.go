package capture

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A page with frames of other sites comes to rest when they have: what
// they load is told to other processes' sessions, also of frames within frames.
func TestFramesOfOtherSites(t *testing.T) {
	b := newBrowser(t, Options{})
	var port string
	frame := func(path string) string {
		return fmt.Sprintf(`<iframe src="http://localhost:%s%s"></iframe>`, port, path)
	}
	serve := func(body func() string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { html(body())(w, r) }
	}
	s := site(t, map[string]http.HandlerFunc{
		"/page":     serve(func() string { return "<title>outer</title><h1>outer</h1>" + frame("/inner") + frame("/plain") }),
		"/plain":    html("<p>plain"),
		"/inner":    serve(func() string { return "<img src=/late.png>" + frame("/plain?nested") }),
		"/never":    serve(func() string { return "<h1>outer</h1>" + frame("/hangs") }),
		"/hangs":    html("<img src=/hang.png>"),
		"/late.png": after(600*time.Millisecond, red),
		"/hang.png": after(time.Hour, red),
	})
	port = s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	p := take(t, b, job("framed", s.URL+"/page"))
	if p.Error != "" || len(p.Unsettled) > 0 {
		t.Errorf("error %q, unsettled %q; want none", p.Error, p.Unsettled)
	}
	j := job("framed-never", s.URL+"/never")
	j.Timeout = 24 * time.Second
	p = take(t, b, j)
	if want := "the page had not loaded"; p.Error != "" || !strings.Contains(strings.Join(p.Unsettled, "\n"), want) {
		t.Errorf("error %q, unsettled %q; want %q", p.Error, p.Unsettled, want)
	}
}

// A page that asks for a password says so; one in the address is used and not kept.
func TestHTTPAuthentication(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, map[string]http.HandlerFunc{"/page": func(w http.ResponseWriter, r *http.Request) {
		if name, word, _ := r.BasicAuth(); name != "ann" || word != "pass-0815" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		html("<h1>inside")(w, r)
	}})
	p := take(t, b, job("asks", s.URL+"/page"))
	if p.Status != 401 || !strings.HasPrefix(p.Error, "status 401: the page asks for a name and a password") {
		t.Errorf("status %d, error %q", p.Status, p.Error)
	}
	j := job("knows", strings.Replace(s.URL, "http://", "http://ann:pass-0815@", 1)+"/page")
	j.TargetOrigins = []string{s.URL}
	if p = take(t, b, j); p.Error != "" || p.Status != 200 || p.URL != s.URL+"/page" || p.FinalURL != s.URL+"/page" {
		t.Errorf("status %d, error %q, URL %q, final %q", p.Status, p.Error, p.URL, p.FinalURL)
	}
}
