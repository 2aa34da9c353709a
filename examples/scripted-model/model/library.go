package model

import (
	_ "embed"
	"fmt"
)

//go:embed library.json
var librarySource []byte

// Library is the script that comes with the package: a scenario for every way
// in which a model goes right or wrong that hosts are known to react to. A
// request that names none gets "one-call".
func Library() *Script {
	s, err := parse(librarySource)
	if err != nil {
		panic(fmt.Sprintf("scripted-model: library.json: %v", err))
	}
	return s
}

// LibrarySource is the library as it is written, to learn from or to start from.
func LibrarySource() []byte { return append([]byte(nil), librarySource...) }
