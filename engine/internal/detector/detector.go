// Package detector knows whether the program was built with Go's race detector,
// which takes memory and time of its own and is told by a variable what to do
// with a race. In a normal build it grants nothing and passes nothing on.
package detector

import "strings"

// Variables are those that every process is to see, so that a race in it is known
// to whoever started the first: none in a normal build.
func Variables() []string {
	if On {
		return []string{"GORACE"}
	}
	return nil
}

// Environ is the part of an environment that has the Variables.
func Environ(environ []string) []string {
	var part []string
	for _, name := range Variables() {
		for _, kv := range environ {
			if strings.HasPrefix(kv, name+"=") {
				part = append(part, kv)
			}
		}
	}
	return part
}
