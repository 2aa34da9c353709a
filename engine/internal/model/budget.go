package model

import (
	"context"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/model/settings"
	"github.com/evalengine/evalengine/engine/internal/price"
)

// Budget bounds what is spent. It is safe for concurrent use.
type Budget interface {
	// Reserve takes usd aside, the most that a request can cost. It is false where
	// the budget could be passed by that. settle, called once, puts in its place
	// what the request did cost.
	Reserve(usd float64) (settle func(actual float64), ok bool)
}

// cent is below what anybody sets a budget to; sums of prices are not exact.
const cent = 1e-9

// Purse is a [Budget] of its own.
type Purse struct {
	mu          sync.Mutex
	limit, used float64
}

// NewPurse returns a budget of which spent is spent already.
func NewPurse(usd, spent float64) *Purse { return &Purse{limit: usd, used: spent} }

// Reserve is [Budget]'s.
func (p *Purse) Reserve(usd float64) (func(float64), bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used+usd > p.limit+cent {
		return nil, false
	}
	p.used += usd
	return func(actual float64) {
		p.mu.Lock()
		p.used += actual - usd
		p.mu.Unlock()
	}, true
}

// Spent is what was spent and is set aside.
func (p *Purse) Spent() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// purse is the budget with the requests that are under way. What those do not use
// of what was set aside for them is there for others, so a request that does not
// fit waits for them.
type purse struct {
	budget Budget
	mu     sync.Mutex
	open   int
	turn   chan struct{} // closed when one is settled
}

// reserve sets usd aside; ok is false where it could pass the budget whatever the
// requests under way cost.
func (p *purse) reserve(ctx context.Context, usd float64) (settle func(float64), ok bool, err error) {
	if p.budget == nil {
		return func(float64) {}, true, nil
	}
	for {
		p.mu.Lock()
		done, ok := p.budget.Reserve(usd)
		if ok {
			p.open++
			p.mu.Unlock()
			return func(actual float64) { p.settle(done, actual) }, true, nil
		}
		if p.open == 0 {
			p.mu.Unlock()
			return nil, false, nil
		}
		if p.turn == nil {
			p.turn = make(chan struct{})
		}
		turn := p.turn
		p.mu.Unlock()
		select {
		case <-turn:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

func (p *purse) settle(done func(float64), actual float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done(actual)
	p.open--
	if p.turn != nil {
		close(p.turn)
		p.turn = nil
	}
}

// imageTokens is more than any provider counts for one picture.
const imageTokens = 6000

// worst is usage that a request cannot pass: three bytes of text a token, which
// no tokenizer needs for text that a person wrote.
func (a *ask) worst() eval.Usage {
	q := a.request
	bytes, images := len(q.System)+len(q.Schema), 0
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			bytes += len(p.Text) + 16
			if p.Image != nil {
				images++
			}
		}
	}
	out := q.MaxTokens
	if out == 0 {
		out = a.block.set.MaxTokens
	}
	return eval.Usage{InputTokens: int64(bytes/3 + images*imageTokens + 1000), OutputTokens: int64(out)}
}

// cost is what usage costs, false where the price is not known. told is the
// model's name as the provider told it.
func (m *modelBlock) cost(told string, u eval.Usage) (float64, bool) {
	if p := m.set.Price; p != nil {
		read, write := p.Input, p.Input
		if p.CacheRead != nil {
			read = p.CacheRead
		}
		if p.CacheWrite != nil {
			write = p.CacheWrite
		}
		fresh := max(0, u.InputTokens-u.CacheReadTokens-u.CacheWriteTokens)
		return (float64(fresh)**p.Input + float64(u.CacheReadTokens)**read +
			float64(u.CacheWriteTokens)**write + float64(u.OutputTokens)**p.Output) / 1e6, true
	}
	if m.Provider != settings.Anthropic && m.Provider != settings.OpenAI {
		return 0, false // what another sells by the same name has a price of its own
	}
	if usd, ok := price.Cost(told, u); ok {
		return usd, true
	}
	return price.Cost(m.Model, u)
}
