package main

import "math"

// apart is how many standard errors two means differ by where they are told apart:
// the 0.975 quantile of the normal distribution.
const apart = 1.959963984540054

// mean is one with its standard error, which is known from two values on.
type mean struct {
	value float64
	se    float64
	known bool
	n     int
}

func meanOf(values []float64) mean {
	m := mean{n: len(values), known: len(values) > 1}
	for _, v := range values {
		m.value += v / float64(len(values))
	}
	if !m.known {
		return m
	}
	sum := 0.0
	for _, v := range values {
		sum += (v - m.value) * (v - m.value)
	}
	n := float64(len(values))
	m.se = math.Sqrt(sum / (n - 1) / n)
	return m
}

// above reports whether a lies above b by more than the error that is known.
func (a mean) above(b mean) bool {
	return a.value-b.value > apart*math.Hypot(a.se, b.se)
}

// relate is (score - floor) / (gold - floor) with its standard error by the delta
// method: the square root of the sum of each part's error times the derivative by
// it, squared. It is not ok where gold does not lie above floor.
func relate(score, gold, floor mean) (ratio, se float64, ok bool) {
	if !gold.above(floor) {
		return 0, 0, false
	}
	span := gold.value - floor.value
	ratio = (score.value - floor.value) / span
	se = math.Sqrt(square(score.se)+square(ratio*gold.se)+square((1-ratio)*floor.se)) / span
	return ratio, se, true
}

func square(x float64) float64 { return x * x }
