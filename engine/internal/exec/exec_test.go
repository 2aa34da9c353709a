package exec

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func trials(n int) []eval.Trial {
	out := make([]eval.Trial, n)
	for i := range out {
		out[i] = eval.Trial{Story: "s", Host: "h", Repeat: i + 1}
	}
	return out
}

func TestExecuteRunsEachOnce(t *testing.T) {
	var now, most atomic.Int32
	seen := map[int]int{}
	gate := make(chan struct{})
	l := &Local{
		Concurrency: 3,
		Run: func(_ context.Context, tr eval.Trial) (*eval.Record, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			if tr.Repeat == 3 {
				close(gate) // three are under way at once
			}
			<-gate
			now.Add(-1)
			return &eval.Record{Trial: tr}, nil
		},
		Done: func(tr eval.Trial, _ *eval.Record, _ error) error { seen[tr.Repeat]++; return nil },
	}
	if err := l.Execute(t.Context(), trials(20)); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 20 || most.Load() > 3 {
		t.Errorf("ran %d trials, %d at once; want 20 and at most 3", len(seen), most.Load())
	}
	for r, n := range seen {
		if n != 1 {
			t.Errorf("trial %d ran %d times", r, n)
		}
	}
}

func TestExecuteStops(t *testing.T) {
	boom := errors.New("boom")
	for _, tt := range []struct {
		name      string
		err, want error
	}{{"quietly", ErrStop, nil}, {"with an error", boom, boom}} {
		ran := 0
		l := &Local{
			Concurrency: 1,
			Run:         func(context.Context, eval.Trial) (*eval.Record, error) { ran++; return nil, nil },
			Done: func(tr eval.Trial, _ *eval.Record, _ error) error {
				if tr.Repeat == 2 {
					return tt.err
				}
				return nil
			},
		}
		if err := l.Execute(t.Context(), trials(10)); !errors.Is(err, tt.want) {
			t.Errorf("%s: Execute = %v; want %v", tt.name, err, tt.want)
		}
		if ran != 2 && ran != 3 { // a third may have been handed out already
			t.Errorf("%s: ran %d trials", tt.name, ran)
		}
	}
}

func TestExecuteCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := 0
	l := &Local{
		Concurrency: 2,
		Run: func(ctx context.Context, tr eval.Trial) (*eval.Record, error) {
			if tr.Repeat == 1 {
				cancel()
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
		Done: func(eval.Trial, *eval.Record, error) error { ended++; return nil },
	}
	if err := l.Execute(ctx, trials(50)); err != nil {
		t.Fatal(err)
	}
	if ended < 1 || ended > 2 {
		t.Errorf("%d trials ended; want those under way alone", ended)
	}
}

// BenchmarkExecute measures what the scheduler itself costs a trial.
func BenchmarkExecute(b *testing.B) {
	all := trials(10_000)
	for b.Loop() {
		l := &Local{
			Concurrency: 2,
			Run:         func(_ context.Context, tr eval.Trial) (*eval.Record, error) { return nil, nil },
			Done:        func(eval.Trial, *eval.Record, error) error { return nil },
		}
		if err := l.Execute(b.Context(), all); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/trial")
}
