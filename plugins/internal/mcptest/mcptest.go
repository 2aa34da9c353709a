// Package mcptest is a small real MCP server for tests of hosts: a notebook whose
// IDs differ from one server to the next.
package mcptest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/engine/eval"
)

// Notebook is a server with its notes.
type Notebook struct {
	Endpoint eval.Endpoint

	done  chan struct{} // closed when the test ends
	mu    sync.Mutex
	notes map[string]string // title by ID
	hits  int
}

type note struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// Start starts a server that wants its token and ends with the test. Its tools:
//
//	note_add {title}          structuredContent {id, title}
//	note_list {}              a text with JSON {"notes": [{id, title}]}
//	note_rename {id, title}   an error where there is no such note
//	note_wait {}              returns when the call is cancelled or the test ends
func Start(t testing.TB, name string) *Notebook {
	t.Helper()
	n := &Notebook{notes: map[string]string{}, done: make(chan struct{})}
	server := n.server()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	token := rand.Text()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.hits++
		n.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "wrong token", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(n.done)
		srv.CloseClientConnections()
		srv.Close()
	})
	n.Endpoint = eval.Endpoint{Name: name, URL: srv.URL, Token: token}
	return n
}

func (n *Notebook) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "notebook", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "note_add"}, func(_ context.Context, _ *mcp.CallToolRequest, in note) (*mcp.CallToolResult, note, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		in.ID = strings.ToLower(rand.Text())
		n.notes[in.ID] = in.Title
		return nil, in, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "note_list"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		list := []note{}
		for id, title := range n.notes {
			list = append(list, note{id, title})
		}
		b, err := json.Marshal(map[string]any{"notes": list})
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}}, nil, err
	})
	mcp.AddTool(s, &mcp.Tool{Name: "note_rename"}, func(_ context.Context, _ *mcp.CallToolRequest, in note) (*mcp.CallToolResult, any, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		if _, ok := n.notes[in.ID]; !ok {
			return nil, nil, errors.New("no note " + in.ID)
		}
		n.notes[in.ID] = in.Title
		return nil, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "note_wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		select {
		case <-ctx.Done():
		case <-n.done:
		}
		return nil, nil, errors.New("nothing came")
	})
	return s
}

// Titles returns the notes' titles in no order.
func (n *Notebook) Titles() map[string]bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[string]bool{}
	for _, t := range n.notes {
		all[t] = true
	}
	return all
}

// Requests is how many HTTP requests came.
func (n *Notebook) Requests() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hits
}
