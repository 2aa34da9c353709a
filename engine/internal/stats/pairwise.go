package stats

// Preference is which of two results a judge prefers.
type Preference int

// Preferences. The zero Preference is a tie.
const (
	Tie Preference = iota
	PreferA
	PreferB
)

// Pairwise is what a judge's preferences come to when every pair is shown in both
// orders.
type Pairwise struct {
	Resolved      []Preference
	A, B, Ties    int
	firsts, picks int
	same          int
}

// ResolvePairs takes each pair's preference with A shown first and with B shown first.
// A preference that does not outlast the change of order is a tie (Zheng and others,
// 2023).
func ResolvePairs(verdicts [][2]Preference) Pairwise {
	p := Pairwise{Resolved: make([]Preference, len(verdicts))}
	for i, v := range verdicts {
		if v[0] == v[1] {
			p.same++
			p.Resolved[i] = v[0]
		}
		switch p.Resolved[i] {
		case PreferA:
			p.A++
		case PreferB:
			p.B++
		case Tie:
			p.Ties++
		}
		for order, first := range [2]Preference{PreferA, PreferB} {
			if v[order] == Tie {
				continue
			}
			p.picks++
			if v[order] == first {
				p.firsts++
			}
		}
	}
	return p
}

// WinRateB is the share of pairs that B wins, ties as half a win; not ok without pairs.
func (p Pairwise) WinRateB() (float64, bool) {
	n := len(p.Resolved)
	if n == 0 {
		return 0, false
	}
	return (float64(p.B) + float64(p.Ties)/2) / float64(n), true
}

// Consistency is the share of pairs with the same answer in both orders; not ok
// without pairs.
func (p Pairwise) Consistency() (float64, bool) { return share(p.same, len(p.Resolved)) }

// FirstRate is how often what is shown first is preferred, of all answers that prefer
// one; far from a half it is a bias of position. Not ok for ties alone.
func (p Pairwise) FirstRate() (float64, bool) { return share(p.firsts, p.picks) }
