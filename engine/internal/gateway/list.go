package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/sse"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// Bounds of a readiness check where the server sets none.
const (
	defaultStart = 60 * time.Second
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
	maxPages     = 1000
)

// ListTools asks each server for its tools, in a session and, over stdio, a
// process of its own that has ended when it returns. A server that fails is
// asked again until ctx or its start timeout ends. The list may be empty.
func ListTools(ctx context.Context, o Options, servers []eval.Server) ([]eval.Tool, error) {
	h, err := Listen(ctx, o)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	var all []eval.Tool
	for _, s := range servers {
		tools, err := h.listServer(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("MCP server %q: %w", s.Name, err)
		}
		all = append(all, tools...)
	}
	return all, nil
}

func (h *Hub) listServer(ctx context.Context, s eval.Server) ([]eval.Tool, error) {
	limit := s.StartTimeout
	if limit <= 0 {
		limit = defaultStart
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		tools, err := h.listOnce(ctx, s)
		if err == nil {
			return tools, nil
		}
		if !sleep(pause, ctx.Done()) {
			return nil, err
		}
	}
}

// listOnce is one session with the server, through a gateway as the agent's.
func (h *Hub) listOnce(ctx context.Context, s eval.Server) (_ []eval.Tool, err error) {
	g, err := h.Open(ctx, TrialOptions{Servers: []eval.Server{s}})
	if err != nil {
		return nil, err
	}
	c := &client{http: &http.Client{Transport: &http.Transport{}}, at: g.Endpoints()[0]}
	defer c.http.CloseIdleConnections()
	err = c.list(ctx)
	c.end(ctx)
	g.Close()
	if err == nil {
		return g.Tools(), nil
	}
	if st := g.Servers()[0]; st.Trouble != "" {
		return nil, fmt.Errorf("%w (%s)", err, st.Trouble)
	} else if tail := strings.TrimSpace(st.Stderr); tail != "" {
		return nil, fmt.Errorf("%w; its stderr ends with: %s", err, quote(tail[max(0, len(tail)-200):]))
	}
	return nil, err
}

// client is the least of an MCP client: it opens a session and lists tools.
type client struct {
	http    *http.Client
	at      eval.Endpoint
	session string
	version string
	id      int
}

func (c *client) list(ctx context.Context) error {
	var init struct {
		ProtocolVersion string                     `json:"protocolVersion"`
		Capabilities    map[string]json.RawMessage `json:"capabilities"`
	}
	params := map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]string{"name": "evalengine", "version": "1"},
	}
	if err := c.call(ctx, "initialize", params, &init); err != nil {
		return err
	}
	c.version = init.ProtocolVersion
	if err := c.post(ctx, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}, nil); err != nil {
		return err
	}
	if _, ok := init.Capabilities["tools"]; !ok {
		return nil
	}
	return c.pages(ctx)
}

func (c *client) pages(ctx context.Context) error {
	params := map[string]any{}
	for range maxPages {
		var page struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := c.call(ctx, "tools/list", params, &page); err != nil {
			return err
		}
		if page.Tools == nil {
			return errors.New("tools/list: the answer holds no list of tools")
		}
		if page.NextCursor == "" {
			return nil
		}
		params["cursor"] = page.NextCursor
	}
	return errors.New("tools/list has no end")
}

func (c *client) call(ctx context.Context, method string, params, result any) error {
	c.id++
	var reply struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	err := c.post(ctx, map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params}, &reply)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", method, err)
	case reply.Error != nil:
		return fmt.Errorf("%s: error %d: %s", method, reply.Error.Code, quote(reply.Error.Message))
	}
	if err := json.Unmarshal(reply.Result, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// post sends one message and, where it is a request, reads its reply.
func (c *client) post(ctx context.Context, message, reply any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.at.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", jsonType)
	req.Header.Set("Accept", jsonType+", "+streamType)
	c.identify(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return errors.New(plain(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return fmt.Errorf("status %d: %s", resp.StatusCode, quote(strings.TrimSpace(string(text))))
	}
	if id := resp.Header.Get(sessionHeader); id != "" {
		c.session = id
	}
	if reply == nil {
		_, err := io.Copy(io.Discard, resp.Body)
		return err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), streamType) {
		return c.events(ctx, resp.Body, reply)
	}
	return json.NewDecoder(resp.Body).Decode(reply)
}

func (c *client) identify(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+c.at.Token)
	if c.session != "" {
		req.Header.Set(sessionHeader, c.session)
	}
	if c.version != "" {
		req.Header.Set(versionHeader, c.version)
	}
}

// events waits for the reply among a stream's messages. The server is told that
// it can ask nothing of this client.
func (c *client) events(ctx context.Context, body io.Reader, reply any) error {
	r := sse.NewReader(bufio.NewReader(body))
	for {
		var data bytes.Buffer
		if _, err := r.Next(&data); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		m := wire.Parse(data.Bytes())
		switch {
		case m.Err != nil || len(m.List) != 1:
		case m.List[0].IsResponse():
			return json.Unmarshal(data.Bytes(), reply)
		case m.List[0].IsRequest():
			answer := rpcError(m.List[0].ID.Raw, -32601, "Method not found")
			if m.List[0].Method == "ping" {
				answer = `{"jsonrpc":"2.0","id":` + m.List[0].ID.Raw + `,"result":{}}`
			}
			if err := c.post(ctx, json.RawMessage(answer), nil); err != nil {
				return err
			}
		}
	}
}

// end tells the server that the session is over.
func (c *client) end(ctx context.Context) {
	if c.session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.at.URL, nil)
	if err != nil {
		return
	}
	c.identify(req)
	if resp, err := c.http.Do(req); err == nil {
		resp.Body.Close()
	}
}
