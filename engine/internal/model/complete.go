package model

import (
	"context"
	"fmt"

	"github.com/evalengine/evalengine/engine/eval"
)

// Complete answers a request of the engine's own, as [Session.Call] does those of
// modules.
func (s *Session) Complete(ctx context.Context, use string, q *eval.ModelRequest) (*eval.ModelReply, error) {
	reply, err := s.complete(ctx, use, q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", use, err)
	}
	reply.Detail = s.b.o.Secrets.String(reply.Detail)
	return reply, nil
}
