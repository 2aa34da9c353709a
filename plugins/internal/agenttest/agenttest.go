// Package agenttest is for tests of host plugins that drive real agent programs:
// it finds the programs and gives them a scripted model and MCP servers, all on
// loopback.
package agenttest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/examples/scripted-model/model"
)

// EnvDir names the folder that holds node_modules, where it is not the engine's
// own.
const EnvDir = "EVALENGINE_TEST_NPM"

const packages = "engine/internal/npmtest"

// Bin returns the path of an agent's own program, without npm's wrapper: "claude"
// or "codex". A test that needs one that is not there fails with the command that
// installs it.
func Bin(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv(EnvDir)
	if root == "" {
		root = filepath.Join(repository(t), filepath.FromSlash(packages))
	}
	cpu := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	platform := runtime.GOOS + "-" + cpu
	globs := map[string][]string{
		"claude": {"@anthropic-ai/claude-code-" + platform + "/claude", "@anthropic-ai/claude-code-" + platform + "-musl/claude"},
		"codex":  {"@openai/codex-" + platform + "/vendor/*/bin/codex"},
	}
	for _, glob := range globs[name] {
		found, _ := filepath.Glob(filepath.Join(root, "node_modules", filepath.FromSlash(glob)))
		if len(found) > 0 {
			path, err := filepath.Abs(found[0])
			if err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	t.Fatalf("no %s under %s; run: npm ci --prefix %s, or set %s to the folder that holds node_modules", name, root, packages, EnvDir)
	return ""
}

// repository is the module's root, above the working folder.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the working folder")
		}
		dir = up
	}
}

// Model starts a scripted model; an empty script is the library. It ends with the
// test.
func Model(t *testing.T, script string) *model.Server {
	t.Helper()
	var s *model.Script
	if script != "" {
		var err error
		if s, err = model.Parse([]byte(script)); err != nil {
			t.Fatal(err)
		}
	}
	srv, err := model.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv
}

// Server is an MCP server over streamable HTTP that asks for a bearer token. Its
// tools are get_item and list_items, which say that they only read, delete_item,
// which says nothing, and zone.list.all, whose name no agent can carry.
type Server struct {
	Endpoint eval.Endpoint

	mu      sync.Mutex
	calls   []string
	refused int
}

// Serve starts a server of that name. It ends with the test.
func Serve(t *testing.T, name string) *Server {
	t.Helper()
	s := &Server{}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server(name) }, nil)
	token := "token-of-" + name
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			s.mu.Lock()
			s.refused++
			s.mu.Unlock()
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	s.Endpoint = eval.Endpoint{Name: name, URL: web.URL + "/mcp", Token: token}
	return s
}

type item struct {
	ID string `json:"id,omitempty"`
}

func (s *Server) server(name string) *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	for _, t := range []*mcp.Tool{
		{Name: "get_item", Description: "Gets an item.", Annotations: reads},
		{Name: "list_items", Description: "Lists items.", Annotations: reads},
		{Name: "delete_item", Description: "Deletes an item."},
		{Name: "zone.list.all", Description: "Lists tools.", Annotations: reads},
	} {
		mcp.AddTool(srv, t, func(_ context.Context, _ *mcp.CallToolRequest, in item) (*mcp.CallToolResult, any, error) {
			s.mu.Lock()
			s.calls = append(s.calls, t.Name)
			s.mu.Unlock()
			if in.ID == "missing" {
				return nil, nil, fmt.Errorf("no item %q", in.ID)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t.Name + " of " + name}}}, nil, nil
		})
	}
	return srv
}

// Calls are the tools that were called, in order.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Refused is how many requests came without the token.
func (s *Server) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// Gone is the endpoint of a server that is not there.
func Gone(t *testing.T, name string) eval.Endpoint {
	t.Helper()
	web := httptest.NewServer(http.NotFoundHandler())
	url := web.URL
	web.Close()
	return eval.Endpoint{Name: name, URL: url + "/mcp", Token: "token-of-" + name}
}
