package main

import (
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// form is what the replies of a judge that grades look like.
type form struct {
	aspects []aspect
	scale   scale
	// kinds are the kinds of findings.
	kinds []string
	// cites are the members with which an aspect or a finding cites, as JSON Schema.
	cites string
	// tools says that a finding may name a tool, an action and a quote.
	tools bool
}

const maxFindings = 50

// schema returns the JSON Schema of a reply: closed, every member required, as
// providers want it. A reason stands before its grade, so that it comes first.
func (f *form) schema() eval.JSON {
	var sb strings.Builder
	names := f.names()
	sb.WriteString(`{"type":"object","additionalProperties":false,"required":["` + strings.Join(names, `","`) + `","summary","findings"],"properties":{`)
	for _, name := range names {
		sb.WriteString(`"` + name + `":` + closed(`"reason":{"type":"string"},`+f.cites+`,"grade":{"type":"integer","minimum":`+
			strconv.Itoa(f.scale.lowest)+`,"maximum":`+strconv.Itoa(f.scale.highest)+`}`) + `,`)
	}
	sb.WriteString(`"summary":{"type":"string"},"findings":` + f.findingsSchema() + `}}`)
	return eval.JSON(sb.String())
}

func (f *form) names() []string {
	var names []string
	for _, a := range f.aspects {
		names = append(names, a.name)
	}
	return names
}

func (f *form) findingsSchema() string {
	more := ""
	if f.tools {
		more = `"tool":{"type":"string"},"action":{"type":"string"},"quote":{"type":"string"},`
	}
	return `{"type":"array","maxItems":` + strconv.Itoa(maxFindings) + `,"items":` + closed(
		`"kind":{"type":"string","enum":["`+strings.Join(f.kinds, `","`)+`"]},"severity":{"type":"string","enum":["critical","major","minor","info"]},`+
			`"text":{"type":"string","minLength":1},`+more+f.cites+`,"suggestion":{"type":"string"}`) + `}`
}

// closed is the schema of an object that has these members and no others.
func closed(properties string) string {
	v, err := jsonv.Parse([]byte("{" + properties + "}"))
	if err != nil {
		panic("schema: " + properties)
	}
	var names []string
	for name := range v.Members() {
		names = append(names, name)
	}
	return `{"type":"object","additionalProperties":false,"required":["` + strings.Join(names, `","`) + `"],"properties":{` + properties + `}}`
}

// verdict is a reply, read.
type verdict struct {
	model    string
	grades   []float64
	reasons  []string
	summary  string
	evidence []eval.Evidence
	// missing are citations of the grades that do not exist.
	missing  []string
	findings []eval.Finding
	// blank counts findings that say nothing.
	blank  int
	value  float64
	points float64
}

const (
	reasonSize  = 600
	findingSize = 1200
	maxEvidence = 20
)

// verdictOf reads a reply that satisfies the schema.
func (f *form) verdictOf(v jsonv.Value, model string, c citer) verdict {
	d := verdict{model: model, summary: tree.Cut(v.Get("summary").String(), reasonSize)}
	for _, a := range f.aspects {
		of := v.Get(a.name)
		grade, _ := of.Get("grade").Float()
		d.grades = append(d.grades, grade)
		d.reasons = append(d.reasons, tree.Cut(strings.TrimSpace(of.Get("reason").String()), reasonSize))
		cited := c.cite(of)
		d.evidence = append(d.evidence, cited.there...)
		d.missing = append(d.missing, cited.missing...)
	}
	d.evidence = distinct(d.evidence)
	d.points = f.scale.points(d.grades)
	d.value = f.scale.value(d.points)
	for _, e := range v.Get("findings").Elements() {
		if strings.TrimSpace(e.Get("text").String()) == "" {
			d.blank++
			continue
		}
		d.findings = append(d.findings, findingOf(e, c))
	}
	return d
}

func distinct(list []eval.Evidence) []eval.Evidence {
	var out []eval.Evidence
	seen := map[eval.Evidence]bool{}
	for _, e := range list {
		if !seen[e] && len(out) < maxEvidence {
			seen[e] = true
			out = append(out, e)
		}
	}
	return out
}

// findingOf reads a finding and marks it where what it cites is not there.
func findingOf(v jsonv.Value, c citer) eval.Finding {
	f := eval.Finding{
		Kind: v.Get("kind").String(), Severity: eval.Severity(v.Get("severity").String()),
		Text:       tree.Cut(strings.TrimSpace(v.Get("text").String()), findingSize),
		Action:     tree.Cut(strings.TrimSpace(v.Get("action").String()), 200),
		Suggestion: tree.Cut(strings.TrimSpace(v.Get("suggestion").String()), findingSize),
	}
	cited := c.cite(v)
	f.Evidence, f.Unverified = cited.all(), !cited.exists()
	if name := strings.TrimSpace(v.Get("tool").String()); name != "" {
		tool, known := c.tool(name)
		f.Tool = tree.Cut(tool, 200)
		f.Unverified = f.Unverified || !known
	}
	return f
}
