package coverage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of a file of tools.
const (
	maxFile  = 64 << 20
	maxTools = 10_000
)

// errNoTools is returned, wrapped, for a file that holds no list of tools.
var errNoTools = errors.New(`it holds no list of tools: it is to be the result of tools/list, {"tools": [...]}, or a trial's tools.json`)

// listed is a tool as a server or a trial's tools.json lists it.
type listed struct {
	eval.Tool
	Schema eval.JSON `json:"inputSchema"`
}

// ReadTools reads a list of tools: the result of tools/list, the response that
// holds it, or a trial's tools.json. Tools that do not say whose they are get the
// server.
func ReadTools(path, server string) ([]eval.Tool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("%s: it is larger than %d MiB", path, maxFile>>20)
	}
	tools, err := ParseTools(b, server)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tools, nil
}

// ParseTools is [ReadTools] of a file's content.
func ParseTools(b []byte, server string) ([]eval.Tool, error) {
	raw, err := toolList(b)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxTools {
		return nil, fmt.Errorf("it lists %d tools; at most %d are taken", len(raw), maxTools)
	}
	list := make([]eval.Tool, 0, len(raw))
	for i, r := range raw {
		var l listed
		if err := json.Unmarshal(r, &l); err != nil {
			return nil, fmt.Errorf("tool %d: %w", i+1, err)
		}
		if l.Name == "" {
			return nil, fmt.Errorf("tool %d has no name", i+1)
		}
		if l.Server == "" {
			l.Server = server
		}
		if l.InputSchema == nil {
			l.InputSchema = l.Schema
		}
		list = append(list, l.Tool)
	}
	return list, nil
}

// toolList finds the list in a file.
func toolList(b []byte) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if json.Unmarshal(b, &list) == nil && list != nil {
		return list, nil
	}
	var answer struct {
		Tools  *[]json.RawMessage `json:"tools"`
		Result struct {
			Tools *[]json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return nil, fmt.Errorf("%w (%w)", errNoTools, err)
	}
	switch {
	case answer.Tools != nil:
		return *answer.Tools, nil
	case answer.Result.Tools != nil:
		return *answer.Result.Tools, nil
	}
	return nil, errNoTools
}
