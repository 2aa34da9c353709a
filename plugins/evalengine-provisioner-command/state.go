package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Formats of what a snapshot command writes.
const (
	formatJSON  = "json"
	formatJSONL = "jsonl"
	formatText  = "text"
)

// sources say what a target's state is made of.
type sources struct {
	command []string
	format  string
	globs   []string
	url     string
	headers map[string]string
	max     int64
	timeout time.Duration
}

// read takes the state: the value of the one source, or an object with a key for
// each. Backends count as a source where there are any.
func (s sources) read(ctx context.Context, dir string, env map[string]string, client *http.Client, backends map[string]traffic) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("not done after %s", s.timeout))
	defer cancel()
	object := map[string]any{}
	var last json.RawMessage
	if len(s.command) > 0 {
		v, err := s.ask(ctx, dir, env)
		if err != nil {
			return nil, fmt.Errorf("snapshot: %w", err)
		}
		object["command"], last = v, v
	}
	if s.url != "" {
		v, err := s.get(ctx, client)
		if err != nil {
			return nil, fmt.Errorf("snapshot_url: %w", err)
		}
		object["url"], last = v, v
	}
	if len(backends) > 0 {
		object["backends"] = backends
	}
	if len(object) == 1 && len(s.globs) == 0 && len(backends) == 0 {
		return last, nil
	}
	if len(s.globs) > 0 {
		f, err := readFiles(ctx, dir, s.globs, s.max)
		if err != nil {
			return nil, fmt.Errorf("snapshot_files: %w", err)
		}
		object["files"], object["dirs"] = f.files, f.dirs
	}
	return encode(object)
}

func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// ask runs the snapshot command.
func (s sources) ask(ctx context.Context, dir string, env map[string]string) (json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &bounded{max: s.max, over: func() {
		cancel(fmt.Errorf("it wrote more than %d bytes (snapshot_max_bytes)", s.max))
	}}
	if _, err := run(ctx, program{argv: s.command, dir: dir, env: env, stdout: out}); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	v, err := parse(out.buf.Bytes(), s.format)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(s.command, " "), err)
	}
	return v, nil
}

// bounded keeps what is written to it up to max bytes.
type bounded struct {
	buf  bytes.Buffer
	max  int64
	over func()
}

var errTooMuch = errors.New("too much output")

func (b *bounded) Write(p []byte) (int, error) {
	if int64(b.buf.Len()+len(p)) > b.max {
		b.over()
		return 0, errTooMuch
	}
	return b.buf.Write(p)
}

// parse reads what a snapshot command wrote.
func parse(out []byte, format string) (json.RawMessage, error) {
	switch format {
	case formatText:
		return encode(map[string]string{"text": strings.ToValidUTF8(string(out), "\uFFFD")})
	case formatJSONL:
		return parseLines(out)
	}
	out = bytes.TrimSpace(out)
	if !json.Valid(out) {
		return nil, fmt.Errorf("the output is not JSON: %s; set snapshot_format to jsonl or text if that is what it is", excerpt(out))
	}
	return out, nil
}

// parseLines reads JSON values, one a line, into a list.
func parseLines(out []byte) (json.RawMessage, error) {
	list := []json.RawMessage{}
	n := 0
	for line := range bytes.Lines(out) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			return nil, fmt.Errorf("line %d of the output is not JSON: %s", n, excerpt(line))
		}
		list = append(list, line)
	}
	return encode(list)
}

func excerpt(b []byte) string {
	const most = 200
	if len(b) == 0 {
		return "it is empty"
	}
	if len(b) > most {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(string(b[:most]), "\uFFFD"))
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(string(b), "\uFFFD"))
}

// get asks the snapshot's address.
func (s sources) get(ctx context.Context, client *http.Client) (json.RawMessage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	for k, v := range s.headers {
		req.Header.Set(k, v)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, s.max+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("GET %s: %w", s.url, err)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, fmt.Errorf("GET %s: %s: %s", s.url, resp.Status, excerpt(bytes.TrimSpace(body)))
	case int64(len(body)) > s.max:
		return nil, fmt.Errorf("GET %s: more than %d bytes (snapshot_max_bytes)", s.url, s.max)
	}
	body = bytes.TrimSpace(body)
	if !json.Valid(body) {
		return nil, fmt.Errorf("GET %s: the answer is not JSON: %s", s.url, excerpt(body))
	}
	return body, nil
}
