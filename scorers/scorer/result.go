package scorer

import "github.com/evalengine/evalengine/engine/eval"

// Result is what a scorer says of a trial. Make one with [Pass], [Fail], [Value],
// [Measure] or [Skip].
type Result struct {
	State ScoreState
	// Value is in 0..1.
	Value float64
	// Raw is the measured number in Unit; an empty Unit is the spec's.
	Raw  *float64
	Unit string
	// Passed is nil where the scorer does not judge pass or fail.
	Passed   *bool
	Reason   string
	Evidence []eval.Evidence
	Findings []eval.Finding
	// Samples are the single values in 0..1 of a judge that was asked more than
	// once; Value is what it made of them.
	Samples []float64
	// StdErr is the standard error of Raw, or of Value where there is no Raw; nil
	// where it is not known.
	StdErr *float64
}

// ScoreState is [eval.ScoreState].
type ScoreState = eval.ScoreState

// Pass says that what was asked for holds: value 1.
func Pass(reason string, evidence ...eval.Evidence) Result { return verdict(true, reason, evidence) }

// Fail says that what was asked for does not hold: value 0.
func Fail(reason string, evidence ...eval.Evidence) Result { return verdict(false, reason, evidence) }

func verdict(passed bool, reason string, evidence []eval.Evidence) Result {
	r := Result{State: eval.Scored, Passed: &passed, Reason: reason, Evidence: evidence}
	if passed {
		r.Value = 1
	}
	return r
}

// Value is a value in 0..1 of a measure or a judge.
func Value(v float64, reason string, evidence ...eval.Evidence) Result {
	return Result{State: eval.Scored, Value: v, Reason: reason, Evidence: evidence}
}

// Measure is a measured number with what it is worth in 0..1. An empty unit is
// the spec's.
func Measure(raw float64, unit string, v float64, reason string, evidence ...eval.Evidence) Result {
	r := Value(v, reason, evidence...)
	r.Raw, r.Unit = &raw, unit
	return r
}

// Skip says that there is nothing to score here, and why: it enters no statistic.
func Skip(reason string) Result { return Result{State: eval.ScoreSkipped, Reason: reason} }

// WithFindings returns r with more findings.
func (r Result) WithFindings(f ...eval.Finding) Result {
	r.Findings = append(r.Findings[:len(r.Findings):len(r.Findings)], f...)
	return r
}

// WithEvidence returns r with more evidence.
func (r Result) WithEvidence(e ...eval.Evidence) Result {
	r.Evidence = append(r.Evidence[:len(r.Evidence):len(r.Evidence)], e...)
	return r
}

// WithSamples returns r with a judge's single values.
func (r Result) WithSamples(values ...float64) Result {
	r.Samples = append(r.Samples[:len(r.Samples):len(r.Samples)], values...)
	return r
}

// WithStdErr returns r with the standard error of Raw, or of Value where there is
// no Raw.
func (r Result) WithStdErr(se float64) Result {
	r.StdErr = &se
	return r
}

// StepEvidence points at a step by its ID.
func StepEvidence(id string) eval.Evidence { return eval.Evidence{Step: id} }

// PageEvidence points at a captured page by its name.
func PageEvidence(name string) eval.Evidence { return eval.Evidence{Page: name} }

// PointerEvidence points into the state with a JSON pointer.
func PointerEvidence(p string) eval.Evidence { return eval.Evidence{Pointer: p} }
