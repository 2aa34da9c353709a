package scorer

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/wire"
)

// CapComplete is the capability that [Complete] needs: a spec lists it.
const CapComplete = wire.OpComplete

// Complete asks a model. A reply's Failure is for the scorer to act on; the error
// is one of the Err variables, or says that the reply cannot be read. Pictures are
// named by their page, shot and tile: the engine puts them in.
func Complete(q *eval.ModelRequest) (*eval.ModelReply, error) {
	b, err := Call(CapComplete, wire.AppendModelRequest(nil, q))
	if err != nil {
		return nil, err
	}
	return wire.DecodeModelReply(b)
}
