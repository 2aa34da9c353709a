package wasm

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// transcript returns an input of about size bytes, in calls of 4 KB.
func transcript(size int) *eval.ScoreInput {
	in := &eval.ScoreInput{
		Trial: eval.Trial{Story: "s", Host: "h", Repeat: 1}, Outcome: eval.Completed, Uses: uses("count"), Answer: "done",
	}
	const each = 4096
	result := eval.JSON(`{"content":[{"type":"text","text":"` + strings.Repeat("x", each-100) + `"}]}`)
	for n := range max(size/each, 1) {
		if size < each {
			result = eval.JSON(`{"content":[{"type":"text","text":"` + strings.Repeat("x", max(size-300, 1)) + `"}]}`)
		}
		id := fmt.Sprint("c", n)
		in.Steps = append(in.Steps,
			eval.Step{ID: fmt.Sprint("s", 2*n+1), Turn: 1, Kind: eval.StepToolCall, CallID: id, Server: "site",
				Tool: "page_create", Arguments: eval.JSON(`{"name":"home"}`), Observed: eval.Confirmed},
			eval.Step{ID: fmt.Sprint("s", 2*n+2), Turn: 1, Kind: eval.StepToolResult, CallID: id, Server: "site",
				Tool: "page_create", Result: result, Bytes: int64(len(result)), Observed: eval.Confirmed},
		)
	}
	return in
}

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
