package ledger

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/coverage"
)

const schemas = "../../../proto/schemas"

func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join(schemas, name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fill sets every field of v that can be set, so that a field which the schema
// does not have cannot hide behind omitempty.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 30, 15, 17, 35, 5e6, time.UTC)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[eval.JSON]() {
			v.SetBytes([]byte(`{"any":[1,"x",null]}`))
			return
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(k)
		fill(e)
		v.SetMapIndex(k, e)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

func TestFilesFitTheirSchemas(t *testing.T) {
	run, rec, sum, again := &eval.Run{}, &eval.Record{}, &eval.Summary{}, &eval.Rescore{}
	prepareRun(run)
	prepareRecord(rec)
	prepareSummary(sum)
	prepareRescore(again)
	none := eval.FalseAlarm{Interval: []float64{}}
	for _, tt := range []struct {
		schema string
		value  any
	}{
		{"run", run}, {"trial", rec}, {"rescore", again}, {"step", &eval.Step{}},
		{"state", &eval.State{}}, {"tool", &eval.Tool{}}, {"summary", sum},
		{"judge", &eval.JudgeCall{}},
		{"gold", &eval.GoldInfo{Schema: 1, MadeFrom: map[string]string{}}}, {"grades", &eval.GoldGrades{Schema: 1, Judges: []eval.GoldJudge{}}},
		{"nightly", &eval.Nightly{
			Schema: 1, Nights: []string{}, Regressions: []eval.NightlyChange{}, Improved: []eval.NightlyChange{}, Variance: []eval.NightlyVariance{},
			New: []eval.FindingGroup{}, CameBack: []eval.FindingGroup{}, Gone: []eval.FindingGroup{}, Uncovered: []eval.NightlyTool{},
			Lost: []eval.LostTool{}, Drift: []eval.ToolDrift{}, Causes: []eval.CauseCount{}, Problems: []string{},
		}},
		{"baseline", &eval.Baseline{Schema: 1}},
		{"suggestions", &eval.Suggestions{Schema: 1, Broken: []eval.BrokenLines{}, Drafts: []eval.Suggested{}}},
		{"comparison", &eval.Comparison{Schema: 1, Base: eval.ComparedSide{Runs: []string{}}, Head: eval.ComparedSide{Runs: []string{}}, Dimensions: []eval.Compared{}}},
		{"noise", &eval.Noise{Schema: 1, FalseRegressed: none, FalseImproved: none, AnyDrop: none, Floors: []eval.NoiseFloor{}}},
		{"findings", &eval.FindingHistory{Schema: 1, Groups: []eval.FindingGroup{}}},
		{"finding-delta", &eval.FindingDelta{Schema: 1, New: []eval.FindingGroup{}, CameBack: []eval.FindingGroup{}, Gone: []eval.FindingGroup{}, Known: []eval.FindingGroup{}, Acknowledged: []eval.FindingGroup{}, NotLookedAt: []eval.FindingGroup{}}},
		{"triage", &eval.Triage{Schema: 1}},
		{"coverage", coverage.New("", nil, nil).Coverage(nil)},
	} {
		empty, err := json.Marshal(tt.value)
		if err != nil {
			t.Fatal(err)
		}
		fill(reflect.ValueOf(tt.value).Elem())
		full, err := json.Marshal(tt.value)
		if err != nil {
			t.Fatal(err)
		}
		s := schema(t, tt.schema)
		for _, b := range [][]byte{empty, full} {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(v); err != nil {
				t.Errorf("%s: %v\n%s", tt.schema, err, b)
			}
		}
	}
}

func TestSchemasRefuseOtherFields(t *testing.T) {
	v, _ := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(`{"id":"s1","nonsense":1}`)))
	if schema(t, "step").Validate(v) == nil {
		t.Error("a field that no file has is accepted")
	}
}

func TestOneSchemaForEachFile(t *testing.T) {
	entries, err := os.ReadDir(schemas)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 19 {
		t.Errorf("%d schemas; want 19, each with a row in TestFilesFitTheirSchemas", len(entries))
	}
}
