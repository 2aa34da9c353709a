//go:build race

package detector

// See off.go.
const (
	On     = true
	Slower = 10
	Larger = 8
)
