//go:build linux

package wasm

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// cpu is the time that the process and its workers that are alive have taken.
func cpu(b *testing.B, rt *Runtime) float64 {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		b.Fatal(err)
	}
	total := float64(own.Utime.Nano() + own.Stime.Nano())
	for _, w := range rt.pure.idle {
		total += float64(processCPU(b, w.cmd.Process.Pid))
	}
	return total
}

// BenchmarkScore reports the CPU time of a call, the engine's and the worker's
// together, as cpu-ns/op.
func BenchmarkScore(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10, 5 << 20, 50 << 20} {
		b.Run(fmt.Sprint(size>>10, "KB"), func(b *testing.B) {
			rt := newRuntime(b, Options{Workers: 1})
			m := loadPlain(b, rt, eval.Grants{})
			in := transcript(size)
			score := func() {
				out, err := m.Score(b.Context(), in)
				if err != nil || out[0].State != eval.Scored {
					b.Fatal(out, err)
				}
			}
			score()
			before := cpu(b, rt)
			for b.Loop() {
				score()
			}
			b.ReportMetric((cpu(b, rt)-before)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(peak(b, rt.pure.idle[0].cmd.Process.Pid))/1e6, "worker-MB")
		})
	}
}

// BenchmarkFirstScore is all from nothing to the first score, with what was
// compiled before in the cache.
func BenchmarkFirstScore(b *testing.B) {
	module, err := plainModule()
	if err != nil {
		b.Fatal(err)
	}
	manifest := loadPlain(b, newRuntime(b, Options{}), eval.Grants{}).Manifest()
	if module, err = AddManifest(module, manifest); err != nil {
		b.Fatal(err)
	}
	in := transcript(1 << 10)
	for b.Loop() {
		rt := newRuntime(b, Options{})
		m := load(b, rt, module, eval.Grants{})
		if out, err := m.Score(b.Context(), in); err != nil || out[0].State != eval.Scored {
			b.Fatal(out, err)
		}
		if err := rt.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
