package story

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/evalengine/evalengine/engine/eval"
)

const (
	maxSuiteFile  = 1 << 20
	maxSuiteFiles = 5000
)

// parsedFile is one suite file. Positions are those of source.
type parsedFile struct {
	// name is the path as the caller gave it, for messages.
	name string
	// original are the bytes on disk.
	original []byte
	// source is what was parsed: without a byte order mark, lines ended by \n
	// alone, so that a prompt is the same whatever a checkout does to line ends.
	source []byte
	body   *hclsyntax.Body
}

// parse reads every suite file under paths.
func (l *loader) parse(paths []string) {
	if len(paths) == 0 {
		l.found.addPlain("no suite given", "Give a suite file, or a folder of *.hcl files.")
	}
	seen := map[string]bool{}
	for _, path := range paths {
		for _, name := range l.list(path) {
			if abs, err := filepath.Abs(name); err == nil && !seen[abs] {
				seen[abs] = true
				l.parseFile(name)
			}
		}
	}
}

// list returns the suite files that a path stands for: itself, or the *.hcl of
// a folder, without those of folders below it.
func (l *loader) list(path string) []string {
	info, err := os.Stat(path)
	if err != nil {
		l.found.addPlain("suite cannot be read", plainError(path, err))
		return nil
	}
	if !info.IsDir() {
		return []string{path}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		l.found.addPlain("suite cannot be read", plainError(path, err))
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".hcl") && !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	if len(names) == 0 {
		l.found.addPlain("no suite files", fmt.Sprintf("The folder %s has no *.hcl files. `evalengine init %s` writes a suite that runs at once.", path, path))
	}
	if len(names) > maxSuiteFiles {
		l.found.addPlain("too many suite files", fmt.Sprintf("The folder %s has %d *.hcl files; %d are allowed.", path, len(names), maxSuiteFiles))
		return nil
	}
	return names
}

func plainError(path string, err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Sprintf("%s: %v.", path, err)
}

func (l *loader) parseFile(name string) {
	data, err := readRegular(name, maxSuiteFile)
	if err != nil {
		l.found.addPlain("suite cannot be read", plainError(name, err))
		return
	}
	p := &parsedFile{name: name, original: data, source: normal(data), body: &hclsyntax.Body{}}
	l.parsed = append(l.parsed, p)
	if rng, bad := tooDeep(p.source, name); bad {
		l.found.fail(rng, "expression too complex", "Nothing may be nested deeper than %d levels or hold more than %d operators in a row. Use locals for its parts.", maxDepth, maxOperators)
		return
	}
	f, diags := hclsyntax.ParseConfig(p.source, name, hcl.InitialPos)
	for _, d := range diags {
		l.addParse(d, p.source)
	}
	if body, ok := f.Body.(*hclsyntax.Body); ok && !diags.HasErrors() {
		p.body = body
	}
}

// addParse adds what the parser found; text that looks like a template by
// accident gets a hint.
func (l *loader) addParse(d *hcl.Diagnostic, src []byte) {
	out := toDiagnostic(d)
	if d.Subject != nil {
		open := openTemplate(src, d.Subject.Start.Byte)
		if strings.Contains(d.Detail, "$${") {
			open = ""
		} else if open == "" {
			open = openTemplate(src, d.Subject.End.Byte)
		}
		out.Detail = sentence(out.Detail, literalHint(open))
	}
	l.found.list = append(l.found.list, out)
}

// readRegular reads a file that must be no device, pipe or folder, and no
// larger than limit.
func readRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAtMost(f, limit)
}

func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("larger than %d KiB", limit>>10)
	}
	return data, nil
}

func normal(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !bytes.Contains(data, []byte("\r\n")) {
		return data
	}
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// Sources returns the text of the files that diagnostics point into, as
// positions count in it; nil for a file that cannot be had. The suite may be
// nil; a loaded one answers with what it was loaded from, changed since or not.
func Sources(s *eval.Suite) func(file string) []byte {
	return func(file string) []byte {
		if s != nil {
			if data := kept(s, file); data != nil {
				return normal(data)
			}
		}
		data, err := readRegular(file, maxReadFile)
		if err != nil {
			return nil
		}
		return normal(data)
	}
}

func kept(s *eval.Suite, file string) []byte {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil
	}
	for _, f := range s.Files {
		path := filepath.FromSlash(f.Path)
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Dir, path)
		}
		if path == abs {
			return f.Content
		}
	}
	return nil
}
