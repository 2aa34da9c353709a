package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/evalengine/evalengine/engine/eval"
)

// The elements and attributes are those that both the Ant-like schema of Jenkins and
// that of its xUnit plugin have, in an order that both allow; GitLab reads the same.
type (
	junitRun struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Time     string       `xml:"time,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Case       junitCase       `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Time    string       `xml:"time,attr"`
		Skipped *junitReason `xml:"skipped"`
		Error   *junitReason `xml:"error"`
		Failure *junitReason `xml:"failure"`
		Out     string       `xml:"system-out,omitempty"`
	}
	junitReason struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a run for CI systems: one test case for each arm. Stories have no rule
// of their own for folding repeats, so a case fails where any repeat failed; else it
// is an error where any errored, and skipped where no trial has a verdict. The raw
// values are properties of the case's suite, which has that case alone: properties of
// a case itself are not in every schema.
func JUnit(w io.Writer, d *Document) error {
	s := d.Summary
	run := junitRun{Name: xmlText(s.Suite), Suites: []junitSuite{}}
	total := 0.0
	for i := range s.Arms {
		suite := d.junitSuite(&s.Arms[i])
		run.Suites = append(run.Suites, suite)
		run.Tests += suite.Tests
		run.Failures += suite.Failures
		run.Errors += suite.Errors
		total += d.of(&s.Arms[i]).seconds
	}
	run.Time = junitTime(total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(run); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (d *Document) junitSuite(a *eval.Arm) junitSuite {
	facts := d.of(a)
	started := facts.started
	if started.IsZero() {
		started = d.Summary.StartedAt
	}
	class := strings.Join([]string{d.Summary.Suite, a.Host, variantName(a.Variant)}, ".")
	c := junitCase{Name: xmlText(a.Story), Class: xmlText(class), Time: junitTime(facts.seconds), Out: xmlText(d.junitOut(a))}
	out := junitSuite{
		Name: xmlText(class + "." + a.Story), Tests: 1, Time: c.Time, Timestamp: started.UTC().Format("2006-01-02T15:04:05"),
		Properties: d.junitProperties(a),
	}
	tally := d.tally(a)
	reason := func(st eval.Status) *junitReason {
		p := d.first(a, st)
		return &junitReason{Type: xmlText(p.Cause), Message: xmlText(Line(tally, mdCell)), Text: xmlText(d.junitReasons(a, st))}
	}
	switch {
	case a.Trials.Failed > 0:
		c.Failure, out.Failures = reason(eval.StatusFailed), 1
	case a.Trials.Errored > 0:
		c.Error, out.Errors = reason(eval.StatusErrored), 1
	case a.Trials.Passed == 0:
		c.Skipped, out.Skipped = reason(eval.StatusSkipped), 1
	}
	out.Case = c
	return out
}

func variantName(v string) string {
	if v == "" {
		return eval.NoVariant
	}
	return v
}

// tally is an arm's trials in words, what was planned and not run with them.
func (d *Document) tally(a *eval.Arm) string {
	text := (&printer{}).tally(a.Trials)
	switch n := d.of(a).notRun(a); {
	case a.Trials.Total == 0:
	case n > 0:
		text += fmt.Sprintf(", %d not run", n)
	}
	return text
}

// first is the first problem of an arm of that status; the zero one where none is
// kept.
func (d *Document) first(a *eval.Arm, st eval.Status) Problem {
	for _, p := range d.of(a).problems {
		if p.Status == st {
			return p
		}
	}
	return Problem{Cause: string(st)}
}

func (d *Document) junitReasons(a *eval.Arm, st eval.Status) string {
	var b strings.Builder
	for _, g := range groups(*a, d.of(a).problems) {
		if g.Status == st {
			fmt.Fprintf(&b, "%s %s: %s\n", strings.Join(g.repeats, " "), g.Cause, reason(g.Cause, g.Reason))
		}
	}
	return b.String()
}

// junitOut are the arm's numbers and the reasons of all its trials.
func (d *Document) junitOut(a *eval.Arm) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", d.tally(a))
	p := &printer{w: &b}
	for _, q := range quantities(a) {
		p.line("%s: %s", q.Label(), p.stat(*q.Stat))
	}
	for _, st := range []eval.Status{eval.StatusFailed, eval.StatusErrored, eval.StatusSkipped} {
		if text := d.junitReasons(a, st); text != "" {
			fmt.Fprintf(&b, "%s\n%s", st, text)
		}
	}
	return b.String()
}

// junitProperties have an arm's counts and, for each quantity, its numbers in full
// precision.
func (d *Document) junitProperties(a *eval.Arm) []junitProperty {
	var out []junitProperty
	add := func(name, value string) {
		if value != "" {
			out = append(out, junitProperty{xmlText(name), xmlText(value)})
		}
	}
	add("run", d.Summary.Run)
	add("experiment", d.Summary.Experiment)
	add("trials.passed", strconv.Itoa(a.Trials.Passed))
	add("trials.failed", strconv.Itoa(a.Trials.Failed))
	add("trials.errored", strconv.Itoa(a.Trials.Errored))
	add("trials.skipped", strconv.Itoa(a.Trials.Skipped))
	add("trials.not_run", strconv.Itoa(d.of(a).notRun(a)))
	for _, p := range a.PassAt {
		add(fmt.Sprintf("pass@%d", p.K), exact(p.PassAt))
		add(fmt.Sprintf("pass^%d", p.K), exact(p.PassHat))
	}
	if a.Flaky != nil {
		add("flaky", strconv.FormatBool(a.Flaky.Flaky))
		add("flip_rate", exact(a.Flaky.FlipRate))
	}
	for _, q := range quantities(a) {
		name := q.Kind + ":" + q.Name
		add(name+".n", strconv.Itoa(q.N))
		add(name+".mean", exact(q.Mean))
		add(name+".stdev", exact(q.Stdev))
		add(name+".values", raw(q.Stat, 0, precise))
		add(name+".errored", nonzero(q.Errored))
		add(name+".skipped", nonzero(q.Skipped))
	}
	return out
}

func nonzero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// junitTime are seconds; a time that is not known is 0 to the schema.
func junitTime(seconds float64) string {
	return strconv.FormatFloat(max(0, time.Duration(seconds*float64(time.Second)).Seconds()), 'f', 3, 64)
}

// xmlText leaves out what XML cannot hold, and escape sequences with it.
func xmlText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff || r == 0xfffd || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
}
