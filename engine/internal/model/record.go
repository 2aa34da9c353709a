package model

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// use is what one score has asked so far.
type use struct {
	eval.JudgeUse
	cost     float64
	unpriced bool
}

// record writes a line of judge.jsonl and adds to what the use has taken. The
// answer of a call that failed has its usage alone.
func (s *Session) record(a *ask, key string, began time.Time, answer *eval.ModelAnswer, f *eval.Fault, sent int) {
	now := s.b.o.Now()
	q := *a.request
	q.Model = a.block.Name
	call := eval.JudgeCall{
		Score: a.use, Model: a.block.Name, Key: key, Sample: a.sample, At: began.UTC(), Seconds: now.Sub(began).Seconds(),
		Request: &q, Fault: f, Attempts: sent, Cached: answer.Cached,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	call.ID = "j" + strconv.Itoa(s.n)
	answer.Request = call.ID
	if f == nil {
		call.Answer = answer
	}
	s.use(a.use).add(answer)
	if s.o.Log == nil {
		return
	}
	line, err := json.Marshal(call)
	if err == nil {
		_, err = s.o.Log.Write(append(s.b.o.Secrets.Bytes(line), '\n'))
	}
	if err != nil {
		s.b.once("judge.jsonl is not whole", "err", err)
	}
}

// use returns what is known of a use; s.mu is held.
func (s *Session) use(name string) *use {
	u := s.uses[name]
	if u == nil {
		u = &use{}
		s.uses[name] = u
	}
	return u
}

func (u *use) add(answer *eval.ModelAnswer) {
	u.Requests = append(u.Requests, answer.Request)
	u.Cached = u.Cached || answer.Cached
	u.Usage.Add(answer.Usage)
	if usd := answer.Usage.CostUSD; usd != nil {
		u.cost += *usd
	} else if answer.Usage.InputTokens+answer.Usage.OutputTokens > 0 {
		u.unpriced = true
	}
}

// Use is what the use has asked of models so far; nil where it has asked
// nothing. Answers that were stored cost nothing again.
func (s *Session) Use(name string) *eval.JudgeUse {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.uses[name]
	if u == nil {
		return nil
	}
	taken := u.JudgeUse
	taken.Requests = append([]string(nil), u.Requests...)
	taken.Usage.Models = append([]string(nil), u.Usage.Models...)
	if !u.unpriced && (u.cost > 0 || taken.Usage.InputTokens+taken.Usage.OutputTokens > 0 || !taken.Usage.LowerBound && taken.Usage.Requests == 0) {
		usd := u.cost
		taken.Usage.CostUSD = &usd
	}
	return &taken
}
