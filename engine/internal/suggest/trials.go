package suggest

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/evalengine/evalengine/engine/internal/usage"
)

// trials are what trials called, those that called the same being one. They are
// indexed by the names of usage that are asked for, so that a pattern is held
// against those trials alone that have all its calls.
type trials struct {
	list  [][]int32 // indices of calls
	calls []made
	index map[made]int32
	seen  map[string]bool
	names map[usage.Name]*hits
}

// hits are which calls a name of usage stands for, and a bit for each trial that has
// one.
type hits struct {
	calls  []bool
	trials []uint64
}

func (t *trials) add(list []made) error {
	if t.index == nil {
		t.index, t.seen = map[made]int32{}, map[string]bool{}
	}
	calls := make([]int32, 0, len(list))
	key := make([]byte, 0, 4*len(list))
	for _, m := range list {
		i, ok := t.index[m]
		if !ok {
			i = int32(len(t.calls))
			t.index[m] = i
			t.calls = append(t.calls, m)
		}
		calls = append(calls, i)
		key = binary.LittleEndian.AppendUint32(key, uint32(i))
	}
	if len(calls) == 0 || t.seen[string(key)] {
		return nil
	}
	if len(t.list) == maxTrials {
		return fmt.Errorf("more than %d trials that differ in what they called: name fewer runs", maxTrials)
	}
	t.seen[string(key)] = true
	t.list = append(t.list, calls)
	t.names = nil
	return nil
}

// hits are those of a name.
func (t *trials) hits(n usage.Name) *hits {
	if h := t.names[n]; h != nil {
		return h
	}
	h := &hits{make([]bool, len(t.calls)), make([]uint64, (len(t.list)+63)/64)}
	for i, m := range t.calls {
		h.calls[i] = (covers(n.Tool, m.server+"/"+m.tool) || n.Tool == m.tool) && (n.Action == "" || n.Action == m.action)
	}
	for i, list := range t.list {
		for _, c := range list {
			if h.calls[c] {
				h.trials[i/64] |= 1 << (i % 64)
				break
			}
		}
	}
	if t.names == nil {
		t.names = map[usage.Name]*hits{}
	}
	t.names[n] = h
	return h
}

// have reports whether a trial made the calls with at most gap others between two.
func (t *trials) have(calls []usage.Name, gap int) bool {
	if len(calls) == 0 || len(t.list) == 0 {
		return false
	}
	all := make([]*hits, len(calls))
	for i, c := range calls {
		all[i] = t.hits(c)
	}
	for w := range all[0].trials {
		word := all[0].trials[w]
		for _, h := range all[1:] {
			word &= h.trials[w]
		}
		for ; word != 0; word &= word - 1 {
			if follows(t.list[w*64+bits.TrailingZeros64(word)], all, gap) {
				return true
			}
		}
	}
	return false
}

// follows reports whether a trial made the calls with at most gap others between
// two.
func follows(trial []int32, calls []*hits, gap int) bool {
	// reach is how many of the calls end at each place, a bit for each number: a
	// pattern has at most maxLength.
	reach := make([]uint32, len(trial))
	for i, c := range trial {
		var before uint32
		for k := max(0, i-gap-1); k < i; k++ {
			before |= reach[k]
		}
		for n, h := range calls {
			if h.calls[c] && (n == 0 || before&(1<<(n-1)) != 0) {
				reach[i] |= 1 << n
			}
		}
		if reach[i]&(1<<(len(calls)-1)) != 0 {
			return true
		}
	}
	return false
}
