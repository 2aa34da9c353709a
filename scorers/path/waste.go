package main

import (
	"strconv"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/tree"
)

// failed returns the calls that ended in an error of the tool's.
func failed(hits []calls.Hit) []calls.Hit {
	var list []calls.Hit
	for _, h := range hits {
		if h.Status != eval.CallError {
			continue
		}
		if _, truncated, _ := calls.Trouble(h.Call); !truncated {
			list = append(list, h)
		}
	}
	return list
}

// repeated returns the calls that an earlier one made already.
func repeated(hits []calls.Hit) []calls.Hit {
	seen := map[string]bool{}
	var list []calls.Hit
	for _, h := range hits {
		k := key(h)
		if seen[k] {
			list = append(list, h)
		}
		seen[k] = true
	}
	return list
}

// key is the same for the same call, however its arguments are written.
func key(h calls.Hit) string {
	v, err := tree.Parse(h.Arguments)
	if err != nil || h.BadArguments {
		return h.Name() + " raw " + string(h.Arguments)
	}
	return h.Name() + " " + strconv.FormatUint(tree.Hash(v), 16)
}

func returned(hits []calls.Hit) int64 {
	var n int64
	for _, h := range hits {
		n += size(h)
	}
	return n
}

// size is how large a call's result was: as observed, or as recorded where nobody
// observed it.
func size(h calls.Hit) int64 {
	if h.Bytes > 0 {
		return h.Bytes
	}
	return int64(len(h.Result))
}
