package model

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync/atomic"
)

// partLen is the length of what is unique in an id.
const partLen = 20

// ids makes ids that look like the vendors' and never come twice: hosts take a
// tool call id that they have seen before, in this process or in a resumed
// session, for the old call.
type ids struct {
	seed [16]byte
	n    atomic.Uint64
}

// next is a new unique part. All ids of one response share it.
func (g *ids) next() string {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(g.seed[:], g.n.Add(1)))
	part := make([]byte, partLen)
	for i := range part {
		part[i] = letters[int(sum[i])%len(letters)]
	}
	return string(part)
}

// responseID names the parts of one response.
type responseID string

func (id responseID) numbered(prefix string, i int) string {
	return fmt.Sprintf("%s%s%02d", prefix, id, i)
}

// sameResponse reports whether two call ids were made for one response.
func sameResponse(a, b string) bool {
	return responseOf(a) != "" && responseOf(a) == responseOf(b)
}

// responseOf is the unique part of a call id of this server, else "".
func responseOf(id string) string {
	for _, prefix := range []string{anthropicCallPrefix, openAICallPrefix} {
		if len(id) == len(prefix)+partLen+2 && id[:len(prefix)] == prefix {
			return id[len(prefix) : len(prefix)+partLen]
		}
	}
	return ""
}
