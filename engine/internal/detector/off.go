//go:build !race

package detector

const (
	// On says that the program was built with the race detector.
	On = false
	// Slower is how many times longer a thing may take, for deadlines of tests.
	Slower = 1
	// Larger is how many times more address space memory takes: the detector
	// keeps shadows of it.
	Larger = 1
)
