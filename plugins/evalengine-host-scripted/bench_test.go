//go:build linux

package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// BenchmarkPlugin is a session without a call, over the wire: what a large suite
// of the scripted host pays for each trial, in both processes.
func BenchmarkPlugin(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	p, err := rpc.Start(b.Context(), rpc.Command{
		Kind: rpc.KindHost, Name: "scripted", Path: self, Env: []string{"SCRIPTED_PLUGIN=1"},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	spec := eval.SessionSpec{
		Trial:  eval.Trial{Story: "s"},
		Config: config(b, map[string]string{"s": `{"turns":[{"steps":[{"say":"x"}]}]}`, "t": twoTurns, "u": twoTurns}),
	}
	ours, theirs := ticks(b, os.Getpid()), ticks(b, p.Pid())
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			s, err := p.Host().Start(b.Context(), spec)
			if err != nil {
				b.Error(err)
				return
			}
			if _, err := s.Turn(b.Context(), "prompt", func(eval.Event) {}); err != nil {
				b.Error(err)
			}
			s.Close()
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(10*(ticks(b, os.Getpid())-ours))/float64(b.N), "engine-cpu-ms/op")
	b.ReportMetric(float64(10*(ticks(b, p.Pid())-theirs))/float64(b.N), "plugin-cpu-ms/op")
}

// ticks is the CPU time of a process in the kernel's ticks of 10 ms.
func ticks(tb testing.TB, pid int) int {
	tb.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		tb.Fatal(err)
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	utime, _ := strconv.Atoi(f[11])
	stime, _ := strconv.Atoi(f[12])
	return utime + stime
}
