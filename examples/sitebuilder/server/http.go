package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/examples/sitebuilder/render"
	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

const maxRequest = 4 << 20

func (in *Instance) routes() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !in.admit() {
			http.Error(w, "closing", http.StatusServiceUnavailable)
			return
		}
		defer in.requests.Done()
		switch {
		case r.URL.Path == "/mcp":
			in.guard(w, r, func() { in.handler().ServeHTTP(w, r) })
		case r.URL.Path == "/_state":
			in.guard(w, r, func() { writeJSON(w, in.State()) })
		case r.URL.Path == "/_nonce":
			writeJSON(w, map[string]string{"nonce": in.Nonce})
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		case r.URL.Path == "/preview" || strings.HasPrefix(r.URL.Path, "/preview/"):
			in.page(w, false, "/preview", strings.TrimPrefix(r.URL.Path, "/preview"))
		default:
			in.page(w, true, "", r.URL.Path)
		}
	})
}

func (in *Instance) guard(w http.ResponseWriter, r *http.Request, next func()) {
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(in.Token))
	if !ok || subtle.ConstantTimeCompare(a[:], b[:]) != 1 {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the bearer token is missing or wrong", http.StatusUnauthorized)
		return
	}
	next()
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has left
}

// page serves a page of the live site or of the draft.
func (in *Instance) page(w http.ResponseWriter, live bool, base, path string) {
	var doc string
	found := false
	published := in.store.View(live, func(name string, c *site.Content) {
		doc, found = render.View{Name: name, Content: c, Base: base}.Document(path)
	})
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src * data:; form-action 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if !found {
		w.WriteHeader(http.StatusNotFound)
		doc = notFound("There is no page at this address.")
		if !published {
			doc = notFound("This site is not published.")
		}
	}
	_, _ = w.Write([]byte(doc)) // the client has left
}

func notFound(text string) string {
	return "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Not found</title></head>\n<body><main><h1>404</h1><p>" + text + "</p></main></body>\n</html>\n"
}

func (in *Instance) newHandler() http.Handler {
	server := in.mcp()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: maxRequest})
}
