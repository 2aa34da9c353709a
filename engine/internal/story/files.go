package story

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/evalengine/evalengine/engine/eval"
)

const (
	maxReadFile  = 4 << 20
	maxReadTotal = 64 << 20
	maxFileset   = 10_000
)

// files reads what the suite refers to, never outside the suite's folder, and
// keeps it: a trial sees the text that was there when the suite was loaded. It
// is safe for concurrent use.
type files struct {
	dir  string
	root *os.Root

	mu     sync.Mutex
	order  []eval.File
	index  map[string]int
	total  int64
	sealed bool
	// What was asked once is answered the same in a trial.
	there     map[string]bool
	sets      map[string][]string
	templates map[string]hclsyntax.Expression
}

func openFiles(dir string) (*files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &files{
		dir: dir, root: root, index: map[string]int{},
		there: map[string]bool{}, sets: map[string][]string{}, templates: map[string]hclsyntax.Expression{},
	}, nil
}

// seal ends reading from disk: afterwards only what was read is there.
func (f *files) seal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sealed = true
	f.root.Close()
}

// used returns every file in the order of first use.
func (f *files) used() []eval.File {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.order)
}

// record keeps a suite file, which may lie outside the folder.
func (f *files) record(name string, data []byte) {
	rel := name
	if abs, err := filepath.Abs(name); err == nil {
		rel = abs
		if r, err := filepath.Rel(f.dir, abs); err == nil && filepath.IsLocal(r) {
			rel = r
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(filepath.ToSlash(rel), data)
}

func (f *files) keep(rel string, data []byte) {
	if _, ok := f.index[rel]; ok {
		return
	}
	sum := sha256.Sum256(data)
	f.index[rel] = len(f.order)
	f.order = append(f.order, eval.File{Path: rel, SHA256: hex.EncodeToString(sum[:]), Content: data})
}

// local cleans a path of the suite and refuses one that leaves its folder.
func local(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("the path is empty")
	case strings.ContainsRune(name, 0):
		return "", errors.New("the path holds a zero byte")
	case path.IsAbs(name) || filepath.IsAbs(name):
		return "", fmt.Errorf("%q is absolute; paths are relative to the suite's folder and stay within it", name)
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return "", fmt.Errorf("%q leads out of the suite's folder", name)
	}
	return path.Clean(name), nil
}

// read returns a file's bytes.
func (f *files) read(name string) ([]byte, error) {
	rel, err := local(name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if i, ok := f.index[rel]; ok {
		return f.order[i].Content, nil
	}
	if f.sealed {
		return nil, fmt.Errorf("%q was not read when the suite was loaded", name)
	}
	data, err := f.readDisk(rel)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, cause(err))
	}
	f.total += int64(len(data))
	if f.total > maxReadTotal {
		return nil, fmt.Errorf("%q: the files that the suite reads are larger than %d MiB together", name, maxReadTotal>>20)
	}
	f.keep(rel, data)
	return data, nil
}

func (f *files) readDisk(rel string) ([]byte, error) {
	info, err := f.root.Stat(filepath.FromSlash(rel))
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("is a folder")
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	file, err := f.root.Open(filepath.FromSlash(rel))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAtMost(file, maxReadFile)
}

// cause leaves out the path, which the caller names as the suite does.
func cause(err error) error {
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case errors.As(err, &pe):
		return pe.Err
	}
	return err
}

// text returns a file that must be UTF-8.
func (f *files) text(name string) (string, error) {
	data, err := f.read(name)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("%q is not UTF-8 text", name)
	}
	return string(data), nil
}

func (f *files) exists(name string) (bool, error) {
	rel, err := local(name)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if ok, asked := f.there[rel]; asked {
		return ok, nil
	}
	if f.sealed {
		return false, fmt.Errorf("%q was not looked for when the suite was loaded", name)
	}
	info, err := f.root.Stat(filepath.FromSlash(rel))
	f.there[rel] = err == nil && info.Mode().IsRegular()
	return f.there[rel], nil
}

var errTooMany = fmt.Errorf("more than %d files match", maxFileset)

// match returns the files below a folder that match a pattern, sorted.
// Links to folders are not followed.
func (f *files) match(folder, pattern string) ([]string, error) {
	rel, err := local(folder)
	if err != nil {
		return nil, err
	}
	if _, err := local(pattern); err != nil || !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("%q is no pattern of files below the folder", pattern)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := rel + "\x00" + pattern
	if names, asked := f.sets[key]; asked {
		return names, nil
	}
	if f.sealed {
		return nil, errors.New("the files were not listed when the suite was loaded")
	}
	below, err := fs.Sub(f.root.FS(), rel)
	if err != nil {
		return nil, err
	}
	var names []string
	err = doublestar.GlobWalk(below, pattern, func(p string, _ fs.DirEntry) error {
		// A link's own target counts: it may lie outside.
		if info, err := f.root.Stat(filepath.FromSlash(path.Join(rel, p))); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		if names = append(names, p); len(names) > maxFileset {
			return errTooMany
		}
		return nil
	}, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	f.sets[key] = names
	return names, nil
}

// absolute is where a file of the suite lies.
func (f *files) absolute(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// template returns a file parsed as a template.
func (f *files) template(name string) (hclsyntax.Expression, error) {
	text, err := f.text(name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.templates[name]; e != nil {
		return e, nil
	}
	src := normal([]byte(text))
	if rng, bad := templateTooDeep(src, name); bad {
		return nil, fmt.Errorf("%s: an expression is nested too deep", at(rng))
	}
	expr, diags := hclsyntax.ParseTemplate(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, errors.New(placed(diags))
	}
	f.templates[name] = expr
	return expr, nil
}
