// Package scorers holds the built-in scorer modules. They are WebAssembly like
// everybody else's: built from the folders of this package by package build,
// embedded here, and run by the engine with no more trust than any other.
package scorers

import (
	"embed"
	"strings"
)

//go:embed dist
var dist embed.FS

// Module returns the built-in module of that name; ok is false where there is
// none, as in a binary that was built without them. The bytes must not be changed.
func Module(name string) (module []byte, ok bool) {
	b, err := dist.ReadFile("dist/" + name + ".wasm")
	return b, err == nil
}

// Names returns the names of the built-in modules, sorted.
func Names() []string {
	entries, _ := dist.ReadDir("dist")
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".wasm"); ok {
			names = append(names, name)
		}
	}
	return names
}
