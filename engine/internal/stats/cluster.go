package stats

import "math"

// Clustered is a mean over values of groups that are alike within, with standard
// errors: Naive takes every value for independent of all others, which understates;
// the others take a group for one piece of evidence, as far as it is alike.
type Clustered struct {
	Mean  float64
	Naive float64
	// Miller is equation 4 of Miller, "Adding Error Bars to Evals" (2024).
	Miller float64
	// CR0 is the cluster-robust error of Liang and Zeger (1986), CR1 the same times
	// √(G/(G-1)), which makes up for few groups.
	CR0 float64
	CR1 float64
}

// ClusteredErr returns the mean over all values of the groups and its standard errors.
// Empty groups do not count. Not ok for fewer than two groups.
//
// Where each group is to weigh the same, the error is [StdErr] of the groups' means:
// CR1 with weights that add up to the same in each group. For groups of one size both
// are the same number.
func ClusteredErr(groups [][]float64) (c Clustered, ok bool) {
	var all []float64
	g := 0.0
	for _, x := range groups {
		all = append(all, x...)
		if len(x) > 0 {
			g++
		}
	}
	if g < 2 {
		return Clustered{}, false
	}
	n := float64(len(all))
	c.Mean, _ = Mean(all)
	c.Naive, _ = StdErr(all)
	var squares, own float64
	for _, x := range groups {
		residual := 0.0
		for _, v := range x {
			residual += v - c.Mean
			own += (v - c.Mean) * (v - c.Mean)
		}
		squares += residual * residual
	}
	c.CR0 = math.Sqrt(squares) / n
	c.CR1 = c.CR0 * math.Sqrt(g/(g-1))
	c.Miller = math.Sqrt(c.Naive*c.Naive + (squares-own)/(n*n))
	return c, true
}
