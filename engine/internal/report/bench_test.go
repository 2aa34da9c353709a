package report

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/summary"
)

// benchRecord is a trial with twenty scores; a hundred of them are repeats of one arm.
func benchRecord(i int) *eval.Record {
	tr := eval.Trial{Story: fmt.Sprintf("story-%d", i/100), Host: "claude", Repeat: i%100 + 1}
	r := &eval.Record{ID: tr.ID(), Trial: tr, Status: eval.StatusPassed, Versions: map[string]string{"engine": "1"}}
	for j := range 20 {
		role, dim := eval.RoleJudge, eval.DimensionQuality
		var passed *bool
		v := float64((i*7+j*13)%100) / 100
		if j < 8 {
			role, dim, passed, v = eval.RoleAssert, eval.DimensionOutcome, new(true), 1
		}
		r.Scores = append(r.Scores, eval.Score{Name: fmt.Sprintf("score/%d", j), Role: role, Dimension: dim, State: eval.Scored, Value: &v, Passed: passed, Reason: "it is as asked"})
	}
	return r
}

// BenchmarkReport folds 10,000 trials of 20 scores in one pass and writes the report.
func BenchmarkReport(b *testing.B) {
	const trials = 10000
	for _, f := range []Format{FormatHTML, FormatMarkdown, FormatJUnit, FormatCSV} {
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				info := &eval.Run{ID: "r", Suite: "s", StartedAt: start}
				for i := range trials {
					info.Trials = append(info.Trials, benchRecord(i).Trial)
				}
				d := NewDocument(info)
				var fold summary.Fold
				for i := range trials {
					r := benchRecord(i)
					fold.Add(r)
					d.Add(r)
				}
				d.Summary = fold.Summary(info, start, false)
				var n counter
				if err := Write(&n, f, d); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(n), "bytes/report")
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapInuse)/(1<<20), "heap-MiB")
				runtime.KeepAlive(d)
			}
		})
	}
}

type counter int

var _ io.Writer = (*counter)(nil)

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// TestSizeOfFiveHundredTrials holds the HTML of a run of usual size under 2 MB.
func TestSizeOfFiveHundredTrials(t *testing.T) {
	var plan []eval.Trial
	var records []*eval.Record
	for i := range 500 {
		r := benchRecord(i)
		r.Trial = eval.Trial{Story: fmt.Sprintf("story-%d", i/3), Host: "claude", Repeat: i%3 + 1}
		plan, records = append(plan, r.Trial), append(records, r)
	}
	if n := len(write(t, FormatHTML, document(t, plan, records...))); n > 2<<20 {
		t.Errorf("the HTML report of 500 trials has %d bytes", n)
	}
}
