package wasm

import (
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/tetratelabs/wazero"
)

// FuzzLoad holds admission to its purpose: what it lets through is compiled or
// refused in bounded time, and does not break the compiler.
func FuzzLoad(f *testing.F) {
	f.Add(says(scored(nil)).build())
	f.Add(asm{table: true, global: true, locals: code(1, 3, 0x7e), extra: [][]byte{fib(4)},
		score: code(forever(i32(1), opMemoryGrow, 0, opDrop, i32(0), 0xd0, 0x70, 0x26, 0), i32(0))}.build())
	m, err := newMachine(f.Context(), wazero.NewRuntimeConfigCompiler())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		began := time.Now()
		p, err := m.load(t.Context(), b, limitsOf(eval.Grants{}))
		if took := time.Since(began); took > time.Minute {
			t.Errorf("loading took %v", took)
		}
		if err != nil {
			return
		}
		if err := p.compiled.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
