package story

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/evalengine/evalengine/engine/eval"
)

// remote begins the source of a module in a registry. It is a form of its own,
// so that it is not taken for a path; nothing fetches modules yet.
const remote = "oci://"

// moduleBlock is a scorer block and what it becomes.
type moduleBlock struct {
	block  *hclsyntax.Block
	config eval.ModuleConfig
	pin    pin
	// usable says that there is no error in the block, used that a story uses
	// one of the module's scorers.
	usable, used bool
}

func (l *loader) declareModules() {
	for _, b := range l.blocks["scorer"] {
		var before *hclsyntax.Block
		if m := l.modules[b.Labels[0]]; m != nil {
			before = m.block
		}
		if !l.declared("scorer", b, before) {
			continue
		}
		if slices.Contains(l.opts.Catalog.ModuleNames(), b.Labels[0]) {
			l.found.fail(b.LabelRanges[0], "name of a built-in module", "%q is a built-in module. Give this one another name.", b.Labels[0])
			continue
		}
		m := &moduleBlock{block: b}
		before2 := len(l.found.list)
		l.decodeModule(m)
		m.usable = !l.found.list[before2:].HasErrors()
		l.modules[b.Labels[0]] = m
		l.order.modules = append(l.order.modules, b.Labels[0])
	}
}

func (l *loader) decodeModule(m *moduleBlock) {
	b := m.block
	attrs, _ := l.content(b.Body, &scorerBody, b.DefRange())
	m.config = eval.ModuleConfig{Name: b.Labels[0], Source: toSource(b.DefRange())}
	m.config.SHA256, m.pin = l.pinAttr(attrs["sha256"])
	if source, ok := l.filledAttr(attrs["source"], l.root); ok {
		m.config.Path = l.modulePath(attrs, source)
	}
	if g := nested(b, "grants"); g != nil {
		m.config.Grants = l.grants(g)
	}
}

// modulePath may lie outside the suite's folder: a module is never copied into
// a run, only its digest.
func (l *loader) modulePath(attrs attributes, source string) string {
	a := attrs["source"]
	if strings.HasPrefix(source, remote) {
		l.found.fail(a.Expr.Range(), "module in a registry", "Modules are not fetched from registries. Download this one, give its path, and pin it with sha256.")
		return ""
	}
	if scheme, _, ok := strings.Cut(source, "://"); ok {
		l.found.fail(a.Expr.Range(), "unknown kind of source", "A source is the path of a .wasm file, and %s:// begins none.", scheme)
		return ""
	}
	path := filepath.FromSlash(source)
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.suite.Dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		l.found.fail(a.Expr.Range(), "module cannot be read", "%s The path starts from the suite's folder. A module is built with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared.", plainError(source, err))
	case !info.Mode().IsRegular():
		l.found.fail(a.Expr.Range(), "module cannot be read", "%s: it is not a regular file. The source of a scorer is a .wasm file.", source)
	}
	return path
}

func (l *loader) grants(b *hclsyntax.Block) eval.Grants {
	attrs, _ := l.content(b.Body, &grantsBody, b.DefRange())
	g := eval.Grants{
		MemoryBytes: l.sizeAttr(attrs["memory"], l.root),
		Timeout:     l.durationAttr(attrs["timeout"], l.root),
		OutputBytes: l.sizeAttr(attrs["output"], l.root),
		LogBytes:    l.sizeAttr(attrs["log"], l.root),
	}
	g.Models, _ = l.refsAttr(attrs["models"], l.root, "model", l.root.models)
	g.Calls, _ = l.intAttr(attrs["calls"], l.root, 1, 1_000_000)
	return g
}

// usedModules are those that a story uses a scorer of.
func (l *loader) usedModules() {
	for _, name := range l.order.modules {
		if m := l.modules[name]; m.used {
			l.suite.Modules = append(l.suite.Modules, m.config)
		}
	}
}
