package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/evalengine/evalengine/plugins/host/agentout"
)

// Bounds of what is read of the files that the program keeps.
const (
	maxKeptFiles = 64
	maxKept      = 256 << 20 // of one turn
)

// kept reads the session files that the program keeps under its config folder: the
// session's own and one for each sub-agent. They may hold what its output lacks.
// They belong to the agent: everything in them is bounded, and nothing counts twice.
type kept struct {
	dir  string
	read map[string]int64 // how far, by path
}

// sessionID is what the program calls a session: it becomes part of a file name.
var sessionID = regexp.MustCompile(`^[0-9a-zA-Z-]{8,64}$`)

// each passes on the lines that came since the last time, with the call that the
// file's sub-agent belongs to, empty for the agent itself.
func (k *kept) each(session string, line func(text []byte, parent string)) {
	if !sessionID.MatchString(session) {
		return
	}
	if k.read == nil {
		k.read = map[string]int64{}
	}
	left := int64(maxKept)
	own, _ := filepath.Glob(filepath.Join(k.dir, "projects", "*", session+".jsonl"))
	for _, path := range own[:min(len(own), 1)] {
		left -= k.file(path, left, func(b []byte) { line(b, "") })
		subs, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-*.jsonl"))
		for _, sub := range subs[:min(len(subs), maxKeptFiles)] {
			parent := startedBy(sub)
			left -= k.file(sub, left, func(b []byte) { line(b, parent) })
		}
	}
}

// startedBy is the call that started a sub-agent, its own name where the program
// does not say.
func startedBy(path string) string {
	base := strings.TrimSuffix(path, ".jsonl")
	var meta struct {
		Call string `json:"toolUseId"`
	}
	if f, err := regular(base + ".meta.json"); err == nil {
		b, _ := io.ReadAll(io.LimitReader(f, 64<<10))
		f.Close()
		_ = agentout.Decode(b, &meta)
	}
	if meta.Call == "" {
		return filepath.Base(base)
	}
	return meta.Call
}

// file reads whole lines from where the last reading ended.
func (k *kept) file(path string, most int64, line func([]byte)) (n int64) {
	f, err := regular(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	if _, err := f.Seek(k.read[path], io.SeekStart); err != nil {
		return 0
	}
	in := bufio.NewReaderSize(io.LimitReader(f, most), 64<<10)
	for {
		text, size, ok := wholeLine(in)
		if !ok {
			return n
		}
		n += size
		k.read[path] += size
		line(text)
	}
}

// wholeLine is the next line, nil for one that is too long, and its size.
func wholeLine(in *bufio.Reader) (text []byte, n int64, ok bool) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if n <= maxLine {
			text = append(text, part...)
		} else {
			text = nil
		}
		switch {
		case err == nil:
			return text, n, true
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, false
		}
	}
}

// regular opens a file that is one: a pipe would be waited for.
func regular(path string) (*os.File, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	return os.Open(path)
}
