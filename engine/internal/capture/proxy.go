package capture

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// proxy is one page's only way to the network: a browser context is given it as
// its proxy, so that frames, workers, sockets and redirects all come here,
// whatever the page does. It reaches what the page may reach and refuses the
// rest.
type proxy struct {
	addr   string
	srv    *http.Server
	peer   net.IP // the only client, nil for this machine's
	client *http.Transport
	done   chan struct{}

	mu      sync.Mutex
	allow   allow
	refused []string          // what was refused: addresses, or host:port of a tunnel
	broken  map[string]string // addresses that did not answer, and why
	tunnels map[net.Conn]struct{}
	closed  bool
}

// maxRefused bounds what is remembered of a page that asks for very much.
const maxRefused = 200

const dialLimit = 10 * time.Second

// newProxy listens. The caller must call close.
func newProxy(local string, peer net.IP) (*proxy, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(local, "0"))
	if err != nil {
		return nil, fmt.Errorf("proxy of a page: %w", err)
	}
	p := &proxy{addr: l.Addr().String(), peer: peer, done: make(chan struct{}),
		broken: map[string]string{}, tunnels: map[net.Conn]struct{}{}}
	p.client = &http.Transport{DialContext: p.dial, DisableCompression: true, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second, Proxy: nil}
	p.srv = &http.Server{Handler: p, ReadHeaderTimeout: 30 * time.Second, MaxHeaderBytes: 1 << 20, ErrorLog: nil}
	go func() { defer close(p.done); p.srv.Serve(l) }()
	return p, nil
}

// let says what may be reached; until then nothing may.
func (p *proxy) let(a allow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allow = a
}

func (p *proxy) reach() *allow {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.allow
	return &a
}

func (p *proxy) close() {
	p.srv.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.tunnels {
		c.Close()
	}
	p.mu.Unlock()
	p.client.CloseIdleConnections()
	<-p.done
}

func (p *proxy) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialLimit}
	return d.DialContext(ctx, network, addr)
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.peer != nil {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		if ip := net.ParseIP(host); ip == nil || !ip.Equal(p.peer) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
	}
	if r.Method == http.MethodConnect {
		p.tunnel(w, r)
		return
	}
	if r.URL.Host == "" || !p.reach().url(r.URL.String()) {
		p.refuse(w, r.URL.String())
		return
	}
	p.forward(w, r)
}

func (p *proxy) refuse(w http.ResponseWriter, what string) {
	p.mu.Lock()
	if len(p.refused) < maxRefused {
		p.refused = append(p.refused, what)
	}
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusForbidden)
}

func (p *proxy) fail(w http.ResponseWriter, what string, err error) {
	p.mu.Lock()
	if len(p.broken) < maxRefused {
		p.broken[what] = err.Error()
	}
	p.mu.Unlock()
	w.WriteHeader(http.StatusBadGateway)
}

// why says what was wrong with an address that did not answer.
func (p *proxy) why(what string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.broken[what]
	return s, ok
}

// denied lists what was refused.
func (p *proxy) denied() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.refused...)
}

// hop are headers that are for one connection alone.
var hop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func (p *proxy) forward(w http.ResponseWriter, r *http.Request) {
	out := r.Clone(r.Context())
	out.RequestURI = ""
	for _, h := range hop {
		out.Header.Del(h)
	}
	if r.ContentLength == 0 {
		out.Body = nil
	}
	res, err := p.client.RoundTrip(out)
	if err != nil {
		p.fail(w, r.URL.String(), err)
		return
	}
	defer res.Body.Close()
	for _, h := range hop {
		res.Header.Del(h)
	}
	for k, v := range res.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(res.StatusCode)
	copyOut(w, res.Body)
}

// copyOut passes on what there is at once: a page may wait for the first line of
// a stream.
func copyOut(w http.ResponseWriter, body io.Reader) {
	rc := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return
			}
			rc.Flush()
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the browser learns that it was cut
		}
	}
}

func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	if !p.reach().host(r.Host) {
		p.refuse(w, r.Host)
		return
	}
	up, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		p.fail(w, r.Host, err)
		return
	}
	down, buf, err := http.NewResponseController(w).Hijack()
	if err != nil || !p.keep(up, down) {
		up.Close()
		if down != nil {
			down.Close()
		}
		return
	}
	defer p.release(up, down)
	down.SetDeadline(time.Time{})
	io.WriteString(down, "HTTP/1.1 200 Connection established\r\n\r\n")
	ended := make(chan struct{}, 2)
	go func() { io.Copy(up, buf); ended <- struct{}{} }()
	go func() { io.Copy(down, up); ended <- struct{}{} }()
	<-ended
	up.Close()
	down.Close()
	<-ended
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	for _, c := range conns {
		p.tunnels[c] = struct{}{}
	}
	return true
}

func (p *proxy) release(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(p.tunnels, c)
	}
}
