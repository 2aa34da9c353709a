package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ready is what an address must answer before a serve process counts as ready.
type ready struct {
	url     string
	headers map[string]string // of the request
	body    string
	// nonceHeader is the header that must be the nonce, empty where it is not
	// asked for.
	nonceHeader, nonce string
}

// proves reports whether an answer that passes shows that it comes from this
// target.
func (r ready) proves() bool {
	return r.nonce != "" && (r.nonceHeader != "" || strings.Contains(r.body, r.nonce))
}

// maxReadyBody is how much of the answer is looked at.
const maxReadyBody = 1 << 20

// check asks once.
func (r ready) check(ctx context.Context, client *http.Client) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return err
	}
	for k, v := range r.headers {
		req.Header.Set(k, v)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReadyBody))
	switch {
	case err != nil:
		return fmt.Errorf("GET %s: %w", r.url, err)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return fmt.Errorf("GET %s: %s", r.url, resp.Status)
	case !strings.Contains(string(body), r.body):
		return fmt.Errorf("GET %s: the answer does not hold %q: it may be another's", r.url, r.body)
	case r.nonceHeader != "" && resp.Header.Get(r.nonceHeader) != r.nonce:
		return fmt.Errorf("GET %s: the header %s is %q, not the nonce: it may be another's", r.url, r.nonceHeader, resp.Header.Get(r.nonceHeader))
	}
	return nil
}

// Waits between tries.
const (
	firstWait = 10 * time.Millisecond
	lastWait  = 500 * time.Millisecond
)

// errEnded is the cause of a wait that ends because the process did.
var errEnded = errors.New("the process ended")

// await tries until check holds, the process behind it ends (p may be nil), or
// the bound is over. One try gets half of the bound.
func await(ctx context.Context, p *process, bound time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := errors.New("not ready after " + bound.String())
	ctx, stop := context.WithTimeoutCause(ctx, bound, over)
	defer stop()
	if p != nil {
		go func() {
			select {
			case <-p.exited:
				cancel(errEnded)
			case <-ctx.Done():
			}
		}()
	}
	var last error
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		try, stop := context.WithTimeout(ctx, max(bound/2, firstWait))
		err := check(try)
		stop()
		if ctx.Err() == nil {
			last = err
		}
		if err == nil && ctx.Err() == nil {
			return nil
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
			continue
		case <-ctx.Done():
			t.Stop()
		}
		if cause := context.Cause(ctx); last == nil || cause == errEnded {
			return cause
		}
		return fmt.Errorf("%w: %w", context.Cause(ctx), last)
	}
}

// loopback returns the port of an address on this machine, 0 for any other.
func loopback(address string) int {
	u, err := url.Parse(address)
	if err != nil {
		return 0
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return 0
	}
	n, _ := strconv.Atoi(u.Port())
	return n
}

// newClient returns a client for addresses that come and go: it keeps no
// connection, and follows no redirect to another host.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if req.URL.Host != via[0].URL.Host || len(via) > 5 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}
