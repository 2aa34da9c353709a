// Package story reads the suite language: HCL files to a checked [eval.Suite].
// It knows what a suite may say and nothing of how it is run; what plugins and
// scorer modules take it learns from a [Catalog]. It is the only importer of
// HCL, which no caller gets to see: problems are a [diag.List], and what can
// only be known in a trial (prompts, parameters, conditions) is behind the
// interfaces of package eval. Enter at [Load]; once a target's tools are known,
// [CheckTools] compares the suite with them.
package story

import (
	"context"
	"errors"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

// ErrUnknown is returned, wrapped, by a [Catalog] for a name that does not
// exist; any other error means that the thing exists and cannot be used.
var ErrUnknown = errors.New("unknown name")

// ErrDigest is returned, wrapped, by a [Catalog] for a plugin or module that is not
// the one that the suite pins.
var ErrDigest = errors.New("digest mismatch")

// Catalog knows what a suite can refer to. [Load] asks for what the suite uses
// and nothing else, each thing once, and several at the same time: methods must
// be safe for concurrent use.
type Catalog interface {
	// Host describes the host plugin of that name. A sha256 that is not empty
	// must be the plugin binary's.
	Host(ctx context.Context, driver, sha256 string) (eval.Description, error)
	// Provisioner does the same for a provisioner plugin.
	Provisioner(ctx context.Context, name, sha256 string) (eval.Description, error)
	// Module reads the manifest of a scorer module: of cfg, or of the built-in
	// module of that name where cfg is nil.
	Module(ctx context.Context, cfg *eval.ModuleConfig, name string) (*eval.Manifest, error)
	// The names that exist, for "did you mean"; ModuleNames are the built-in
	// modules.
	HostNames() []string
	ProvisionerNames() []string
	ModuleNames() []string
}

// Options are what a suite is loaded with.
type Options struct {
	// Vars are values of variables, as given by --var. They win over VarFiles,
	// later files over earlier ones, and these over Environ.
	Vars map[string]string
	// VarFiles are files of NAME = VALUE lines.
	VarFiles []string
	// Environ looks up EVALENGINE_VAR_NAME; nil has none.
	Environ func(name string) (string, bool)
	// Hosts are globs that choose among all the hosts declared; empty takes those
	// that the suite lists. A glob that covers none is left to the caller.
	Hosts []string
	// Catalog must not be nil.
	Catalog Catalog
}

// Load reads a suite from files and folders of *.hcl and checks all of it that
// can be checked before a trial. The suite is nil where the list has errors;
// the list may also have warnings alone.
func Load(ctx context.Context, paths []string, o Options) (*eval.Suite, diag.List) {
	l := newLoader(o)
	defer l.close()
	s := l.load(ctx, paths)
	if l.found.list.HasErrors() {
		s = nil
	}
	return s, l.locate()
}
