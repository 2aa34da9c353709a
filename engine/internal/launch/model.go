package launch

import (
	"context"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/rpc"
)

var _ eval.ModelProvider = (*model)(nil)

// Model is as Host for a plugin that brings a provider of models.
func (p *Pool) Model(ctx context.Context, name, sha256 string) (eval.ModelProvider, error) {
	s, err := p.open(ctx, key{rpc.KindModel, name}, sha256)
	if err != nil {
		return nil, err
	}
	return &model{s}, nil
}

// model is a model plugin whatever process it is running in. A call dies with its
// process; the next one starts another.
type model struct{ *slot }

func (m *model) Describe(context.Context) (eval.Description, error) { return m.describe(), nil }

func (m *model) Complete(ctx context.Context, call eval.ModelCall) (*eval.ModelAnswer, error) {
	p, err := m.process(ctx, "")
	if err != nil {
		return nil, err
	}
	a, err := p.Model().Complete(ctx, call)
	m.went(err)
	if ctx.Err() != nil {
		return a, err // whoever is not waited for need not be seen dead
	}
	return a, explain(p, err)
}
