package model

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/evalengine/evalengine/engine/eval"
)

const (
	// defaultConcurrency is how many requests one provider gets at once.
	defaultConcurrency = 16
	// longestHold bounds how long a provider is left alone when it asks for that.
	longestHold = 5 * time.Minute
)

// lane is the way to one provider, which all its model blocks share. Who came
// first goes first.
type lane struct {
	places *semaphore.Weighted
	each   int // requests a minute, 0 is no limit

	mu    sync.Mutex
	until time.Time   // nothing is sent before
	sent  []time.Time // of the last minute
}

// lane returns the way to a block's provider.
func (b *Broker) lane(m *modelBlock) *lane {
	name := eval.ProviderOf(m.set.BaseURL)
	if name == "" {
		name = "plugin " + m.Provider
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.lanes[name]; l != nil {
		return l
	}
	l, places := &lane{}, defaultConcurrency
	for _, p := range b.o.Limits {
		if p.Name == name {
			l.each = p.RequestsPerMinute
			if p.Concurrency > 0 {
				places = p.Concurrency
			}
		}
	}
	l.places = semaphore.NewWeighted(int64(places))
	b.lanes[name] = l
	return l
}

// enter waits for a place, and until the provider may be asked. The caller must
// call leave where err is nil.
func (b *Broker) enter(ctx context.Context, l *lane) error {
	if err := l.places.Acquire(ctx, 1); err != nil {
		return context.Cause(ctx)
	}
	for {
		d := l.next(b.o.Now())
		if d <= 0 {
			return nil
		}
		if err := b.o.Wait(ctx, d); err != nil {
			l.leave()
			return err
		}
	}
}

func (l *lane) leave() { l.places.Release(1) }

// next is how long to wait before a request; where it is 0 the request counts as
// sent.
func (l *lane) next(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := l.until.Sub(now); d > 0 {
		return d
	}
	if l.each <= 0 {
		return 0
	}
	for len(l.sent) > 0 && now.Sub(l.sent[0]) >= time.Minute {
		l.sent = l.sent[1:]
	}
	if len(l.sent) >= l.each {
		return l.sent[len(l.sent)-l.each].Add(time.Minute).Sub(now)
	}
	l.sent = append(l.sent, now)
	return 0
}

// hold leaves the provider alone for d, for all who ask it.
func (l *lane) hold(now time.Time, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := now.Add(min(d, longestHold)); at.After(l.until) {
		l.until = at
	}
}
