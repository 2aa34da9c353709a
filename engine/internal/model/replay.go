package model

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxLine bounds a line of judge.jsonl, maxLines how many there are.
const (
	maxLine  = 128 << 20
	maxLines = 100_000
)

// Replay has the answers of a judge.jsonl, to be given again without a model. It
// is safe for concurrent use.
type Replay struct {
	mu    sync.Mutex
	calls map[replayKey][]eval.JudgeCall
}

type replayKey struct{ score, key string }

// ReadReplay reads a judge.jsonl.
func ReadReplay(r io.Reader) (*Replay, error) {
	p := &Replay{calls: map[replayKey][]eval.JudgeCall{}}
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	for n := 1; in.Scan(); n++ {
		if n > maxLines {
			return nil, fmt.Errorf("judge.jsonl has more than %d lines", maxLines)
		}
		if len(in.Bytes()) == 0 {
			continue
		}
		var c eval.JudgeCall
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("judge.jsonl: line %d: %w", n, err)
		}
		if c.Key == "" || (c.Answer == nil) == (c.Fault == nil) {
			return nil, fmt.Errorf("judge.jsonl: line %d: %w", n, errLine)
		}
		c.Request = nil // the key says it
		k := replayKey{c.Score, c.Key}
		p.calls[k] = append(p.calls[k], c)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("judge.jsonl: %w", err)
	}
	return p, nil
}

var errLine = errors.New("it must have a key and either an answer or a fault")

// take returns the next stored call to a request. The last is given again and
// again.
func (p *Replay) take(score, key string) (eval.JudgeCall, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := replayKey{score, key}
	list := p.calls[k]
	if len(list) == 0 {
		return eval.JudgeCall{}, false
	}
	if len(list) > 1 {
		p.calls[k] = list[1:]
	}
	return list[0], true
}

// replay answers from the stored calls.
func (s *Session) replay(a *ask, key string) (*eval.ModelAnswer, *eval.ModelReply) {
	began := s.b.o.Now()
	c, ok := s.o.Replay.take(a.use, key)
	if !ok {
		return nil, &eval.ModelReply{Failure: eval.FailureNoReplay,
			Detail: fmt.Sprintf("no stored answer of model %q to this request: the story, the judge, the model or what was judged has changed", a.block.Name)}
	}
	if c.Fault != nil {
		s.record(a, key, began, &eval.ModelAnswer{Cached: true}, c.Fault, 0)
		return nil, failure(c.Fault)
	}
	answer := *c.Answer
	answer.Cached, answer.Usage = true, eval.Usage{Models: answer.Usage.Models}
	s.record(a, key, began, &answer, nil, 0)
	return &answer, nil
}
