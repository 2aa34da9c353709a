package scorertest

import (
	"strconv"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/wire"
)

// Model is a door whose model answers as Reply says. The zero Model fails every
// request. Read Requests and Logged after the run.
type Model struct {
	// Reply answers the n-th request, counted from 0.
	Reply func(n int, q *eval.ModelRequest) *eval.ModelReply

	mu       sync.Mutex
	Requests []*eval.ModelRequest
	Logged   []string
}

// Call answers [wire.OpComplete] and refuses all else.
func (m *Model) Call(op string, request []byte) ([]byte, error) {
	if op != wire.OpComplete {
		return nil, scorer.ErrUnknown
	}
	q, err := wire.DecodeModelRequest(request)
	if err != nil || m.Reply == nil {
		return nil, scorer.ErrFailed
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Requests = append(m.Requests, q)
	return wire.AppendModelReply(nil, m.Reply(len(m.Requests)-1, q)), nil
}

// Log keeps the line.
func (m *Model) Log(_ scorer.Level, message string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Logged = append(m.Logged, message)
}

// Answers is a reply of whole answers with these texts.
func Answers(texts ...string) *eval.ModelReply {
	r := &eval.ModelReply{}
	for i, text := range texts {
		r.Samples = append(r.Samples, eval.ModelAnswer{Request: "m" + strconv.Itoa(i+1), Text: text, Stop: eval.StopEnd, Model: "scripted"})
	}
	return r
}

// Refuses is a reply without answers, for one of eval's Failure words.
func Refuses(failure, detail string) *eval.ModelReply {
	return &eval.ModelReply{Failure: failure, Detail: detail}
}
