package stats

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestMeanStdevTInterval(t *testing.T) {
	x := []float64{0.8, 0.9, 0.7, 1.0, 0.6}
	mean, _ := Mean(x)
	sd, _ := Stdev(x)
	lo, hi, _ := TInterval(x, 0.95)
	if !near(mean, 0.8) || !near(sd, 0.15811388300841897) || !near(lo, 0.6036756838522446) || !near(hi, 0.9963243161477555) {
		t.Errorf("got %v %v [%v %v]", mean, sd, lo, hi)
	}
}

func TestAbsent(t *testing.T) {
	if _, ok := Mean(nil); ok {
		t.Error("Mean(nil) is defined")
	}
	if _, ok := Stdev([]float64{1}); ok {
		t.Error("Stdev of one value is defined")
	}
	if _, _, ok := TInterval([]float64{1}, 0.95); ok {
		t.Error("TInterval of one value is defined")
	}
	if _, _, ok := Wilson(0, 0, 0.95); ok {
		t.Error("Wilson of no trials is defined")
	}
	if _, _, ok := Range(nil); ok {
		t.Error("Range(nil) is defined")
	}
}

func TestWilson(t *testing.T) {
	for _, tt := range []struct {
		k, n   int
		lo, hi float64
	}{
		{0, 5, 0, 0.43448246478317476},
		{3, 5, 0.2307242812760128, 0.882379225767352},
	} {
		lo, hi, ok := Wilson(tt.k, tt.n, 0.95)
		if !ok || !near(lo, tt.lo) || !near(hi, tt.hi) {
			t.Errorf("Wilson(%d, %d) = %v, %v, %v; want %v, %v", tt.k, tt.n, lo, hi, ok, tt.lo, tt.hi)
		}
	}
}
