//go:build unix && !linux

package main

// listener knows nothing where there is no /proc, and does not object.
func listener([]int, int) (found, own bool) { return true, true }
