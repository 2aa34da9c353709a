// Package launch finds, verifies, starts and supervises plugin processes. A
// [Finder] says which binary a name means; a [Pool] has one process for each
// binary in use, shared by all trials, and starts it again when it died.
//
// It knows no protocol: that is plugins/rpc. Plugins are trusted code that runs as
// the user; what is kept from them is the engine's environment.
package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/plugins/rpc"
)

var (
	// ErrUnfit is returned when a folder has something of the plugin's name that
	// is no program: say what is wrong with it.
	ErrUnfit = errors.New("not a program")
	// ErrUnknown is returned when no folder has the plugin: say which there are.
	ErrUnknown = errors.New("unknown plugin")
	// ErrName is returned for a name that is none: names are never paths.
	ErrName = errors.New("not a plugin name")
	// ErrUnsafe is returned for a binary that others may change.
	ErrUnsafe = errors.New("others may change the binary")
	// ErrDigest is returned when a binary is not the one that the suite pins, or not
	// the one that the run began with.
	ErrDigest = errors.New("digest mismatch")
	// ErrClosed is returned by a pool that is closed.
	ErrClosed = errors.New("the plugins are closed")
)

// Kinds lists the kinds of plugins.
func Kinds() []string { return []string{rpc.KindHost, rpc.KindProvisioner, rpc.KindModel} }

// Binary is a plugin's binary.
type Binary struct {
	Kind, Name string
	Path       string
	// Origin says where it was found: "path", "project", "user" or "engine".
	Origin string
	// ShadowedBy is the path of the binary that is used in its place; empty for
	// one that is used.
	ShadowedBy string
}

// Finder says where plugins are looked for, in this order. A plugin is a file
// evalengine-KIND-NAME in one of the folders.
type Finder struct {
	// Path has the entries of EVALENGINE_PLUGIN_PATH.
	Path []string
	// Project is the project's .evalengine/plugins, User the user's folder, Beside
	// the folder of the engine's own binary. Empty is none.
	Project, User, Beside string
}

type folder struct{ path, origin string }

func (f Finder) folders() []folder {
	var list []folder
	for _, p := range f.Path {
		list = append(list, folder{p, "path"})
	}
	list = append(list, folder{f.Project, "project"}, folder{f.User, "user"}, folder{f.Beside, "engine"})
	return slices.DeleteFunc(list, func(d folder) bool { return d.path == "" })
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

func validName(s string) bool { return len(s) <= 64 && nameForm.MatchString(s) }

// Find returns the binary that a name means.
func (f Finder) Find(kind, name string) (Binary, error) {
	if !slices.Contains(Kinds(), kind) {
		return Binary{}, fmt.Errorf("%w: there is no kind %q", ErrUnknown, kind)
	}
	if !validName(name) {
		return Binary{}, fmt.Errorf(
			"%s plugin %q: %w: it may have lower case letters, digits and hyphens; "+
				"to use a binary of your own, call it evalengine-%s-NAME and put its folder into EVALENGINE_PLUGIN_PATH",
			kind, name, ErrName, kind)
	}
	var unfit []string
	for _, d := range f.folders() {
		path, err := executable(d.path, "evalengine-"+kind+"-"+name)
		switch {
		case err == nil:
			return Binary{Kind: kind, Name: name, Path: path, Origin: d.origin}, nil
		case !errors.Is(err, os.ErrNotExist):
			unfit = append(unfit, err.Error())
		}
	}
	if len(unfit) > 0 {
		return Binary{}, fmt.Errorf("%s plugin %q: %w: %s", kind, name, ErrUnfit, strings.Join(unfit, "; "))
	}
	return Binary{}, fmt.Errorf("%s plugin %q: %w: %s", kind, name, ErrUnknown, f.known(kind))
}

func (f Finder) known(kind string) string {
	var names []string
	for _, b := range f.List() {
		if b.Kind == kind && b.ShadowedBy == "" {
			names = append(names, b.Name)
		}
	}
	if len(names) == 0 {
		return "no " + kind + " plugin was found"
	}
	return "there are " + strings.Join(names, ", ")
}

// executable returns the absolute path of an executable file.
func executable(dir, name string) (string, error) {
	path, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return "", err
	}
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !fi.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file", path)
	case fi.Mode()&0o111 == 0:
		return "", fmt.Errorf("%s is not executable; chmod +x it", path)
	}
	return path, nil
}

// List returns every plugin in every folder, those that are shadowed included,
// by kind and name and then in the order of the folders.
func (f Finder) List() []Binary {
	var list []Binary
	used := map[string]string{}
	seen := map[string]bool{}
	for _, d := range f.folders() {
		entries, err := os.ReadDir(d.path)
		if err != nil {
			continue // a folder that is not there is an empty one
		}
		for _, e := range entries {
			kind, name, ok := split(e.Name())
			if !ok {
				continue
			}
			path, err := executable(d.path, e.Name())
			if err != nil || seen[path] {
				continue
			}
			seen[path] = true
			b := Binary{Kind: kind, Name: name, Path: path, Origin: d.origin, ShadowedBy: used[e.Name()]}
			if b.ShadowedBy == "" {
				used[e.Name()] = path
			}
			list = append(list, b)
		}
	}
	slices.SortStableFunc(list, func(a, b Binary) int {
		return strings.Compare(a.Kind+" "+a.Name, b.Kind+" "+b.Name)
	})
	return list
}

func split(file string) (kind, name string, ok bool) {
	rest, ok := strings.CutPrefix(file, "evalengine-")
	if !ok {
		return "", "", false
	}
	kind, name, ok = strings.Cut(rest, "-")
	return kind, name, ok && slices.Contains(Kinds(), kind) && validName(name)
}
