package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of what is read: a record may come from anywhere.
const (
	maxRecord     = 64 << 20
	maxTranscript = 1 << 30
	maxLine       = 256 << 20
)

// stored is a trial that was recorded.
type stored struct {
	dir     string
	outcome eval.Outcome
	answer  string
	turns   []storedTurn
}

type storedTurn struct {
	prompt string
	steps  []eval.Step
	// results are the recorded results by call ID.
	results map[string]eval.Step
}

func fault(retry eval.Retry, format string, args ...any) error {
	return &eval.Fault{Cause: eval.CauseHostConfig, Retry: retry, Detail: fmt.Sprintf(format, args...)}
}

// find returns the folder of the stored trial that stands for t.
func (c config) find(t eval.Trial) (string, error) {
	switch {
	case c.Trial != "" && c.Run != "":
		return "", fault(eval.RetryStop, "config: run and trial exclude each other")
	case c.Trial != "":
		return c.Trial, nil
	case c.Run == "":
		return "", fault(eval.RetryStop, "config: run or trial is missing")
	}
	list, err := os.ReadDir(filepath.Join(c.Run, "trials"))
	if err != nil {
		return "", fault(eval.RetryStop, "stored run: %v", err)
	}
	want := eval.Trial{Story: t.Story, Variant: t.Variant, Host: c.Host, Repeat: t.Repeat}
	if c.Variant != "" {
		want.Variant = c.Variant
	}
	if want.Variant == eval.NoVariant {
		want.Variant = ""
	}
	if c.Repeat != 0 {
		want.Repeat = c.Repeat
	}
	if want.Host == "" {
		if want.Host, err = onlyHost(list, want); err != nil {
			return "", err
		}
	}
	first := want
	first.Repeat = 1
	for _, id := range []string{want.ID(), first.ID()} {
		if slices.ContainsFunc(list, func(e os.DirEntry) bool { return e.Name() == id }) {
			return filepath.Join(c.Run, "trials", id), nil
		}
	}
	return "", fault(eval.RetryNever, "the stored run %s has no trial %s", c.Run, want.ID())
}

// onlyHost is the host of the stored trials of an arm, where there is but one.
func onlyHost(list []os.DirEntry, want eval.Trial) (string, error) {
	variant := want.Variant
	if variant == "" {
		variant = eval.NoVariant
	}
	var hosts []string
	for _, e := range list {
		rest, ok := strings.CutPrefix(e.Name(), want.Story+"."+variant+".")
		if h, _, ok2 := strings.Cut(rest, "."); ok && ok2 && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	switch len(hosts) {
	case 0:
		return "", fault(eval.RetryNever, "the stored run has no trial of story %q, variant %q", want.Story, variant)
	case 1:
		return hosts[0], nil
	}
	return "", fault(eval.RetryStop, "the stored run has story %q on several hosts, set host to one of %s",
		want.Story, strings.Join(hosts, ", "))
}

// read reads a stored trial.
func read(ctx context.Context, dir string) (*stored, error) {
	var rec eval.Record
	r, err := open(dir, "trial.json")
	if err != nil {
		return nil, fault(eval.RetryNever, "stored trial: %v", err)
	}
	err = json.NewDecoder(io.LimitReader(r, maxRecord)).Decode(&rec)
	r.Close()
	if err != nil {
		return nil, fault(eval.RetryNever, "stored trial: %s: trial.json: %v", dir, err)
	}
	if rec.Status == eval.StatusErrored || rec.Status == eval.StatusSkipped {
		return nil, fault(eval.RetryNever, "the stored trial %s is %s: there is nothing to replay", dir, rec.Status)
	}
	t := &stored{dir: dir, outcome: eval.Completed, answer: rec.Answer}
	if n := len(rec.Attempts); n > 0 && rec.Attempts[n-1].Outcome != "" {
		t.outcome = rec.Attempts[n-1].Outcome
	}
	for _, p := range rec.Prompts {
		t.turns = append(t.turns, storedTurn{prompt: p, results: map[string]eval.Step{}})
	}
	return t, t.readSteps(ctx)
}

func (t *stored) readSteps(ctx context.Context) error {
	r, err := open(t.dir, "transcript.jsonl")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault(eval.RetryNever, "stored trial: %v", err)
	}
	defer r.Close()
	lines := bufio.NewScanner(io.LimitReader(r, maxTranscript))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var s eval.Step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return fault(eval.RetryNever, "stored trial: %s: transcript.jsonl, line %d: %v", t.dir, n, err)
		}
		if err := t.add(s); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fault(eval.RetryNever, "stored trial: %s: transcript.jsonl: %v", t.dir, err)
	}
	return nil
}

const maxTurns = 1000

// add puts a step into its turn. Results are kept apart: fresh ones take their
// place.
func (t *stored) add(s eval.Step) error {
	if s.Turn < 1 || s.Turn > maxTurns {
		return fault(eval.RetryNever, "stored trial: %s: step %s is of turn %d", t.dir, s.ID, s.Turn)
	}
	for len(t.turns) < s.Turn {
		t.turns = append(t.turns, storedTurn{results: map[string]eval.Step{}})
	}
	turn := &t.turns[s.Turn-1]
	switch {
	case s.Kind == eval.StepToolResult:
		turn.results[s.CallID] = s
	case s.Kind == eval.StepMessage && s.Role == "user":
	default:
		turn.steps = append(turn.steps, s)
	}
	return nil
}

// open opens a file of a trial, compressed or not.
func open(dir, name string) (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if !errors.Is(err, os.ErrNotExist) {
		return f, err
	}
	z, zerr := os.Open(filepath.Join(dir, name+".zst"))
	if zerr != nil {
		return nil, err
	}
	d, zerr := zstd.NewReader(z, zstd.WithDecoderMaxMemory(maxTranscript), zstd.WithDecoderConcurrency(1))
	if zerr != nil {
		z.Close()
		return nil, zerr
	}
	return &compressed{d, z}, nil
}

type compressed struct {
	*zstd.Decoder
	f *os.File
}

func (c *compressed) Close() error {
	c.Decoder.Close()
	return c.f.Close()
}
