package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// laneOf reads a lane from a story's name: host/provider/target.
func laneOf(t eval.Trial) Lane {
	f := strings.Split(t.Story, "/")
	return Lane{Host: f[0], Provider: f[1], Target: f[2]}
}

// mixed has n trials of each story, repeat after repeat.
func mixed(n int, stories ...string) []eval.Trial {
	var out []eval.Trial
	for r := 1; r <= n; r++ {
		for _, s := range stories {
			out = append(out, eval.Trial{Story: s, Host: strings.Split(s, "/")[0], Repeat: r})
		}
	}
	return out
}

// scene is a run whose trials take a minute each by a clock of its own, and what
// was seen of it.
type scene struct {
	Local
	began time.Time
	// log has "MINUTE HOST REPEAT" for each start.
	log []string
}

func play(t *testing.T, s *scene, all []eval.Trial, body func(eval.Trial) (*eval.Record, error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.began = time.Now()
		started := make(chan string, len(all)*4)
		s.Lane = laneOf
		s.Run = func(_ context.Context, tr eval.Trial) (*eval.Record, error) {
			started <- fmt.Sprintf("%g %s %d", time.Since(s.began).Minutes(), tr.Host, tr.Repeat)
			return body(tr)
		}
		if s.Done == nil {
			s.Done = func(eval.Trial, *eval.Record, error) error { return nil }
		}
		if err := s.Execute(t.Context(), all); err != nil {
			t.Error(err)
		}
		close(started)
		for line := range started {
			s.log = append(s.log, line)
		}
	})
	slices.SortStableFunc(s.log, func(a, b string) int { return strings.Compare(a, b) })
}

func minute(tr eval.Trial) (*eval.Record, error) {
	time.Sleep(time.Minute)
	return &eval.Record{Trial: tr, Status: eval.StatusPassed}, nil
}

func cost(usd float64) func(eval.Trial) (*eval.Record, error) {
	return func(tr eval.Trial) (*eval.Record, error) {
		rec, err := minute(tr)
		rec.Attempts = []eval.Attempt{{N: 1, Usage: eval.Usage{CostUSD: &usd}}}
		return rec, err
	}
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		jobs   int
		limits Limits
		trials []eval.Trial
		body   func(eval.Trial) (*eval.Record, error)
		want   []string
		stop   eval.Stop
		reason string
	}{
		{
			name: "a host that may run one at a time does not hold back another", jobs: 3,
			limits: Limits{Hosts: map[string]PartLimits{"a": {Concurrency: 1}}},
			trials: mixed(3, "a//", "b//"), body: minute,
			want: []string{"0 a 1", "0 b 1", "0 b 2", "1 a 2", "1 b 3", "2 a 3"},
		},
		{
			name: "hosts of one provider share its concurrency", jobs: 4,
			limits: Limits{Providers: map[string]PartLimits{"p": {Concurrency: 1}}},
			trials: mixed(1, "a/p/", "b/p/", "c//"), body: minute,
			want: []string{"0 a 1", "0 c 1", "1 b 1"},
		},
		{
			name: "requests of a minute hold back what comes next", jobs: 4,
			limits: Limits{Providers: map[string]PartLimits{"p": {RequestsPerMinute: 2}}},
			trials: mixed(5, "a/p/"), body: minute,
			want: []string{"0 a 1", "0 a 2", "1 a 3", "1 a 4", "2 a 5"},
		},
		{
			name: "as many trials as allowed", jobs: 2, limits: Limits{MaxTrials: 3},
			trials: mixed(5, "a//"), body: minute,
			want: []string{"0 a 1", "0 a 2", "1 a 3"},
			stop: eval.StopTrials, reason: "3 trials were started, as many as max_trials allows",
		},
		{
			name: "a limit that is the plan stops nothing", jobs: 2, limits: Limits{MaxTrials: 2},
			trials: mixed(2, "a//"), body: minute,
			want: []string{"0 a 1", "0 a 2"},
		},
		{
			// The first alone shows what one costs; then $10 hold three of $3.
			name: "the budget is not passed", jobs: 4, limits: Limits{BudgetUSD: 10},
			trials: mixed(9, "a//"), body: cost(3),
			want: []string{"0 a 1", "1 a 2", "1 a 3"},
			stop: eval.StopBudget, reason: "$9.00 of the budget of $10.00 are spent, and one more trial could cost $3.00",
		},
		{
			name: "a budget may be spent whole", jobs: 4, limits: Limits{BudgetUSD: 0.3},
			trials: mixed(4, "a//"), body: cost(0.1),
			want: []string{"0 a 1", "1 a 2", "1 a 3"},
			stop: eval.StopBudget, reason: "$0.30 of the budget of $0.30 are spent, and one more trial could cost $0.10",
		},
		{
			name: "a cap says what the first trials can cost", jobs: 4, limits: Limits{BudgetUSD: 10, CapUSD: 4},
			trials: mixed(3, "a//"), body: cost(1),
			want: []string{"0 a 1", "0 a 2", "1 a 3"},
		},
		{
			name: "a cap above the budget starts nothing", jobs: 4, limits: Limits{BudgetUSD: 1, CapUSD: 4},
			trials: mixed(3, "a//"), body: cost(1),
			stop: eval.StopBudget, reason: "one more trial could pass the budget of $1.00, of which $0.00 are spent",
		},
		{
			name: "what an earlier call spent counts", jobs: 4, limits: Limits{BudgetUSD: 10, SpentUSD: 9, MostUSD: 2},
			trials: mixed(3, "a//"), body: cost(1),
			stop: eval.StopBudget, reason: "$9.00 of the budget of $10.00 are spent, and one more trial could cost $2.00",
		},
		{
			name: "without prices a budget holds nothing back but the first", jobs: 4, limits: Limits{BudgetUSD: 10},
			trials: mixed(4, "a//"), body: minute,
			want: []string{"0 a 1", "1 a 2", "1 a 3", "1 a 4"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &scene{Local: Local{Concurrency: tt.jobs, Limits: tt.limits}}
			play(t, s, tt.trials, tt.body)
			if !slices.Equal(s.log, tt.want) {
				t.Errorf("started %q; want %q", s.log, tt.want)
			}
			if stop, reason := s.Stopped(); stop != tt.stop || reason != tt.reason {
				t.Errorf("Stopped() = %q, %q; want %q, %q", stop, reason, tt.stop, tt.reason)
			}
		})
	}
}

// What one trial is told by its provider, all wait for that have not started,
// and no trial of another provider does.
func TestRetryAfterIsShared(t *testing.T) {
	s := &scene{Local: Local{Concurrency: 1}}
	play(t, s, mixed(3, "a/p/", "b/q/"), func(tr eval.Trial) (*eval.Record, error) {
		if tr.Host == "a" && tr.Repeat == 1 {
			s.Answered(tr, 429, 10*time.Minute) // bounded to 5
			s.Answered(tr, 200, time.Hour)
		}
		return minute(tr)
	})
	want := []string{"0 a 1", "1 b 1", "2 b 2", "3 b 3", "5 a 2", "6 a 3"}
	if !slices.Equal(s.log, want) {
		t.Errorf("started %q; want %q", s.log, want)
	}
}

// A trial that waits for another attempt leaves its place to other hosts, not to
// its own.
func TestRetryLeavesItsPlace(t *testing.T) {
	s := &scene{Local: Local{Concurrency: 1}}
	again := map[string]float64{}
	play(t, s, mixed(2, "a//", "b//"), func(tr eval.Trial) (*eval.Record, error) {
		if tr.Host == "a" && tr.Repeat == 1 {
			if !s.Retry(context.Background(), tr, 90*time.Second) {
				t.Error("Retry = false")
			}
			again["a"] = time.Since(s.began).Minutes()
		}
		return minute(tr)
	})
	// b runs from 0 to 1; the place is free at 2, when a's wait is over.
	want := []string{"0 a 1", "0 b 1", "1 b 2", "3 a 2"}
	if !slices.Equal(s.log, want) || again["a"] != 2 {
		t.Errorf("started %q, a again at %v; want %q and 2", s.log, again["a"], want)
	}
}

func TestRetryEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := &Local{Concurrency: 1, Done: func(eval.Trial, *eval.Record, error) error { return nil }}
		l.Run = func(ctx context.Context, tr eval.Trial) (*eval.Record, error) {
			time.AfterFunc(time.Second, cancel)
			if l.Retry(ctx, tr, time.Hour) {
				t.Error("Retry = true after the run was stopped")
			}
			return nil, ctx.Err()
		}
		began := time.Now()
		if err := l.Execute(ctx, trials(5)); err != nil || time.Since(began) != time.Second {
			t.Errorf("Execute = %v after %v", err, time.Since(began))
		}
	})
}

func rateLimit() *eval.Fault {
	return &eval.Fault{Cause: eval.CauseRateLimit, Retry: eval.RetryTrial, Detail: "429"}
}

func TestCircuit(t *testing.T) {
	fault := func(cause string) *eval.Fault { return &eval.Fault{Cause: cause, Retry: eval.RetryTrial, Detail: "x"} }
	for _, tt := range []struct {
		name string
		// faults of the first trials in turn; nil is a success.
		faults []*eval.Fault
		lane   string
		want   string
	}{
		{"of a provider", []*eval.Fault{rateLimit(), rateLimit(), rateLimit()}, "a/p/t", "provider p had 3 infrastructure faults in a row, the last of them rate_limit: 429"},
		{"of a host", []*eval.Fault{fault("host"), fault("stream"), fault("plugin")}, "a//", "host a had 3 infrastructure faults in a row, the last of them plugin: x"},
		{"of a host beside its provider", []*eval.Fault{fault("host"), fault("stream"), fault("host")}, "a/p/", "host a had 3 infrastructure faults in a row, the last of them host: x"},
		{"of a target", []*eval.Fault{fault("provision"), fault("not_ready"), fault("mcp")}, "a/p/t", "target t had 3 infrastructure faults in a row, the last of them mcp: x"},
		{"a success closes it", []*eval.Fault{rateLimit(), rateLimit(), nil, rateLimit(), rateLimit()}, "a/p/", ""},
		{"a scorer's fault is nobody's", []*eval.Fault{fault("scorer"), fault("scorer"), fault("scorer"), fault("scorer")}, "a/p/t", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, skipped := 0, 0
			s := &scene{Local: Local{Concurrency: 1, Limits: Limits{Circuit: 3}}}
			play(t, s, mixed(10, tt.lane), func(tr eval.Trial) (*eval.Record, error) {
				if f := s.Open(tr); f != nil {
					skipped++
					return &eval.Record{Trial: tr, Status: eval.StatusSkipped, Cause: f.Cause}, nil
				}
				began := time.Now()
				rec, err := minute(tr)
				var f *eval.Fault
				if n < len(tt.faults) {
					f = tt.faults[n]
				}
				n++
				s.Attempted(tr, began, f)
				return rec, err
			})
			stop, reason := s.Stopped()
			if tt.want == "" {
				if stop != "" || skipped != 0 {
					t.Errorf("Stopped() = %q, %q with %d skipped; want none", stop, reason, skipped)
				}
				return
			}
			if stop != eval.StopCircuit || reason != "the circuit is open: "+tt.want || skipped != 7 {
				t.Errorf("Stopped() = %q, %q with %d skipped; want %q and 7", stop, reason, skipped, tt.want)
			}
		})
	}
}

// Trials that meet one trouble together are one fault; a provider that fails for
// good is known after a few rounds, and what is left takes no time.
func TestFlood(t *testing.T) {
	skipped, errored := 0, 0
	s := &scene{Local: Local{Concurrency: 20, Limits: Limits{Circuit: 5}}}
	s.Done = func(_ eval.Trial, rec *eval.Record, _ error) error {
		if rec.Status == eval.StatusSkipped {
			skipped++
		} else {
			errored++
		}
		return nil
	}
	play(t, s, mixed(2000, "a/p/"), func(tr eval.Trial) (*eval.Record, error) {
		if s.Open(tr) != nil {
			return &eval.Record{Trial: tr, Status: eval.StatusSkipped}, nil
		}
		for n := 1; ; n++ {
			began := time.Now()
			time.Sleep(time.Second)
			s.Attempted(tr, began, rateLimit())
			if n == 3 || !s.Retry(context.Background(), tr, time.Second) {
				return &eval.Record{Trial: tr, Status: eval.StatusErrored}, nil
			}
		}
	})
	if errored != 40 || skipped != 1960 {
		t.Errorf("%d errored and %d skipped; want 40 and 1960", errored, skipped)
	}
	if stop, _ := s.Stopped(); stop != eval.StopCircuit {
		t.Errorf("stopped by %q", stop)
	}
}

// A host that is known to be unusable is not waited for.
func TestRefusedIsNotHeld(t *testing.T) {
	s := &scene{Local: Local{Concurrency: 1, Limits: Limits{Providers: map[string]PartLimits{"p": {RequestsPerMinute: 1}}}}}
	play(t, s, mixed(3, "a/p/"), func(tr eval.Trial) (*eval.Record, error) {
		s.Refused("host a")
		return &eval.Record{Trial: tr, Status: eval.StatusSkipped}, nil
	})
	if want := []string{"0 a 1", "0 a 2", "0 a 3"}; !slices.Equal(s.log, want) {
		t.Errorf("started %q; want %q", s.log, want)
	}
}
