package detector

import (
	"slices"
	"testing"
)

func TestEnviron(t *testing.T) {
	got := Environ([]string{"PATH=/bin", "GORACE=halt_on_error=1", "KEY=secret"})
	var want []string
	if On {
		want = []string{"GORACE=halt_on_error=1"}
	}
	if !slices.Equal(got, want) {
		t.Errorf("Environ = %q; want %q", got, want)
	}
	if got := Environ([]string{"PATH=/bin"}); got != nil {
		t.Errorf("Environ = %q without one; want none", got)
	}
}
