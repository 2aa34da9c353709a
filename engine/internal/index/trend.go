package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// Point is one score of one story x variant x host in one run.
type Point struct {
	Run       string         `json:"run"`
	StartedAt time.Time      `json:"started_at"`
	Story     string         `json:"story"`
	Variant   string         `json:"variant,omitempty"`
	Host      string         `json:"host"`
	Score     string         `json:"score"`
	Role      eval.Role      `json:"role"`
	Dimension eval.Dimension `json:"dimension"`
	N         int            `json:"n"`
	// Mean is absent for n = 0, Stdev for n < 2. Values are those of a summary: what
	// was measured for a measure, 0..1 for the others.
	Mean  *float64 `json:"mean,omitempty"`
	Stdev *float64 `json:"stdev,omitempty"`
	// Errored and Skipped enter nothing else.
	Errored int `json:"errored,omitempty"`
	Skipped int `json:"skipped,omitempty"`
	// MadeFrom is of the first trial's score; Mixed says that others were made of
	// something else.
	MadeFrom map[string]string `json:"made_from,omitempty"`
	Mixed    bool              `json:"mixed,omitempty"`
}

// Trend returns the scores of the runs that fit, run by run in the order of their
// starts and within each in the order of the records. Trials that were errored or
// skipped count as errored for each score that they have. Runs that cannot be read
// are left out; [Index.Runs] names them.
func (ix *Index) Trend(ctx context.Context, f Filter) ([]Point, error) {
	runs, err := ix.Runs(ctx, f)
	if err != nil {
		return nil, err
	}
	var out []Point
	for _, r := range runs {
		run, err := ix.store.Run(r.ID)
		if errors.Is(err, ledger.ErrNoRun) || errors.Is(err, ledger.ErrUnsound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		points, err := ix.points(ctx, run)
		if err != nil {
			return nil, err
		}
		out = append(out, points...)
	}
	return out, nil
}

// points are one run's, kept from the last time where nothing changed since.
func (ix *Index) points(ctx context.Context, run *ledger.Run) ([]Point, error) {
	ix.mu.Lock()
	turn, kept, ok := ix.keptTrend(ctx, run)
	ix.mu.Unlock()
	if ok {
		return kept, nil
	}
	t := trend{run: run, at: map[pointKey]*series{}}
	for rec, err := range ix.Records(ctx, run) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			t.add(rec)
		}
	}
	points := t.points()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.keepTrend(ctx, run, turn, points)
	return points, nil
}

func (ix *Index) keptTrend(ctx context.Context, run *ledger.Run) (turn int64, points []Point, ok bool) {
	if !ix.sync(ctx, run) {
		return 0, nil, false
	}
	var of sql.NullInt64
	var b []byte
	err := ix.db.QueryRowContext(ctx, "SELECT turn, trend_turn, trend FROM runs WHERE id = ?", run.Info.ID).Scan(&turn, &of, &b)
	if err != nil || !of.Valid || of.Int64 != turn {
		return turn, nil, false
	}
	return turn, points, json.Unmarshal(b, &points) == nil
}

// keepTrend keeps points that were computed at a turn; of another turn they are not
// taken. That they are not kept costs time alone.
func (ix *Index) keepTrend(ctx context.Context, run *ledger.Run, turn int64, points []Point) {
	b, err := json.Marshal(points)
	if ix.db == nil || err != nil {
		return
	}
	err = ix.locked(func() error {
		_, err := ix.db.ExecContext(ctx, "UPDATE runs SET trend = ?, trend_turn = ? WHERE id = ?", b, turn, run.Info.ID)
		return err
	})
	if err != nil && ctx.Err() == nil {
		ix.failed(err)
	}
}

type pointKey struct {
	arm   eval.Trial
	score string
}

// series is a mean and a variance that grow value by value (Welford's method).
type series struct {
	point    Point
	mean, m2 float64
}

func (s *series) push(v float64) {
	s.point.N++
	d := v - s.mean
	s.mean += d / float64(s.point.N)
	s.m2 += d * (v - s.mean)
}

type trend struct {
	run   *ledger.Run
	at    map[pointKey]*series
	order []*series
}

func (t *trend) add(rec *eval.Record) {
	evidence := rec.Status == eval.StatusPassed || rec.Status == eval.StatusFailed
	for _, sc := range rec.Scores {
		s := t.series(rec, &sc)
		switch {
		case !evidence:
			s.point.Errored++
		case sc.State == eval.Scored && sc.Value != nil:
			v := *sc.Value
			if sc.Role == eval.RoleMeasure && sc.Raw != nil {
				v = *sc.Raw
			}
			s.push(v)
		case sc.State == eval.ScoreSkipped:
			s.point.Skipped++
		default:
			s.point.Errored++
		}
	}
}

func (t *trend) series(rec *eval.Record, sc *eval.Score) *series {
	key := pointKey{rec.Trial.Arm(), sc.Name}
	made := rec.MadeFrom(sc.Name)
	if s := t.at[key]; s != nil {
		s.point.Mixed = s.point.Mixed || !maps.Equal(s.point.MadeFrom, made)
		return s
	}
	s := &series{point: Point{
		Run: t.run.Info.ID, StartedAt: t.run.Info.StartedAt, Story: rec.Story, Variant: rec.Variant, Host: rec.Host,
		Score: sc.Name, Role: sc.Role, Dimension: sc.Dimension, MadeFrom: made,
	}}
	t.at[key] = s
	t.order = append(t.order, s)
	return s
}

func (t *trend) points() []Point {
	var out []Point
	for _, s := range t.order {
		if s.point.N > 0 {
			s.point.Mean = new(s.mean)
		}
		if s.point.N > 1 {
			s.point.Stdev = new(math.Sqrt(s.m2 / float64(s.point.N-1)))
		}
		out = append(out, s.point)
	}
	return out
}
