// Package text writes numbers and counted nouns for the reasons of scores,
// without fmt's reflection.
package text

import (
	"math"
	"strconv"
)

// Count returns n with its noun: "1 call", "2 calls", "12,345 tokens".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Int(n) + " " + noun + "s"
}

// Called returns "never called", "called once" or "called 5 times".
func Called(n int) string {
	switch n {
	case 0:
		return "never called"
	case 1:
		return "called once"
	}
	return "called " + Int(n) + " times"
}

// Int returns n with commas between thousands.
func Int(n int) string {
	s := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Number returns f as short as it is exact to three decimals.
func Number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return Int(int(f))
	}
	return strconv.FormatFloat(math.Round(f*1000)/1000, 'f', -1, 64)
}

// Size returns a number of bytes for a person: "812 B", "51 KiB", "3.2 MiB".
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1<<20:
		return strconv.FormatInt((n+1<<9)>>10, 10) + " KiB"
	}
	return strconv.FormatFloat(math.Round(float64(n)/(1<<20)*10)/10, 'f', -1, 64) + " MiB"
}
