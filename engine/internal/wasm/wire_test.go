package wasm

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	recordv1 "github.com/evalengine/evalengine/proto/evalengine/record/v1"
	scorerv1 "github.com/evalengine/evalengine/proto/evalengine/scorer/v1"
	"github.com/evalengine/evalengine/scorers/wire"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
)

// fill gives every field of v a random value; lists and strings are never empty
// unless zero says that anything may be.
func fill(r *rand.Rand, v reflect.Value, zero bool) {
	if zero && r.IntN(3) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"a", "köp 🛒", "x\x00y", "0"}[r.IntN(4)])
	case reflect.Int:
		v.SetInt(int64(r.Int32()) - 1<<30)
	case reflect.Int64:
		v.SetInt(r.Int64() - 1<<62)
	case reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), zero)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`{"k":1}`))
			return
		}
		for range 1 + r.IntN(3) {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(r, e, zero)
			v.Set(reflect.Append(v, e))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), zero)
		}
	}
}

// canonical encodes b again as the generated code would have.
func canonical(t *testing.T, b []byte, m proto.Message) []byte {
	t.Helper()
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	if unknown := m.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		t.Errorf("%d bytes are of unknown fields", len(unknown))
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWire holds package wire, which may not import the generated code, to it:
// the same bytes both ways, for every field.
func TestWire(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		zero := round > 0
		var in eval.ScoreInput
		fill(r, reflect.ValueOf(&in).Elem(), zero)
		b := wire.AppendRequest(nil, &in, wire.AllParts)
		if got := canonical(t, b, &scorerv1.ScoreRequest{}); !bytes.Equal(got, b) {
			t.Fatalf("request %+v:\n got %q\nwant %q", in, b, got)
		}
		back, err := wire.DecodeRequest(b)
		if err != nil || !cmp.Equal(*back, in) {
			t.Fatalf("request: %v %s", err, cmp.Diff(in, *back))
		}
		if got := bytes.Join(wire.RequestSegments(&in, wire.AllParts, 2), nil); !bytes.Equal(got, b) {
			t.Fatalf("segments:\n got %q\nwant %q", got, b)
		}

		var outputs []eval.ScoreOutput
		fill(r, reflect.ValueOf(&outputs).Elem(), zero)
		b = wire.AppendResponse(nil, outputs)
		if got := canonical(t, b, &scorerv1.ScoreResponse{}); !bytes.Equal(got, b) {
			t.Fatalf("response %+v:\n got %q\nwant %q", outputs, b, got)
		}
		if back, err := wire.DecodeResponse(b); err != nil || !cmp.Equal(back, outputs) {
			t.Fatalf("response: %v %s", err, cmp.Diff(outputs, back))
		}

		var manifest eval.Manifest
		fill(r, reflect.ValueOf(&manifest).Elem(), zero)
		b = wire.AppendManifest(nil, &manifest)
		if got := canonical(t, b, &scorerv1.Manifest{}); !bytes.Equal(got, b) {
			t.Fatalf("manifest %+v:\n got %q\nwant %q", manifest, b, got)
		}
		if back, err := wire.DecodeManifest(b); err != nil || !cmp.Equal(back, &manifest) {
			t.Fatalf("manifest: %v %s", err, cmp.Diff(&manifest, back))
		}
	}
}

// TestWireFieldNames holds the decoder to the names of fields, which equal bytes
// do not prove: two fields of one type could be swapped both ways.
func TestWireFieldNames(t *testing.T) {
	duration := 3.0
	b, err := proto.Marshal(&scorerv1.ScoreRequest{
		Trial: &recordv1.Trial{Story: "story", Variant: "variant", Host: "host", Repeat: 4},
		Uses:  []*scorerv1.Use{{Name: "name", Scorer: "scorer", Params: []byte("{}"), Models: []string{"model"}}},
		Steps: []*recordv1.Step{{
			Id: "s1", Turn: 2, Kind: "message", Role: "user", Text: "text", CallId: "call", Server: "server", Tool: "tool",
			Arguments: []byte("1"), BadArguments: true, Result: []byte("2"), IsError: true, Bytes: 7, Truncated: true,
			Observed: "confirmed", Parent: "parent", AtMs: 1.5, DurationMs: &duration, Model: "m",
		}},
		Answer: "answer", StateBefore: []byte("3"), StateAfter: []byte("4"), Outcome: "refused", AgentSeconds: 2.5,
		Target: []byte("5"), HostCapabilities: []string{"cap"}, Prompts: []string{"prompt"},
		Gold: &scorerv1.Gold{State: []byte("6"), Grades: []*scorerv1.Grade{{Score: "g", Values: []float64{1}}}, Floor: []*scorerv1.Grade{{Score: "f"}}, Stale: "old", Trial: "s.base.h.r2"},
		Pages: []*scorerv1.Page{{
			Page: &recordv1.Page{
				Name: "p", Url: "u", FinalUrl: "f", Title: "t", Status: 200, Requests: 3, Bytes: 4, Unsettled: []string{"fonts"}, Error: "e", Seconds: 1,
				Shots: []*recordv1.Shot{{Viewport: &recordv1.Viewport{Width: 1, Height: 2}, Scale: 2, Height: 3, Covered: 4,
					Tiles: []*recordv1.Tile{{Y: 5, Width: 6, Height: 7, File: "file", Sha256: "sum"}}}},
				Console:        []*recordv1.ConsoleMessage{{Level: "error", Text: "x", Url: "cu", Line: 9}},
				FailedRequests: []*recordv1.FailedRequest{{Url: "fu", Method: "GET", Kind: "image", Status: 404, Error: "fe", Blocked: true}},
			},
			Html: []byte("<p>"), Accessibility: []byte("[]"), Images: [][]byte{[]byte("png")},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := wire.DecodeRequest(b)
	want := &eval.ScoreInput{
		Trial: eval.Trial{Story: "story", Variant: "variant", Host: "host", Repeat: 4},
		Uses:  []eval.Use{{Name: "name", Scorer: "scorer", Params: eval.JSON("{}"), Models: []string{"model"}}},
		Steps: []eval.Step{{
			ID: "s1", Turn: 2, Kind: eval.StepMessage, Role: "user", Text: "text", CallID: "call", Server: "server",
			Tool: "tool", Arguments: eval.JSON("1"), BadArguments: true, Result: eval.JSON("2"), IsError: true, Bytes: 7,
			Truncated: true, Observed: eval.Confirmed, Parent: "parent", AtMS: 1.5, DurationMS: &duration, Model: "m",
		}},
		Answer: "answer", StateBefore: eval.JSON("3"), State: eval.JSON("4"), Outcome: eval.Refused, AgentSeconds: 2.5,
		Target: eval.JSON("5"), HostCapabilities: []string{"cap"}, Prompts: []string{"prompt"}, GoldState: eval.JSON("6"),
		GoldGrades: []eval.Grade{{Score: "g", Values: []float64{1}}}, FloorGrades: []eval.Grade{{Score: "f"}}, GoldStale: "old", GoldTrial: "s.base.h.r2",
		Pages: []eval.Page{{
			Name: "p", URL: "u", FinalURL: "f", Title: "t", Status: 200, Requests: 3, Bytes: 4, Unsettled: []string{"fonts"}, Error: "e", Seconds: 1,
			Shots: []eval.Shot{{Viewport: eval.Viewport{Width: 1, Height: 2}, Scale: 2, Height: 3, Covered: 4,
				Tiles: []eval.Tile{{Y: 5, Width: 6, Height: 7, File: "file", SHA256: "sum", PNG: []byte("png")}}}},
			Console: []eval.ConsoleMessage{{Level: "error", Text: "x", URL: "cu", Line: 9}},
			Failed:  []eval.FailedRequest{{URL: "fu", Method: "GET", Kind: "image", Status: 404, Error: "fe", Blocked: true}},
			HTML:    []byte("<p>"), Accessibility: eval.JSON("[]"),
		}},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v %s", err, cmp.Diff(want, got))
	}
	passed, raw := true, 9.0
	outputs := []eval.ScoreOutput{{
		Name: "name", State: eval.Scored, Value: 0.5, Raw: &raw, Unit: "unit", Passed: &passed, Reason: "reason",
		Evidence: []eval.Evidence{{Step: "s1"}, {Page: "page"}, {Pointer: "/p"}},
		Findings: []eval.Finding{{Kind: "kind", Tool: "tool", Action: "act", Severity: eval.SeverityMajor, Text: "text", Suggestion: "do",
			Source: "source", Fingerprint: "print"}},
	}}
	var response scorerv1.ScoreResponse
	if err := proto.Unmarshal(wire.AppendResponse(nil, outputs), &response); err != nil {
		t.Fatal(err)
	}
	if want := (&scorerv1.ScoreResponse{Results: []*scorerv1.Result{{
		Name: "name", State: "scored", Value: 0.5, Raw: &raw, Unit: "unit", Passed: &passed, Reason: "reason",
		Evidence: []*recordv1.Evidence{{Step: "s1"}, {Page: "page"}, {Pointer: "/p"}},
		Findings: []*recordv1.Finding{{Kind: "kind", Tool: "tool", Action: "act", Severity: "major", Text: "text", Suggestion: "do",
			Source: "source", Fingerprint: "print"}},
	}}}); !proto.Equal(&response, want) {
		t.Errorf("got %v; want %v", &response, want)
	}
}

// FuzzWire holds the decoder to accept no more than the generated code does, and
// to understand the same.
func FuzzWire(f *testing.F) {
	in := transcript(100)
	in.Answer = "\xff"
	f.Add(wire.AppendRequest(nil, in, wire.AllParts))
	f.Add([]byte("\x22\x02\xff\xfe"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := wire.DecodeRequest(b)
		if err != nil {
			return
		}
		var m scorerv1.ScoreRequest
		if proto.Unmarshal(b, &m) != nil {
			return // Invalid UTF-8, which wire mends.
		}
		if m.Answer != got.Answer || len(m.Steps) != len(got.Steps) || m.Outcome != string(got.Outcome) {
			t.Errorf("got %+v; want %v", got, &m)
		}
	})
}
