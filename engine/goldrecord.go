package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/plan"
	"github.com/evalengine/evalengine/engine/internal/trial"
)

// scriptDriver performs the tool calls of golds.
const scriptDriver = "scripted"

// maxScript bounds the script of a gold in bytes.
const maxScript = 16 << 20

// RecordGolds builds the golds of a suite's stories and their floors, takes their
// pages and their state, and keeps them in the store in place of earlier ones. One
// that cannot be built ends it; those before it are kept.
func (e *Engine) RecordGolds(ctx context.Context, s *eval.Suite, o GoldOptions) ([]eval.GoldInfo, error) {
	stories, err := goldStories(s, o.Stories)
	if err != nil {
		return nil, err
	}
	var done []eval.GoldInfo
	for _, st := range stories {
		info, err := e.recordGold(ctx, s, st, o)
		if err != nil {
			return done, fmt.Errorf("story %q: %w", st.Name, err)
		}
		done = append(done, *info)
	}
	return done, nil
}

func (e *Engine) recordGold(ctx context.Context, s *eval.Suite, st *eval.Story, o GoldOptions) (*eval.GoldInfo, error) {
	temp, err := os.MkdirTemp("", "evalengine-gold-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	info := &eval.GoldInfo{Story: st.Name, Suite: s.Name, RecordedAt: time.Now().UTC()}
	evidence := map[string]string{}
	build := func(name string, st *eval.Story, res *eval.Result, sum *string) (*eval.Record, error) {
		rec, dir, err := e.build(ctx, s, st, res, filepath.Join(temp, name), o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		evidence[name] = dir
		*sum, err = ledger.Sum(dir)
		return rec, err
	}
	rec, err := build(ledger.GoldDir, st, &st.Gold.Result, &info.Gold)
	if err != nil {
		return nil, err
	}
	if st.Gold.Floor != nil {
		// A poor result need not be the page that an ideal one is.
		if _, err := build(ledger.FloorDir, unexpecting(st), st.Gold.Floor, &info.Floor); err != nil {
			return nil, err
		}
	}
	info.Versions = rec.Versions
	if info.MadeFrom, err = madeFrom(s, st, goldValues(st.Gold, rec)); err != nil {
		return nil, err
	}
	return info, o.Store.KeepGold(*info, evidence)
}

// unexpecting is a story that takes its pages whatever is on them.
func unexpecting(st *eval.Story) *eval.Story {
	s := *st
	s.Captures = slices.Clone(st.Captures)
	for i := range s.Captures {
		s.Captures[i].ExpectURL, s.Captures[i].ExpectText = "", nil
	}
	return &s
}

// build makes a result as a trial of its own that nothing scores, in a store in
// dir, and returns its record and its folder.
func (e *Engine) build(ctx context.Context, s *eval.Suite, st *eval.Story, res *eval.Result, dir string, o GoldOptions) (*eval.Record, string, error) {
	alone, values, stop, err := goldSuite(s, st, res)
	if err != nil {
		return nil, "", err
	}
	defer stop()
	t := trial.GoldTrial(st.Name)
	p, diags := plan.Of(alone, []eval.Trial{t})
	if err := diags.Err(); err != nil {
		return nil, "", err
	}
	store, err := ledger.Open(dir)
	if err != nil {
		return nil, "", err
	}
	r, err := e.begin(ctx, alone, p, RunOptions{Store: store, Concurrency: 1, Observe: o.Observe})
	if err != nil {
		return nil, "", err
	}
	defer r.end()
	if err := r.create(); err != nil {
		return nil, "", err
	}
	r.runner.Values = values
	rec, err := r.runner.Run(ctx, t)
	if err != nil {
		return nil, "", err
	}
	return rec, r.ledger.TrialDir(t.ID()), whole(rec)
}

// whole says what a record lacks to be a gold.
func whole(rec *eval.Record) error {
	if rec.Status != eval.StatusPassed {
		return fmt.Errorf("it could not be built: %s, %s: %s", rec.Status, rec.Cause, rec.Reason)
	}
	for _, p := range rec.Pages {
		if p.Error != "" {
			return fmt.Errorf("page %q could not be taken: %s", p.Name, p.Error)
		}
	}
	return nil
}

// goldSuite is the suite with one story that builds a result and scores nothing,
// and the values in a target's place where the result has no target. The caller
// must call stop.
func goldSuite(s *eval.Suite, st *eval.Story, res *eval.Result) (alone *eval.Suite, values eval.JSON, stop func(), err error) {
	story := *st
	story.Hosts, story.Variants, story.Checks, story.Uses, story.Gold = nil, nil, nil, nil, nil
	stop = func() {}
	switch {
	case res.Files != "":
		var url string
		if url, stop, err = serve(res.Files); err != nil {
			return nil, nil, nil, err
		}
		story.Target, values = "", urlValues(url)
	case res.URL != "":
		story.Target, values = "", urlValues(res.URL)
	}
	script, err := goldScript(res.Script, len(st.Turns))
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	config, err := json.Marshal(map[string]any{"scripts": map[string]string{st.Name: script}})
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	alone = new(*s)
	alone.Hosts = []eval.HostConfig{{Name: trial.GoldHost, Driver: scriptDriver, Config: config}}
	alone.Stories, alone.Files, alone.Modules = []eval.Story{story}, nil, nil
	alone.Repeats, alone.BudgetUSD, alone.MaxTrials = 1, 0, 0
	return alone, values, stop, nil
}

// goldScript is a gold's script with as many turns as its story has: a gold may be
// done after the first. Without a file it does nothing.
func goldScript(path string, turns int) (string, error) {
	script := struct {
		Turns  []json.RawMessage `json:"turns"`
		Answer *string           `json:"answer,omitempty"`
	}{}
	if path != "" {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		if info.Size() > maxScript {
			return "", fmt.Errorf("%s has %d bytes; at most %d are taken", path, info.Size(), maxScript)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(b, &script); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		if len(script.Turns) > turns {
			return "", fmt.Errorf("%s has %d turns, the story has %d", path, len(script.Turns), turns)
		}
		if len(script.Turns) == turns {
			return string(b), nil // as it is written, unknown fields and all: the host says what is wrong
		}
	}
	for len(script.Turns) < turns {
		script.Turns = append(script.Turns, json.RawMessage(`{"steps":[]}`))
	}
	b, err := json.Marshal(script)
	return string(b), err
}

// serve serves a folder on loopback. The caller must call stop.
func serve(dir string) (url string, stop func(), err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, errors.Join(err, root.Close())
	}
	srv := &http.Server{Handler: http.FileServerFS(root.FS()), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends with the server
	}()
	return "http://" + l.Addr().String(), func() {
		_ = srv.Close()
		<-done
		_ = root.Close()
	}, nil
}
