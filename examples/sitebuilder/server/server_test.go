package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func status(t *testing.T, method, url, authorization string) (int, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode, res.Header
}

func TestAuth(t *testing.T) {
	in := start(t, "demo")
	for _, tt := range []struct {
		method, path, authorization string
		want                        int
	}{
		{"POST", "/mcp", "", 401}, {"POST", "/mcp", "Bearer ", 401}, {"POST", "/mcp", "Bearer wrong", 401}, {"POST", "/mcp", in.Token, 401},
		{"POST", "/mcp", "Bearer " + in.Token + "x", 401}, {"GET", "/mcp", "", 401}, {"DELETE", "/mcp", "", 401},
		{"GET", "/_state", "", 401}, {"GET", "/_state", "Bearer " + in.Token, 200},
		{"GET", "/_nonce", "", 200}, {"GET", "/", "", 200}, {"GET", "/preview/about", "", 200}, {"GET", "/preview", "", 200},
		{"POST", "/", "", 405}, {"GET", "/mcp/x", "", 404}, {"GET", "/../etc/passwd", "", 404},
	} {
		if got, _ := status(t, tt.method, in.SiteURL+tt.path, tt.authorization); got != tt.want {
			t.Errorf("%s %s with %q = %d; want %d", tt.method, tt.path, tt.authorization, got, tt.want)
		}
	}
	if cs, err := dial(t.Context(), in.MCPURL, "wrong"); err == nil {
		cs.Close()
		t.Error("a client with a wrong token was let in")
	}
	_, h := status(t, "GET", in.SiteURL+"/", "")
	if got, want := h.Get("Content-Security-Policy"), "default-src 'none'; style-src 'unsafe-inline'; img-src * data:; form-action 'none'; base-uri 'none'"; got != want {
		t.Errorf("policy = %q; want %q", got, want)
	}
}

func TestNonce(t *testing.T) {
	in, err := Start(t.Context(), Options{Nonce: "n-1", Token: "t-1"})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, body := get(t, in.SiteURL+"/_nonce"); body != "{\"nonce\":\"n-1\"}\n" {
		t.Errorf("/_nonce = %q", body)
	}
	if in.Token != "t-1" || in.MCPURL != in.SiteURL+"/mcp" {
		t.Errorf("instance = %+v", in)
	}
	client, server := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- in.ServeMCP(ctx, server) }()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{}).Connect(ctx, client,
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	if got := cs.InitializeResult().Meta["sitebuilder/nonce"]; got != "n-1" {
		t.Errorf("nonce in the handshake = %v; want n-1", got)
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("ServeMCP() = %v; want nil after its context ended", err)
	}
	cs.Close()
}

func TestStartRefuses(t *testing.T) {
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Template: "shop"}, `template "shop": not known`},
		{Options{Addr: "0.0.0.0:0"}, "0.0.0.0:0 is not a loopback address"},
		{Options{Addr: ":0"}, ":0 is not a loopback address"},
		{Options{Addr: "127.0.0.1"}, "missing port in address"},
		{Options{File: filepath.Join(t.TempDir(), "none", "f.json")}, "save account"},
	} {
		in, err := Start(t.Context(), tt.o)
		if err == nil {
			in.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Start(%+v) = %v; want %q", tt.o, err, tt.want)
		}
	}
}

// TestManySideBySide runs a hundred instances in one process, each with its own client and page.
func TestManySideBySide(t *testing.T) {
	const n = 100
	ctx := t.Context()
	instances := make([]*Instance, n)
	var g errgroup.Group
	for i := range instances {
		g.Go(func() (err error) {
			instances[i], err = Start(ctx, Options{Template: []string{"blank", "demo"}[i%2]})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for i, in := range instances {
		g.Go(func() error { return work(ctx, in, fmt.Sprintf("Collection %d", i), instances[(i+1)%n]) })
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	for i, in := range instances {
		st := in.State()
		if last := st.Collections[len(st.Collections)-1].Name; last != fmt.Sprintf("Collection %d", i) || len(st.Collections) != 1+2*(i%2) {
			t.Errorf("instance %d has %s", i, collectionNames(st.Collections))
		}
	}
	for _, in := range instances {
		g.Go(in.Close)
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	for _, in := range instances {
		l, err := net.Listen("tcp", strings.TrimPrefix(in.SiteURL, "http://"))
		if err != nil {
			t.Errorf("the port is not free after Close: %v", err)
			continue
		}
		l.Close()
	}
}

// work makes a collection, and checks that the token does not open another instance. It leaves its session open: Close
// has to end it.
func work(ctx context.Context, in *Instance, name string, other *Instance) error {
	if cs, err := dial(ctx, other.MCPURL, in.Token); err == nil {
		cs.Close()
		return fmt.Errorf("the token of %s opens %s", in.MCPURL, other.MCPURL)
	}
	cs, err := dial(ctx, in.MCPURL, in.Token)
	if err != nil {
		return err
	}
	res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "collections_create", Arguments: map[string]any{"site_id": "site_1", "name": name}})
	if err != nil || res.IsError {
		return fmt.Errorf("%s: %v %+v", name, err, res)
	}
	return nil
}

func TestContextEndsInstance(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, err := Start(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-in.done
	if err := in.Close(); err != nil {
		t.Errorf("Close() after the context ended = %v", err)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(in.SiteURL, "http://")); err == nil {
		t.Error("the instance still listens")
	}
}

func TestFileKeepsTheAccount(t *testing.T) {
	file := filepath.Join(t.TempDir(), "account.json")
	for i, want := range []string{"", "Recipes"} {
		in, err := Start(t.Context(), Options{File: file})
		if err != nil {
			t.Fatal(err)
		}
		if got := collectionNames(in.State().Collections); got != want {
			t.Errorf("start %d: collections = %q; want %q", i+1, got, want)
		}
		if i == 0 {
			connect(t, in).ok("collections_create", `{"site_id":"site_1","name":"Recipes"}`)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStateIsPlainJSON(t *testing.T) {
	in := start(t, "blank")
	data, err := json.Marshal(in.State())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"sites":[{"id":"site_1","name":"Demo","slug":"demo","published":false,"publishes":0,"pages":1,"collections":0,"unpublished_changes":true}],` +
		`"pages":[{"id":"page_1","site_id":"site_1","title":"Home","slug":"","path":"/","seo_title":"","description":"","draft":false,"status":"unpublished",` +
		`"text":"","headings":[],"classes":[],"elements":[]}],"styles":[],"collections":[],"published":{"pages":[],"styles":[],"collections":[]}}`
	if string(data) != want {
		t.Errorf("state = %s\nwant %s", data, want)
	}
}

func BenchmarkStart(b *testing.B) {
	for _, template := range []string{"blank", "demo"} {
		b.Run(template, func(b *testing.B) {
			for b.Loop() {
				in, err := Start(b.Context(), Options{Template: template})
				if err != nil {
					b.Fatal(err)
				}
				if len(in.State().Sites) != 1 {
					b.Fatal("no site")
				}
				in.Close()
			}
		})
	}
}

// BenchmarkTrial is what one trial costs in the server and the client together: start, handshake, list, one change.
func BenchmarkTrial(b *testing.B) {
	for b.Loop() {
		in, err := Start(b.Context(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		cs, err := dial(b.Context(), in.MCPURL, in.Token)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := cs.ListTools(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		if _, err := cs.CallTool(b.Context(), &mcp.CallToolParams{Name: "collections_create", Arguments: map[string]any{"site_id": "site_1", "name": "Recipes"}}); err != nil {
			b.Fatal(err)
		}
		cs.Close()
		in.Close()
	}
}
