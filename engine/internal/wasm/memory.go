package wasm

import (
	"context"

	"github.com/tetratelabs/wazero/experimental"
)

// withMemory gives the next instance made with ctx its memory: guest memory of at
// most limit bytes, that begins as a copy of im where im is not nil.
func withMemory(ctx context.Context, limit int64, im *image, made **linear) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(
		func(_, most uint64) experimental.LinearMemory {
			*made = newLinear(min(most, uint64(limit)), im)
			return *made
		}))
}
