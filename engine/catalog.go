package engine

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/launch"
	"github.com/evalengine/evalengine/engine/internal/story"
	"github.com/evalengine/evalengine/engine/internal/wasm"
	"github.com/evalengine/evalengine/scorers"
)

// maxModule bounds a scorer module's file in bytes.
const maxModule = 64 << 20

// catalog tells the suite language what there is to refer to.
type catalog struct{ e *Engine }

var _ story.Catalog = catalog{}

func (c catalog) Host(ctx context.Context, driver, sha256 string) (eval.Description, error) {
	h, err := c.e.pool.Host(ctx, driver, sha256)
	if err != nil {
		return eval.Description{}, unknown(err)
	}
	return h.Describe(ctx)
}

func (c catalog) Provisioner(ctx context.Context, name, sha256 string) (eval.Description, error) {
	p, err := c.e.pool.Provisioner(ctx, name, sha256)
	if err != nil {
		return eval.Description{}, unknown(err)
	}
	return p.Describe(ctx)
}

// unknown turns the pool's word for a plugin that is not there into the suite
// language's.
func unknown(err error) error {
	if errors.Is(err, launch.ErrUnknown) {
		return fmt.Errorf("%w: %w", story.ErrUnknown, err)
	}
	return pinned(err)
}

// pinned marks an error that is about a digest as the suite language does. Its text
// stays.
func pinned(err error) error {
	if errors.Is(err, launch.ErrDigest) || errors.Is(err, wasm.ErrDigest) {
		return digestError{err}
	}
	return err
}

type digestError struct{ error }

func (e digestError) Unwrap() []error { return []error{story.ErrDigest, e.error} }

func (c catalog) Module(ctx context.Context, cfg *eval.ModuleConfig, name string) (*eval.Manifest, error) {
	m, err := c.e.module(ctx, cfg, name)
	if err != nil {
		return nil, pinned(err)
	}
	return m.Manifest(), nil
}

func (c catalog) HostNames() []string        { return c.names("host") }
func (c catalog) ProvisionerNames() []string { return c.names("provisioner") }
func (c catalog) ModuleNames() []string      { return scorers.Names() }

func (c catalog) names(kind string) []string {
	var names []string
	for _, b := range c.e.o.Plugins.List() {
		if b.Kind == kind && b.ShadowedBy == "" {
			names = append(names, b.Name)
		}
	}
	return names
}

// module loads the suite's own module of a scorer block, or the built-in one of
// that name where cfg is nil.
func (e *Engine) module(ctx context.Context, cfg *eval.ModuleConfig, name string) (*wasm.Module, error) {
	key := name
	if cfg != nil {
		key = name + "\x00" + cfg.Path + "\x00" + cfg.SHA256
	}
	e.mu.Lock()
	m := e.modules[key]
	e.mu.Unlock()
	if m != nil {
		return m, nil
	}
	content, sum, grants, err := source(cfg, name)
	if err != nil {
		return nil, err
	}
	r, err := e.scorers()
	if err != nil {
		return nil, err
	}
	if m, err = r.Load(ctx, name, content, sum, grants); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.modules[key] = m
	return m, nil
}

func source(cfg *eval.ModuleConfig, name string) (content []byte, sum string, g eval.Grants, err error) {
	if cfg == nil {
		content, ok := scorers.Module(name)
		if !ok {
			return nil, "", g, fmt.Errorf("scorer module %q: %w", name, story.ErrUnknown)
		}
		return content, "", g, nil
	}
	info, err := os.Stat(cfg.Path)
	if err != nil {
		return nil, "", g, fmt.Errorf("scorer module %q: %w", name, err)
	}
	if info.Size() > maxModule {
		return nil, "", g, fmt.Errorf("scorer module %q: %s has %d bytes; at most %d are taken", name, cfg.Path, info.Size(), maxModule)
	}
	content, err = os.ReadFile(cfg.Path)
	if err != nil {
		return nil, "", g, fmt.Errorf("scorer module %q: %w", name, err)
	}
	return content, cfg.SHA256, cfg.Grants, nil
}
