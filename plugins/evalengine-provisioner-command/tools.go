package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage bounds one message of a server that is probed.
const maxMessage = 64 << 20

// protocolVersion is what a probe asks for; servers of other versions answer with
// their own.
const protocolVersion = "2025-06-18"

// listTools greets a server and lists its tools. A server that lists none is not
// ready: nothing could be asked of it.
func listTools(ctx context.Context, t mcp.Transport) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "evalengine-probe", Version: version}, nil)
	session, err := client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: protocolVersion})
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return fmt.Errorf("tools/list: %w", err)
	}
	if len(list.Tools) == 0 {
		return errors.New("tools/list: the server offers no tools")
	}
	return nil
}

// probeURL lists the tools of a server that speaks streamable HTTP.
func probeURL(ctx context.Context, client *http.Client, url string, headers map[string]string) error {
	own := *client
	own.Transport = &withHeaders{next: client.Transport, headers: headers}
	return listTools(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &own, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxMessage,
	})
}

// withHeaders adds a server's headers to each request and bounds each answer.
type withHeaders struct {
	next    http.RoundTripper
	headers map[string]string
}

func (w *withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range w.headers {
		r.Header.Set(k, v)
	}
	resp, err := w.next.RoundTrip(r)
	if err == nil {
		resp.Body = &limited{Reader: io.LimitReader(resp.Body, maxMessage), Closer: resp.Body}
	}
	return resp, err
}

type limited struct {
	io.Reader
	io.Closer
}

// probeCommand starts a server that speaks over stdio, lists its tools and ends
// it. The server of the trial is another process.
func probeCommand(ctx context.Context, p program) error {
	p.stdin = true
	r, err := start(p)
	if err != nil {
		return err
	}
	kill := context.AfterFunc(ctx, r.kept.Kill)
	err = listTools(ctx, &mcp.IOTransport{
		Reader: &messages{r: bufio.NewReader(r.out)}, Writer: inOnly{r.in}, MaxLineLength: maxMessage,
	})
	if err != nil {
		err = fmt.Errorf("%w%s", err, r.said())
	}
	r.stop()
	kill()
	return err
}

// inOnly leaves the closing of stdin to [process.stop].
type inOnly struct{ *os.File }

func (inOnly) Close() error { return nil }

// messages passes on the lines of stdout that are messages: some servers greet
// people there, or write their log, which may be JSON too.
type messages struct {
	r    *bufio.Reader
	rest []byte
}

func (m *messages) Read(b []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.line()
		if err != nil {
			return 0, err
		}
		if isMessage(line) {
			m.rest = line
		} else {
			m.rest = shared(line)
		}
	}
	n := copy(b, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// isMessage tells a message of JSON-RPC, or several, from anything else.
func isMessage(line []byte) bool {
	var m struct {
		Version string `json:"jsonrpc"`
	}
	var list []json.RawMessage
	return json.Unmarshal(line, &m) == nil && m.Version != "" || json.Unmarshal(line, &list) == nil && len(list) > 0
}

// shared returns the messages that share a line with something else, such as a
// banner that did not end its own, each on a line.
func shared(line []byte) []byte {
	var out []byte
	for range 32 {
		i := bytes.Index(line, []byte(`{"`))
		if i < 0 {
			break
		}
		line = line[i:]
		var v json.RawMessage
		if json.NewDecoder(bytes.NewReader(line)).Decode(&v) != nil {
			line = line[1:]
			continue
		}
		line = line[len(v):]
		if isMessage(v) {
			out = append(append(out, v...), '\n')
		}
	}
	return out
}

// line reads one line; of one that is too long, an error.
func (m *messages) line() ([]byte, error) {
	var line []byte
	for {
		part, err := m.r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxMessage {
			return nil, fmt.Errorf("a message of more than %d MiB", maxMessage>>20)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return line, err
	}
}

func (m *messages) Close() error { return nil }
