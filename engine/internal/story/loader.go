package story

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

// loader is the state of one Load, in the order of its steps: parse, values,
// blocks, stories.
type loader struct {
	opts  Options
	found problems
	suite *eval.Suite

	// parsed are the suite's files in the order given, blocks their top-level
	// blocks by type.
	parsed []*parsedFile
	blocks map[string][]*hclsyntax.Block

	files *files
	// root has the functions and var, local and path.
	root *scope

	catalog        *catalog
	hosts          map[string]*hostBlock
	targets        map[string]*targetBlock
	models         map[string]*hclsyntax.Block
	declaredModels []*modelBlock
	modules        map[string]*moduleBlock
	order          blockOrder
	// suiteOwn are the hosts that the suite itself runs on, whoever is chosen.
	suiteOwn []string
	secrets  map[string]bool
}

// blockOrder keeps the names as they were declared.
type blockOrder struct{ hosts, targets, models, modules []string }

func newLoader(o Options) *loader {
	return &loader{
		opts:    o,
		suite:   &eval.Suite{},
		blocks:  map[string][]*hclsyntax.Block{},
		hosts:   map[string]*hostBlock{},
		targets: map[string]*targetBlock{},
		models:  map[string]*hclsyntax.Block{},
		modules: map[string]*moduleBlock{},
		secrets: map[string]bool{},
		catalog: newCatalog(o.Catalog),
	}
}

func (l *loader) close() {
	if l.files != nil {
		l.files.seal()
	}
}

// load goes on after a step with errors only where what follows does not depend
// on it, so that one mistake is reported once.
func (l *loader) load(ctx context.Context, paths []string) *eval.Suite {
	if l.opts.Catalog == nil {
		l.found.addPlain("no catalog", "Loading a suite needs a catalog of plugins and scorer modules.")
		return nil
	}
	l.parse(paths)
	if l.found.list.HasErrors() {
		return nil
	}
	l.collect()
	block := l.suiteBlock(paths)
	if block == nil || !l.open(block) {
		return nil
	}
	l.root = newRoot(l)
	l.variables()
	l.locals()
	l.declare()
	l.decodeSuite(block)
	stories := l.expand()
	if err := l.fetch(ctx, stories); err != nil {
		l.found.addPlain("loading was stopped", err.Error())
		return nil
	}
	l.configure(stories)
	for _, st := range stories {
		l.decodeStory(st)
	}
	l.finish()
	return l.suite
}

// open settles the suite's folder: that of the file with the suite block.
func (l *loader) open(block *hclsyntax.Block) bool {
	dir, err := filepath.Abs(filepath.Dir(block.DefRange().Filename))
	if err != nil {
		l.found.addPlain("suite folder cannot be found", err.Error())
		return false
	}
	l.files, err = openFiles(dir)
	if err != nil {
		l.found.addPlain("suite folder cannot be opened", err.Error())
		return false
	}
	l.suite.Dir = dir
	for _, p := range l.parsed {
		l.files.record(p.name, p.original)
	}
	return true
}

// collect sorts the top-level blocks by type and reports what does not belong
// there.
func (l *loader) collect() {
	for _, p := range l.parsed {
		_, blocks := l.content(p.body, &fileBody, hcl.Range{Filename: p.name, Start: hcl.InitialPos, End: hcl.InitialPos})
		for _, b := range blocks {
			l.blocks[b.Type] = append(l.blocks[b.Type], b)
		}
	}
}

func (l *loader) suiteBlock(paths []string) *hclsyntax.Block {
	blocks := l.blocks["suite"]
	switch len(blocks) {
	case 1:
		return blocks[0]
	case 0:
		l.found.addPlain("no suite block", fmt.Sprintf(
			"None of %s declares a suite. Write: suite \"name\" {}.", strings.Join(paths, ", ")))
		return nil
	}
	for _, b := range blocks[1:] {
		l.found.fail(b.DefRange(), "second suite block",
			"There is one suite in a run and %s declares one already. Give the files of one suite, or one suite's folder.", at(blocks[0].DefRange()))
	}
	return nil
}

// declare reads the blocks that others refer to, without what needs the
// catalog.
func (l *loader) declare() {
	for _, b := range l.blocks["model"] {
		if l.declared("model", b, l.models[b.Labels[0]]) {
			l.models[b.Labels[0]] = b
			l.order.models = append(l.order.models, b.Labels[0])
		}
	}
	l.root.models = refs("model", l.order.models)
	l.declareHosts()
	l.declareTargets()
	l.declareModules()
	l.root.hosts = refs("host", l.order.hosts)
	l.root.targets = refs("target", l.order.targets)
	l.decodeModels()
}

// declared checks a block's name and that it is the first of that name.
func (l *loader) declared(kind string, b, before *hclsyntax.Block) bool {
	if !l.checkName(kind, b.Labels[0], b.LabelRanges[0]) {
		return false
	}
	if before != nil {
		l.found.fail(b.LabelRanges[0], "duplicate "+kind,
			"The %s %q is declared already, at %s. Rename one of them.", kind, b.Labels[0], at(before.DefRange()))
		return false
	}
	return true
}

// finish fills in what is known only at the end.
func (l *loader) finish() {
	l.usedModules()
	l.suite.Files = l.files.used()
	l.suite.Secrets = sortedKeys(l.secrets)
	if len(l.blocks["story"]) == 0 {
		l.noStories()
	}
	if !l.found.list.HasErrors() {
		l.unused()
	}
}

func (l *loader) noStories() {
	rng := l.blocks["suite"][0].DefRange()
	l.found.fail(rng, "no stories",
		"The suite has nothing to run. Add a block: story \"name\" { prompt = \"...\" }. Stories in other files are read when the folder, or each of the files, is given.")
}

// locate returns the problems, each once and in the order of the files, with
// the header of the block around it: stories of one for_each have the same
// problems.
func (l *loader) locate() diag.List {
	seen := map[diag.Diagnostic]bool{}
	l.found.list = slices.DeleteFunc(l.found.list, func(d diag.Diagnostic) bool {
		twice := seen[d]
		seen[d] = true
		return twice
	})
	bodies, order := map[string]*hclsyntax.Body{}, map[string]int{}
	for i, p := range l.parsed {
		bodies[p.name], order[p.name] = p.body, i+1
	}
	slices.SortStableFunc(l.found.list, func(a, b diag.Diagnostic) int {
		return cmp.Or(cmp.Compare(order[a.Subject.File], order[b.Subject.File]), cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte))
	})
	for i := range l.found.list {
		d := &l.found.list[i]
		body := bodies[d.Subject.File]
		if body == nil || d.Context != (diag.Range{}) {
			continue
		}
		if b := innermost(body, d.Subject.Start.Byte); b != nil {
			d.Context = toRange(b.DefRange())
		}
	}
	return l.found.list
}

func innermost(body *hclsyntax.Body, at int) *hclsyntax.Block {
	for _, b := range body.Blocks {
		if r := b.Range(); r.Start.Byte <= at && at <= b.CloseBraceRange.End.Byte {
			if inner := innermost(b.Body, at); inner != nil {
				return inner
			}
			return b
		}
	}
	return nil
}

// ref is the value of host.NAME, target.NAME and model.NAME: it can be passed
// on but not taken apart.
type ref struct{ kind, name string }

func refs(kind string, names []string) cty.Value {
	all := make(map[string]cty.Value, len(names))
	for _, n := range names {
		all[n] = cty.CapsuleVal(refType, &ref{kind, n})
	}
	return cty.ObjectVal(all)
}
