package wasm

import (
	"fmt"

	"github.com/evalengine/evalengine/engine/internal/wasm/binary"
)

// Names of the ABI.
const (
	abiModule     = "eval_v1"
	wasiModule    = "wasi_snapshot_preview1"
	abiMarker     = "eval_abi_v1"
	exportInit    = "_initialize"
	exportScore   = "eval_score"
	exportInfo    = "eval_describe"
	exportMemory  = "memory"
	sectionName   = "eval.manifest"
	sourceSection = "eval.source"
	markerPrefix  = "eval_abi_v"
	supportedABIs = "1"
)

// signature writes types as letters: i for i32, I for i64.
func signature(params, results string) binary.FuncType {
	return binary.FuncType{Params: types(params), Results: types(results)}
}

func types(letters string) []byte {
	var list []byte
	for _, c := range letters {
		t := byte(binary.I32)
		if c == 'I' {
			t = binary.I64
		}
		list = append(list, t)
	}
	return list
}

func equal(a, b binary.FuncType) bool {
	return string(a.Params) == string(b.Params) && string(a.Results) == string(b.Results)
}

// checkABI reports the first thing in which a module is not a scorer module of a
// supported ABI.
func checkABI(m *binary.Module) error {
	if m.Start {
		return fmt.Errorf("it has a start section; a scorer module begins with the export %s", exportInit)
	}
	if err := checkMarker(m); err != nil {
		return err
	}
	if e := m.Export(exportMemory); e == nil || e.Kind != binary.KindMemory || m.Memory == nil {
		return fmt.Errorf("it exports no memory of its own as %q", exportMemory)
	}
	for _, e := range []struct {
		name     string
		want     binary.FuncType
		optional bool
	}{
		{abiMarker, signature("", ""), false},
		{exportScore, signature("", "i"), false},
		{exportInfo, signature("", "i"), false},
		{exportInit, signature("", ""), true},
	} {
		if e.optional && m.Export(e.name) == nil {
			continue
		}
		if err := checkExport(m, e.name, e.want); err != nil {
			return err
		}
	}
	for _, i := range m.Imports {
		if err := checkImport(m, i); err != nil {
			return err
		}
	}
	return nil
}

func checkMarker(m *binary.Module) error {
	if m.Export(abiMarker) != nil {
		return nil
	}
	for _, e := range m.Exports {
		if v, ok := cutPrefix(e.Name, markerPrefix); ok {
			return fmt.Errorf("it has scorer ABI %s, this engine supports %s", v, supportedABIs)
		}
	}
	return fmt.Errorf("it does not export %s: not a scorer module", abiMarker)
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return "", false
}

func checkExport(m *binary.Module, name string, want binary.FuncType) error {
	e := m.Export(name)
	if e == nil || e.Kind != binary.KindFunc {
		return fmt.Errorf("it exports no function %s", name)
	}
	got, ok := m.FuncType(e.Index)
	if !ok || !equal(got, want) {
		return fmt.Errorf("export %s has type %v, want %v", name, got, want)
	}
	return nil
}

func checkImport(m *binary.Module, i binary.Import) error {
	full := i.Module + "." + i.Name
	want, known := hostSignature(i.Module, i.Name)
	switch {
	case !known:
		return fmt.Errorf("it imports %s, which scorers do not get", full)
	case i.Kind != binary.KindFunc:
		return fmt.Errorf("it imports %s as something other than a function", full)
	}
	if int(i.Type) >= len(m.Types) || !equal(m.Types[i.Type], want) {
		return fmt.Errorf("it imports %s with another type than %v", full, want)
	}
	return nil
}

func hostSignature(module, name string) (binary.FuncType, bool) {
	switch module {
	case abiModule:
		s, ok := abiFunctions[name]
		return s, ok
	case wasiModule:
		s, ok := wasiFunctions[name]
		return s, ok
	}
	return binary.FuncType{}, false
}

var abiFunctions = map[string]binary.FuncType{
	"input_len":     signature("", "i"),
	"input_read":    signature("iii", "i"),
	"output_write":  signature("ii", ""),
	"log":           signature("iii", ""),
	"call":          signature("iiii", "I"),
	"response_read": signature("iii", "i"),
}

// wasiFunctions is all of WASI preview 1. A language's runtime imports most of it
// whether it is used or not, so all can be linked; what wasi.go has no function
// for answers that there is no such file.
var wasiFunctions = map[string]binary.FuncType{
	"args_get":                signature("ii", "i"),
	"args_sizes_get":          signature("ii", "i"),
	"clock_res_get":           signature("ii", "i"),
	"clock_time_get":          signature("iIi", "i"),
	"environ_get":             signature("ii", "i"),
	"environ_sizes_get":       signature("ii", "i"),
	"fd_advise":               signature("iIIi", "i"),
	"fd_allocate":             signature("iII", "i"),
	"fd_close":                signature("i", "i"),
	"fd_datasync":             signature("i", "i"),
	"fd_fdstat_get":           signature("ii", "i"),
	"fd_fdstat_set_flags":     signature("ii", "i"),
	"fd_fdstat_set_rights":    signature("iII", "i"),
	"fd_filestat_get":         signature("ii", "i"),
	"fd_filestat_set_size":    signature("iI", "i"),
	"fd_filestat_set_times":   signature("iIIi", "i"),
	"fd_pread":                signature("iiiIi", "i"),
	"fd_prestat_dir_name":     signature("iii", "i"),
	"fd_prestat_get":          signature("ii", "i"),
	"fd_pwrite":               signature("iiiIi", "i"),
	"fd_read":                 signature("iiii", "i"),
	"fd_readdir":              signature("iiiIi", "i"),
	"fd_renumber":             signature("ii", "i"),
	"fd_seek":                 signature("iIii", "i"),
	"fd_sync":                 signature("i", "i"),
	"fd_tell":                 signature("ii", "i"),
	"fd_write":                signature("iiii", "i"),
	"path_create_directory":   signature("iii", "i"),
	"path_filestat_get":       signature("iiiii", "i"),
	"path_filestat_set_times": signature("iiiiIIi", "i"),
	"path_link":               signature("iiiiiii", "i"),
	"path_open":               signature("iiiiiIIii", "i"),
	"path_readlink":           signature("iiiiii", "i"),
	"path_remove_directory":   signature("iii", "i"),
	"path_rename":             signature("iiiiii", "i"),
	"path_symlink":            signature("iiiii", "i"),
	"path_unlink_file":        signature("iii", "i"),
	"poll_oneoff":             signature("iiii", "i"),
	"proc_exit":               signature("i", ""),
	"proc_raise":              signature("i", "i"),
	"random_get":              signature("ii", "i"),
	"sched_yield":             signature("", "i"),
	"sock_accept":             signature("iii", "i"),
	"sock_recv":               signature("iiiiii", "i"),
	"sock_send":               signature("iiiii", "i"),
	"sock_shutdown":           signature("ii", "i"),
}
