package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// ErrUnsound is returned for a file of a run that is there and cannot be taken for
// what it should be: cut, of another schema, or of another trial.
var ErrUnsound = errors.New("unsound file")

// ErrSchema is returned, as [ErrUnsound] is, for a file of another version's: nothing
// is broken, and this engine cannot read it.
var ErrSchema = errors.New("file of another schema")

// unsound is an error about one file, with what to do about it where that is known.
func unsound(path, what string) error { return &unsoundError{path: path, what: what} }

type unsoundError struct {
	path, what string
	schema     bool
}

func (e *unsoundError) Error() string { return e.path + ": " + e.what }

func (e *unsoundError) Is(target error) bool {
	return target == ErrUnsound || e.schema && target == ErrSchema
}

func otherSchema(path string, schema int, why string) error {
	return &unsoundError{path, fmt.Sprintf("it is of schema %d and this evalengine reads %d: %s", schema, SchemaVersion, why), true}
}

// readFile reads a JSON file that a run is made of into v and holds its version
// against this engine's.
func readFile(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return unsound(path, "the file is empty: it was cut off")
	}
	err = json.Unmarshal(b, v)
	// Another version may have fields of another type: it is told before them.
	var of struct {
		Schema int `json:"schema"`
	}
	switch v := v.(type) {
	case *eval.Record:
		of.Schema = v.Schema
	case *eval.Rescore:
		of.Schema = v.Schema
	case *eval.Run:
		of.Schema = v.Schema
	case *eval.Summary:
		of.Schema = v.Schema
	}
	if err != nil && json.Unmarshal(b, &of) != nil {
		return unsound(path, notJSON(err))
	}
	switch {
	case of.Schema > SchemaVersion:
		return otherSchema(path, of.Schema, "a newer evalengine wrote it, use that one")
	case of.Schema < SchemaVersion:
		return otherSchema(path, of.Schema, "what wrote it is too old")
	case err != nil:
		return unsound(path, notJSON(err))
	}
	return nil
}

func notJSON(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		if syntax.Error() == "unexpected end of JSON input" || errors.Is(err, io.ErrUnexpectedEOF) {
			return "it ends in the middle: the file was cut off"
		}
		return fmt.Sprintf("it is no JSON from byte %d on: %v", syntax.Offset, err)
	}
	return err.Error()
}

// soundRecord looks at what readers of a record rely on.
func soundRecord(path string, rec *eval.Record) error {
	switch rec.Status {
	case eval.StatusPassed, eval.StatusFailed, eval.StatusErrored, eval.StatusSkipped:
		return nil
	}
	return unsound(path, fmt.Sprintf("its status is %q, which is none", rec.Status))
}

// Missing names the files of a record that are not in its trial's folder, sorted.
// What they hold is not looked at: [Verify] does that.
func Missing(dir string, rec *eval.Record) []string {
	var names []string
	for name := range rec.Files {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
