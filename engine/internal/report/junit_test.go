package report

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/evalengine/evalengine/engine/eval"
)

// shape says of an element which attributes it must and may have and which elements
// it may hold, in order: what the schemas of Jenkins and of its xUnit plugin have in
// common.
type shape struct {
	must, may []string
	children  []string
	text      bool
}

var junitShapes = map[string]shape{
	"testsuites": {may: []string{"name", "time", "tests", "failures", "errors"}, children: []string{"testsuite"}},
	"testsuite": {
		must: []string{"name", "tests", "failures", "errors"}, may: []string{"skipped", "time", "timestamp", "hostname", "id", "package"},
		children: []string{"properties", "testcase", "system-out", "system-err"},
	},
	"properties": {children: []string{"property"}},
	"property":   {must: []string{"name", "value"}},
	"testcase":   {must: []string{"name"}, may: []string{"classname", "time"}, children: []string{"skipped", "error", "failure", "system-out", "system-err"}},
	"skipped":    {may: []string{"type", "message"}, text: true},
	"error":      {may: []string{"type", "message"}, text: true},
	"failure":    {may: []string{"type", "message"}, text: true},
	"system-out": {text: true},
	"system-err": {text: true},
}

type element struct {
	name     string
	attr     map[string]string
	children []*element
}

// parseJUnit checks a report against the shape and returns its root.
func parseJUnit(t *testing.T, text string) *element {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	root := &element{}
	stack := []*element{root}
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, text)
		}
		top := stack[len(stack)-1]
		switch tok := tok.(type) {
		case xml.StartElement:
			e := &element{name: tok.Name.Local, attr: map[string]string{}}
			for _, a := range tok.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			checkJUnit(t, top, e)
			top.children = append(top.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if strings.TrimSpace(string(tok)) != "" && !junitShapes[top.name].text {
				t.Errorf("%s holds text %q", top.name, tok)
			}
		}
	}
	if len(root.children) != 1 || root.children[0].name != "testsuites" {
		t.Fatalf("the root is not one testsuites element")
	}
	return root.children[0]
}

var (
	junitSeconds = regexp.MustCompile(`^[0-9]{1,9}\.[0-9]{3}$`)
	junitStamp   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$`)
)

func checkJUnit(t *testing.T, parent, e *element) {
	t.Helper()
	s, ok := junitShapes[e.name]
	if !ok {
		t.Fatalf("an element %s", e.name)
	}
	if parent.name != "" {
		allowed := junitShapes[parent.name].children
		at := slices.Index(allowed, e.name)
		if at < 0 {
			t.Errorf("%s in %s", e.name, parent.name)
		}
		if n := len(parent.children); n > 0 && slices.Index(allowed, parent.children[n-1].name) > at {
			t.Errorf("%s after %s in %s", e.name, parent.children[n-1].name, parent.name)
		}
	}
	for _, m := range s.must {
		if _, ok := e.attr[m]; !ok {
			t.Errorf("%s without %s", e.name, m)
		}
	}
	for name, value := range e.attr {
		switch {
		case !slices.Contains(s.must, name) && !slices.Contains(s.may, name):
			t.Errorf("%s with %s", e.name, name)
		case name == "time" && !junitSeconds.MatchString(value):
			t.Errorf("%s: time %q", e.name, value)
		case name == "timestamp" && !junitStamp.MatchString(value):
			t.Errorf("%s: timestamp %q", e.name, value)
		}
	}
}

// sums holds the counts of a report against its cases.
func sums(t *testing.T, root *element) {
	t.Helper()
	count := map[string]int{}
	for _, suite := range root.children {
		own := map[string]int{}
		for _, c := range suite.children {
			if c.name != "testcase" {
				continue
			}
			own["tests"]++
			for _, r := range c.children {
				if key := map[string]string{"failure": "failures", "error": "errors", "skipped": "skipped"}[r.name]; key != "" {
					own[key]++
				}
			}
		}
		for _, key := range []string{"tests", "failures", "errors", "skipped"} {
			if got := suite.attr[key]; got != strconv.Itoa(own[key]) {
				t.Errorf("%s: %s = %s; has %d", suite.attr["name"], key, got, own[key])
			}
			count[key] += own[key]
		}
	}
	for _, key := range []string{"tests", "failures", "errors"} {
		if got := root.attr[key]; got != strconv.Itoa(count[key]) {
			t.Errorf("%s = %s; has %d", key, got, count[key])
		}
	}
}

func TestJUnitShape(t *testing.T) {
	for _, x := range attacks {
		root := parseJUnit(t, write(t, FormatJUnit, hostile(t, x)))
		sums(t, root)
	}
	sums(t, parseJUnit(t, write(t, FormatJUnit, seed(t))))
	sums(t, parseJUnit(t, write(t, FormatJUnit, document(t, nil))))
}

// TestJUnitFolds says what a case is by how its repeats ended.
func TestJUnitFolds(t *testing.T) {
	const (
		p, f, e, s = eval.StatusPassed, eval.StatusFailed, eval.StatusErrored, eval.StatusSkipped
	)
	for _, c := range []struct {
		name    string
		planned int
		ended   []eval.Status
		want    string
		message string
	}{
		{"all passed", 3, []eval.Status{p, p, p}, "", ""},
		{"one failed", 3, []eval.Status{p, f, p}, "failure", "2 passed, 1 failed"},
		{"failed and errored", 3, []eval.Status{e, f, p}, "failure", "1 passed, 1 failed, 1 errored"},
		{"one errored", 2, []eval.Status{p, e}, "error", "1 passed, 1 errored"},
		{"skipped beside passed", 2, []eval.Status{p, s}, "", ""},
		{"all skipped", 2, []eval.Status{s, s}, "skipped", "2 skipped"},
		{"not run", 2, nil, "skipped", "not run"},
		{"some not run", 3, []eval.Status{f}, "failure", "1 failed, 2 not run"},
	} {
		var plan []eval.Trial
		var records []*eval.Record
		for i := range c.planned {
			tr := eval.Trial{Story: "cms", Variant: "hardened", Host: "claude", Repeat: i + 1}
			plan = append(plan, tr)
			if i >= len(c.ended) {
				continue
			}
			r := &eval.Record{ID: tr.ID(), Trial: tr, Status: c.ended[i], Timings: eval.Timings{StartedAt: start.Add(time.Hour), Total: 2}}
			if r.Status != p {
				r.Cause, r.Reason = "outcome", "outcome: not there"
			}
			records = append(records, r)
		}
		root := parseJUnit(t, write(t, FormatJUnit, document(t, plan, records...)))
		sums(t, root)
		suite := root.children[0]
		test := suite.children[1]
		if got := test.attr["classname"] + " " + test.attr["name"]; got != "site.claude.hardened cms" {
			t.Errorf("%s: case %q", c.name, got)
		}
		if want := strconv.Itoa(2*len(c.ended)) + ".000"; test.attr["time"] != want {
			t.Errorf("%s: time %s; want %s", c.name, test.attr["time"], want)
		}
		if want := "2026-11-30T13:00:00"; len(c.ended) > 0 && suite.attr["timestamp"] != want {
			t.Errorf("%s: timestamp %s; want %s", c.name, suite.attr["timestamp"], want)
		}
		got, message := "", ""
		if first := test.children[0]; first.name != "system-out" {
			got, message = first.name, first.attr["message"]
		}
		if got != c.want || message != c.message {
			t.Errorf("%s: %q %q; want %q %q", c.name, got, message, c.want, c.message)
		}
	}
}

func FuzzXMLText(f *testing.F) {
	f.Add("a\x00b\x1b[0m\ufffe\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		got := xmlText(text)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\ufffe\uffff") {
			t.Errorf("xmlText(%q) = %q", text, got)
		}
	})
}
