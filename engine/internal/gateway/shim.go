package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/internal/gateway/sse"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// shimGrace is how long answers may still come after the agent's output ended.
const shimGrace = 5 * time.Second

// Shim speaks MCP over in and out for an agent program that cannot do HTTP, and
// passes it on to a gateway's endpoint. It returns when in ends.
func Shim(ctx context.Context, url, token string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &shim{url: url, token: token, out: out, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	defer s.http.CloseIdleConnections()
	err := s.read(ctx, in)
	done := make(chan struct{})
	go func() { s.requests.Wait(); close(done) }()
	t := time.NewTimer(shimGrace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
	s.end(ctx)
	cancel()
	<-done
	s.streams.Wait()
	return err
}

type shim struct {
	url, token        string
	http              *http.Client
	requests, streams sync.WaitGroup

	mu               sync.Mutex
	out              io.Writer
	session, version string
}

func (s *shim) read(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, 32<<10)
	for {
		m, err := readLine(r, wire.Limits{})
		if m != nil && m.IsRPC() && m.Kept() {
			s.message(ctx, m)
		} else if m != nil {
			m.Release()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// message sends one message on. The next may go when this one is on its way,
// after a handshake when it is answered.
func (s *shim) message(ctx context.Context, m *wire.Message) {
	sent := make(chan struct{})
	on := sync.OnceFunc(func() { close(sent) })
	s.requests.Go(func() {
		defer on()
		defer m.Release()
		trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
			if !opens(m) {
				on()
			}
		}}
		if err := s.post(httptrace.WithClientTrace(ctx, trace), m); err != nil && ctx.Err() == nil {
			s.refuse(m, err)
		}
		if opens(m) {
			s.streams.Go(func() { s.listen(ctx) })
		}
	})
	<-sent
}

func (s *shim) post(ctx context.Context, m *wire.Message) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, m.Reader())
	if err != nil {
		return err
	}
	req.ContentLength = m.Len()
	req.Header.Set("Content-Type", jsonType)
	resp, err := s.do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return fmt.Errorf("status %d: %s", resp.StatusCode, strings.TrimSpace(string(text)))
	}
	if opens(m) {
		s.mu.Lock()
		s.session = resp.Header.Get(sessionHeader)
		s.mu.Unlock()
	}
	return s.copy(resp)
}

func (s *shim) do(req *http.Request) (*http.Response, error) {
	req.Header.Set("Authorization", "Bearer "+s.token)
	if req.Header.Set("Accept", jsonType+", "+streamType); req.Method == http.MethodGet {
		req.Header.Set("Accept", streamType)
	}
	s.mu.Lock()
	if s.session != "" {
		req.Header.Set(sessionHeader, s.session)
	}
	if s.version != "" {
		req.Header.Set(versionHeader, s.version)
	}
	s.mu.Unlock()
	return s.http.Do(req)
}

// copy writes the messages of an answer as lines.
func (s *shim) copy(resp *http.Response) error {
	kind := resp.Header.Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, jsonType):
		b := wire.NewBuilder(wire.Limits{})
		if _, err := io.Copy(b, resp.Body); err != nil {
			return err
		}
		return s.line(b.Done())
	case strings.HasPrefix(kind, streamType):
		r := sse.NewReader(resp.Body)
		for {
			b := wire.NewBuilder(wire.Limits{})
			e, err := r.Next(b)
			m := b.Done()
			if err != nil || e.Partial {
				m.Release()
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
			if err := s.line(m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shim) line(m *wire.Message) error {
	defer m.Release()
	if !m.IsRPC() || !m.Kept() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := m.List[0].Version; v != "" && m.List[0].IsResponse() {
		s.version = v
	}
	w := bufio.NewWriterSize(s.out, 32<<10)
	m.WriteTo(oneLine{w})
	w.WriteByte('\n')
	return w.Flush()
}

// refuse answers the requests of a message that did not get through.
func (s *shim) refuse(m *wire.Message, err error) {
	for i := range m.List {
		if m.List[i].IsRequest() {
			s.line(wire.Parse([]byte(rpcError(m.List[i].ID.Raw, -32000, "Connection closed: "+plain(err)))))
		}
	}
}

// listen takes what the server has to say outside of answers.
func (s *shim) listen(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return
	}
	resp, err := s.do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		s.copy(resp)
	}
}

func (s *shim) end(ctx context.Context) {
	s.mu.Lock()
	began := s.session != ""
	s.mu.Unlock()
	if !began {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if req, err := http.NewRequestWithContext(ctx, http.MethodDelete, s.url, nil); err == nil {
		if resp, err := s.do(req); err == nil {
			resp.Body.Close()
		}
	}
}
