package capture

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/websocket"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestAllow(t *testing.T) {
	j := Job{TargetOrigins: []string{"http://127.0.0.1:8080/a/b", "https://site.example"}, Origins: []string{"https://*.cdn.example", "http://files.example:81"}}
	a := j.allow()
	for raw, want := range map[string]bool{
		"http://127.0.0.1:8080/x": true, "http://localhost:8080/": true, "ws://127.0.0.1:8080/": true, "http://[::1]:8080": true,
		"http://127.0.0.1:8081/": false, "http://127.0.0.1/": false, "http://site.example:443/": true, "https://site.example/": true,
		"https://SITE.example./": true, "https://site.example.evil/": false, "https://a.cdn.example/x": true, "https://a.b.cdn.example:443/": true,
		"http://a.cdn.example/": false, "https://a.cdn.example:444/": false, "http://files.example:81/": true, "wss://a.cdn.example/": true,
		"file:///etc/passwd": false, "ftp://127.0.0.1:8080/": false, "http:///x": false, "javascript:1": false, "": false, "http://[::1": false,
		"http://127.0.0.1:8080@evil.example/": false, "chrome://version": false,
	} {
		if got := a.url(raw); got != want {
			t.Errorf("url(%q) = %v; want %v", raw, got, want)
		}
	}
	for hostport, want := range map[string]bool{"127.0.0.1:8080": true, "127.0.0.1:22": false, "a.cdn.example:443": true, "a.cdn.example:80": false, "": false, "x": false} {
		if got := a.host(hostport); got != want {
			t.Errorf("host(%q) = %v; want %v", hostport, got, want)
		}
	}
}

// other is somebody else's server; it counts who comes.
func other(t *testing.T) (*httptest.Server, *atomic.Int64) {
	var n atomic.Int64
	s := httptest.NewUnstartedServer(html("<p>secret of another trial</p>"))
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			n.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s, &n
}

// A page has no way to another trial's target, whatever it tries.
func TestEgress(t *testing.T) {
	b := newBrowser(t, Options{})
	o, reached := other(t)
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	var datagrams atomic.Int64
	go func() {
		buf := make([]byte, 1500)
		for {
			if _, _, err := udp.ReadFrom(buf); err != nil {
				return
			}
			datagrams.Add(1)
		}
	}()
	ws := strings.Replace(o.URL, "http", "ws", 1)
	stun := udp.LocalAddr().String()
	pages := map[string]string{
		"img":      `<img src="` + o.URL + `/img">`,
		"script":   `<script src="` + o.URL + `/script"></script>`,
		"css":      `<style>@import "` + o.URL + `/css"; p { background: url(` + o.URL + `/bg) }</style>`,
		"frame":    `<iframe src="` + o.URL + `/frame"></iframe>`,
		"object":   `<object data="` + o.URL + `/object"></object><embed src="` + o.URL + `/embed">`,
		"fetch":    `<script>fetch("` + o.URL + `/fetch", {mode: "no-cors", method: "POST", body: "data"})</script>`,
		"beacon":   `<script>navigator.sendBeacon("` + o.URL + `/beacon", "data")</script>`,
		"socket":   `<script>new WebSocket("` + ws + `/socket")</script>`,
		"events":   `<script>new EventSource("` + o.URL + `/events")</script>`,
		"worker":   `<script>new Worker(URL.createObjectURL(new Blob(["fetch('` + o.URL + `/worker', {mode: 'no-cors'}); new WebSocket('` + ws + `/ws')"])))</script>`,
		"shared":   `<script>new SharedWorker("data:text/javascript,fetch('` + o.URL + `/shared', {mode: 'no-cors'})")</script>`,
		"service":  `<script>navigator.serviceWorker.register("/sw.js")</script>`,
		"redirect": `<img src="/away"><iframe src="/away"></iframe>`,
		"prefetch": `<link rel=prefetch href="` + o.URL + `/prefetch"><link rel=preconnect href="` + o.URL + `"><link rel=dns-prefetch href="` + o.URL + `"><script type=speculationrules>{"prerender":[{"urls":["` + o.URL + `/pre"]}]}</script>`,
		"popup":    `<script>open("` + o.URL + `/popup")</script><a id=a target=_blank href="` + o.URL + `/a">x</a><script>a.click()</script>`,
		"form":     `<form id=f target=x action="` + o.URL + `/form" method=post><input name=data></form><iframe name=x></iframe><script>f.submit()</script>`,
		"ping":     `<a id=a ping="` + o.URL + `/ping" href="#x">x</a><script>a.click()</script>`,
		"csp":      `<meta http-equiv="Content-Security-Policy" content="img-src 'none'; report-uri ` + o.URL + `/report"><img src=/x>`,
		"stun": `<p id=p>text</p><script>const c = new RTCPeerConnection({iceServers: [{urls: "stun:` + stun + `"}, {urls: "turn:` + stun + `?transport=udp", username: "u", credential: "c"}, {urls: "turn:` + strings.TrimPrefix(o.URL, "http://") + `?transport=tcp", username: "u", credential: "c"}]});
			c.createDataChannel("x"); c.createOffer().then((d) => c.setLocalDescription(d))</script>`,
		"transport": `<script>new WebTransport("https://` + stun + `/x").ready.catch(() => 0)</script>`,
		"go":        `<script>setTimeout(() => { location = "` + o.URL + `/go" }, 0)</script>`,
		"alias":     `<img src="` + strings.Replace(o.URL, "127.0.0.1", "localhost", 1) + `/i"><img src="` + strings.Replace(o.URL, "127.0.0.1", "0.0.0.0", 1) + `/i"><img src="` + strings.Replace(o.URL, "127.0.0.1", "2130706433", 1) + `/i">`,
	}
	handlers := map[string]http.HandlerFunc{
		"/away": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, o.URL+"/away", http.StatusFound) },
		"/sw.js": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "oninstall = (e) => { skipWaiting(); e.waitUntil(fetch(%q, {mode: 'no-cors'}).catch(() => 0)) }; onactivate = (e) => e.waitUntil(clients.claim())", o.URL+"/sw")
		},
	}
	for name, body := range pages {
		handlers["/"+name] = html("<!DOCTYPE html><p>own text</p>" + body)
	}
	s := site(t, handlers)
	var names []string
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			p := take(t, b, job("egress-"+name, s.URL+"/"+name))
			if strings.Contains(string(p.HTML), "secret") {
				t.Errorf("HTML has another trial's text: %s", p.HTML)
			}
			silent := slices.Contains([]string{"popup", "ping", "beacon", "csp", "prefetch", "stun", "transport"}, name)
			blockedOne := slices.ContainsFunc(p.Failed, func(f eval.FailedRequest) bool { return f.Blocked })
			if !blockedOne && !silent {
				t.Errorf("no request is said to be blocked: error %q, failed %+v", p.Error, p.Failed)
			}
			if (p.Error != "") != (name == "go") {
				t.Errorf("error %q", p.Error)
			}
		})
	}
	b.busy.Wait()
	if n := reached.Load(); n != 0 {
		t.Errorf("another trial's target got %d connections", n)
	}
	if n := datagrams.Load(); n != 0 {
		t.Errorf("%d datagrams left the page", n)
	}
	for _, asked := range b.in.own.denied() {
		if !strings.HasPrefix(asked, nowhere) && asked != "127.0.0.1:1" {
			t.Errorf("the browser itself asked for %s", asked)
		}
	}
}

// What the suite lets a page reach is reached.
func TestOrigins(t *testing.T) {
	b := newBrowser(t, Options{})
	o, reached := other(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/", html(`<p id=p>text</p><iframe src="`+o.URL+`/frame"></iframe><script>
		const ws = new WebSocket("ws://" + location.host + "/echo"); ws.onopen = () => ws.send("hello"); ws.onmessage = (e) => { p.textContent = "echo " + e.data }</script>`))
	mux.Handle("/echo", websocket.Handler(func(c *websocket.Conn) {
		var s string
		if websocket.Message.Receive(c, &s) == nil {
			websocket.Message.Send(c, s)
		}
	}))
	s := httptest.NewServer(mux)
	defer s.Close()
	j := job("origins", s.URL)
	j.Origins = []string{"http://127.0.0.1:" + o.URL[strings.LastIndexByte(o.URL, ':')+1:]}
	j.WaitFor = "p"
	p := take(t, b, j)
	if p.Error != "" || len(p.Failed) != 0 || reached.Load() == 0 {
		t.Errorf("error %q, failed %+v, %d connections", p.Error, p.Failed, reached.Load())
	}
	if !strings.Contains(string(p.HTML), "echo hello") || strings.Contains(string(p.HTML), "secret") {
		t.Errorf("HTML %s", p.HTML)
	}
	j.Origins = nil
	for url, want := range map[string]string{
		o.URL: "is none of the target's own addresses", "file:///etc/passwd": "is none of the target's own addresses",
		"chrome://version": "is none of the target's own addresses", "about:blank": "is none of the target's own addresses",
	} {
		j.URL = url
		if p := take(t, b, j); !strings.Contains(p.Error, want) {
			t.Errorf("%s: error %q; want %q", url, p.Error, want)
		}
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	if p := take(t, b, job("gone", gone.URL)); !strings.Contains(p.Error, "connection refused") || p.Status != 0 {
		t.Errorf("error %q, status %d", p.Error, p.Status)
	}
}

func TestFailedRequests(t *testing.T) {
	b := newBrowser(t, Options{})
	s := site(t, map[string]http.HandlerFunc{
		"/page":     html(`<link rel=stylesheet href=/none.css><img src=/none.png><script src=/fails.js></script><script>fetch("/api", {method: "POST", body: "x"}); throw new Error("thrown")</script><script>console.warn("careful", {a: 1}); console.log("not kept")</script>`),
		"/api":      func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) },
		"/fails.js": func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) },
	})
	p := take(t, b, job("failed", s.URL+"/page"))
	got := map[string]string{}
	for _, f := range p.Failed {
		got[strings.TrimPrefix(f.URL, s.URL)] = fmt.Sprintf("%s %s %d %v", f.Method, f.Kind, f.Status, f.Error != "")
	}
	want := map[string]string{"/none.css": "GET stylesheet 404 false", "/none.png": "GET image 404 false", "/api": "POST fetch 503 false", "/fails.js": "GET script 0 true"}
	for k, w := range want {
		if got[k] != w {
			t.Errorf("%s: %q; want %q", k, got[k], w)
		}
	}
	if len(p.Console) != 3 || !strings.Contains(p.Console[0].Text, "none.css") {
		t.Fatalf("console %+v", p.Console)
	}
	if p.Console = p.Console[1:]; p.Console[0].Level != "exception" || !strings.Contains(p.Console[0].Text, "Error: thrown") || p.Console[0].Line != 1 ||
		p.Console[1].Level != "warning" || !strings.HasPrefix(p.Console[1].Text, "careful ") {
		t.Errorf("console %+v", p.Console)
	}
	if p.Requests != 5 || p.Bytes < 200 {
		t.Errorf("%d requests, %d bytes", p.Requests, p.Bytes)
	}
}
