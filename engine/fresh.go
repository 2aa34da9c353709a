package engine

import (
	"crypto/rand"
	"encoding/hex"
)

// nonce is unguessable and unique.
func nonce() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
