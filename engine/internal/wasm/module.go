package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/wasm/binary"
	"github.com/evalengine/evalengine/scorers/wire"
)

// Module is a scorer module that was found fit. It is safe for concurrent use.
type Module struct {
	rt       *Runtime
	name     string
	slot     int64
	sha256   string
	bytes    []byte
	limits   limits
	manifest *eval.Manifest

	// loading is held while the module's fitness is still unknown, so that it is
	// compiled once and not in every worker.
	loading chan struct{}
	mu      sync.Mutex
	known   bool
	// unfit is why no worker could load the module.
	unfit *moduleError
}

// ErrDigest is returned for a module that is not the one that the suite pins.
var ErrDigest = errors.New("digest mismatch")

// Load checks a module and reads its manifest. name is what the suite calls it.
// The module is refused unless its SHA-256 in hex is want, where that is not
// empty. A module that carries its manifest is neither compiled nor run; any other
// is asked for it in a worker. The caller must not change module.
func (rt *Runtime) Load(ctx context.Context, name string, module []byte, want string, g eval.Grants) (*Module, error) {
	sum := sha256.Sum256(module)
	m := &Module{
		rt: rt, name: name, bytes: module, sha256: hex.EncodeToString(sum[:]), limits: limitsOf(g),
		slot: rt.slot(), loading: make(chan struct{}, 1),
	}
	if want != "" && want != m.sha256 {
		return nil, fmt.Errorf("scorer module %q: %w: its SHA-256 is %s, the suite pins %s", name, ErrDigest, m.sha256, want)
	}
	parsed, err := binary.Parse(module)
	if err == nil {
		err = checkABI(parsed)
	}
	if err != nil {
		return nil, fmt.Errorf("scorer module %q: %w", name, err)
	}
	encoded, ok := parsed.Custom(sectionName)
	if !ok {
		if encoded, err = m.describe(ctx); err != nil {
			return nil, fmt.Errorf("scorer module %q: %w", name, err)
		}
	}
	if m.manifest, err = decodeManifest(encoded); err != nil {
		return nil, fmt.Errorf("scorer module %q: manifest: %w", name, err)
	}
	return m, nil
}

// Manifest returns the manifest that a module carries as custom section
// eval.manifest; ok is false where it carries none.
func Manifest(module []byte) (m *eval.Manifest, ok bool, err error) {
	parsed, err := binary.Parse(module)
	if err != nil {
		return nil, false, err
	}
	encoded, ok := parsed.Custom(sectionName)
	if !ok {
		return nil, false, nil
	}
	m, err = decodeManifest(encoded)
	return m, true, err
}

// AddManifest returns the module with m as its custom section eval.manifest, in
// place of any that it had.
func AddManifest(module []byte, m *eval.Manifest) ([]byte, error) {
	parsed, err := binary.Parse(module)
	if err != nil {
		return nil, err
	}
	return binary.AppendCustom(parsed.Without(sectionName), sectionName, wire.AppendManifest(nil, m)), nil
}

// Source returns the digest that [AddSource] stored, or nothing.
func Source(module []byte) string {
	parsed, err := binary.Parse(module)
	if err != nil {
		return ""
	}
	b, _ := parsed.Custom(sourceSection)
	return string(b)
}

// AddSource returns the module with a digest of what it was made of, in place of
// any that it had.
func AddSource(module []byte, digest string) ([]byte, error) {
	parsed, err := binary.Parse(module)
	if err != nil {
		return nil, err
	}
	return binary.AppendCustom(parsed.Without(sourceSection), sourceSection, []byte(digest)), nil
}

// Manifest returns what the module says of itself.
func (m *Module) Manifest() *eval.Manifest { return m.manifest }

// SHA256 returns the digest of the module's file in hex.
func (m *Module) SHA256() string { return m.sha256 }

// Name returns what the suite calls the module.
func (m *Module) Name() string { return m.name }

func (m *Module) describe(ctx context.Context) ([]byte, error) {
	a, err := m.run(ctx, m.rt.pure, 0, nil, nil)
	if err != nil {
		return nil, err
	}
	if a.code != 0 {
		return nil, fmt.Errorf("%s: %s", exportInfo, cut(string(a.output)))
	}
	return a.output, nil
}

// run has a worker run the module: score 0 is eval_describe, 1 eval_score.
func (m *Module) run(ctx context.Context, p *pool, score int64, request [][]byte,
	call func(op string, request []byte) (int64, []byte)) (*answer, error) {
	w, err := p.get(ctx)
	if err != nil {
		return nil, err
	}
	defer p.put(w)
	if err := m.loadInto(ctx, w); err != nil {
		return nil, err
	}
	b := appendInt(appendInt(beginFrame(w.buf[:0], frameRun), m.slot), score)
	total := 0
	for _, piece := range request {
		total += len(piece)
	}
	endFrame(b, total)
	var pieces [][]byte
	if total < largePayload {
		for _, piece := range request {
			b = append(b, piece...)
		}
		w.buf = b
		pieces = [][]byte{b}
	} else {
		pieces = append([][]byte{b}, request...)
	}
	return w.exchange(ctx, m.limits.timeout, m.limits.output+m.limits.log+frameSlack, pieces, call)
}

// loadInto makes sure that the worker has the module.
func (m *Module) loadInto(ctx context.Context, w *process) error {
	if w.loaded[m.slot] {
		return nil
	}
	known, unfit := m.fitness()
	if unfit == nil && !known {
		select {
		case m.loading <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		defer func() { <-m.loading }()
		_, unfit = m.fitness()
	}
	if unfit != nil {
		return unfit
	}
	l := m.limits
	b := appendInt(beginFrame(nil, frameLoad), m.slot)
	for _, v := range []int64{l.memory, int64(l.timeout), l.output, l.log, int64(l.calls)} {
		b = appendInt(b, v)
	}
	endFrame(b, len(m.bytes))
	began := time.Now()
	_, err := w.exchange(ctx, m.rt.compileTimeout, frameSlack, [][]byte{b, m.bytes}, nil)
	if bad, ok := errors.AsType[*moduleError](err); ok {
		bad.text = "loading: " + bad.text
		if !known {
			m.setFitness(bad)
		}
		return bad
	}
	if err != nil {
		return err
	}
	m.rt.log.Debug("scorer module loaded", "module", m.name, "sha256", m.sha256, "took", time.Since(began))
	m.setFitness(nil)
	w.loaded[m.slot] = true
	return nil
}

func (m *Module) fitness() (known bool, unfit *moduleError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, m.unfit
}

func (m *Module) setFitness(unfit *moduleError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known, m.unfit = true, unfit
}
