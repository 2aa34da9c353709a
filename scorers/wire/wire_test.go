package wire

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func input() *eval.ScoreInput {
	cost := 0.25
	return &eval.ScoreInput{
		Trial: eval.Trial{Story: "s", Variant: "v", Host: "h", Repeat: 2},
		Uses:  []eval.Use{{Name: "a", Scorer: "b", Params: eval.JSON("{}"), Models: []string{"m", "n"}}},
		Steps: []eval.Step{
			{ID: "s1", Turn: 1, Kind: eval.StepToolCall, CallID: "c", Tool: "t", Arguments: eval.JSON(`{"x":1}`), AtMS: 1.5},
			{ID: "s2", Turn: 1, Kind: eval.StepToolResult, CallID: "c", Result: eval.JSON(`"r"`), DurationMS: new(float64)},
		},
		Answer: "answer", StateBefore: eval.JSON("1"), State: eval.JSON("2"),
		Tools: []eval.Tool{{Server: "x", Name: "t", Requires: []string{""}, Destructive: true}},
		Pages: []eval.Page{{
			Name: "p", Status: 200, HTML: []byte("<p>"), Accessibility: eval.JSON("[]"), Unsettled: []string{"fonts"}, Bytes: 9, Requests: 2,
			Shots: []eval.Shot{{Viewport: eval.Viewport{Width: 3, Height: 4}, Scale: 2, Height: 9, Covered: 8, Tiles: []eval.Tile{
				{File: "p.png", SHA256: "00", Width: 6, Height: 16, PNG: []byte("png")}, {Y: 4}, {Y: 8, PNG: []byte("x")},
			}}},
			Console: []eval.ConsoleMessage{{Level: "error", Text: "t", Line: 3}}, Failed: []eval.FailedRequest{{URL: "u", Blocked: true}},
		}},
		Scores:    []eval.Score{{Name: "n", Value: new(1.0), Passed: new(bool), Evidence: []eval.Evidence{{Pointer: "/"}}}},
		GoldState: eval.JSON("3"), GoldPages: []eval.Page{{Name: "g"}},
		GoldGrades: []eval.Grade{{Score: "judge/visual", Values: []float64{0, 0.5}}}, FloorGrades: []eval.Grade{{Score: "f"}}, GoldStale: "old", GoldTrial: "s.base.h.r2",
		Usage:            eval.Usage{Turns: -1, InputTokens: 1 << 40, CostUSD: &cost, Models: []string{"m", ""}},
		HostCapabilities: []string{"c"}, Prompts: []string{"do"}, Outcome: eval.Completed, AgentSeconds: 2,
		Target: eval.JSON("{}"),
	}
}

func TestRequest(t *testing.T) {
	in := input()
	got, err := DecodeRequest(AppendRequest([]byte("ahead")[:0], in, AllParts))
	if err != nil || !reflect.DeepEqual(got, in) {
		t.Errorf("got %+v, %v; want %+v", got, err, in)
	}
	if b := AppendRequest([]byte("ahead"), in, AllParts); !bytes.HasPrefix(b, []byte("ahead")) {
		t.Errorf("AppendRequest did not append: %q", b[:10])
	}
}

func TestParts(t *testing.T) {
	always := func(in *eval.ScoreInput) *eval.ScoreInput {
		return &eval.ScoreInput{
			Trial: in.Trial, Uses: in.Uses, Usage: in.Usage, HostCapabilities: in.HostCapabilities, Prompts: in.Prompts,
			Outcome: in.Outcome, AgentSeconds: in.AgentSeconds, Target: in.Target,
		}
	}
	for part, add := range map[eval.Part]func(to, in *eval.ScoreInput){
		"":                  func(_, _ *eval.ScoreInput) {},
		eval.PartTranscript: func(to, in *eval.ScoreInput) { to.Steps = in.Steps },
		eval.PartAnswer:     func(to, in *eval.ScoreInput) { to.Answer = in.Answer },
		eval.PartState:      func(to, in *eval.ScoreInput) { to.State, to.StateBefore = in.State, in.StateBefore },
		eval.PartTools:      func(to, in *eval.ScoreInput) { to.Tools = in.Tools },
		eval.PartScores:     func(to, in *eval.ScoreInput) { to.Scores = in.Scores },
		eval.PartGold: func(to, in *eval.ScoreInput) {
			to.GoldState, to.GoldPages, to.GoldStale, to.GoldTrial = in.GoldState, in.GoldPages, in.GoldStale, in.GoldTrial
			to.GoldGrades, to.FloorGrades = in.GoldGrades, in.FloorGrades
		},
		eval.PartPages:      func(to, in *eval.ScoreInput) { to.Pages = pagesWith(in, false, false) },
		eval.PartPagesHTML:  func(to, in *eval.ScoreInput) { to.Pages = pagesWith(in, true, false) },
		eval.PartPagesImage: func(to, in *eval.ScoreInput) { to.Pages = pagesWith(in, false, true) },
	} {
		in := input()
		want := always(in)
		add(want, in)
		got, err := DecodeRequest(AppendRequest(nil, in, PartsOf([]eval.Part{part})))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v; want %+v", part, got, err, want)
		}
		if known := KnownPart(part); known != (part != "") {
			t.Errorf("KnownPart(%q) = %v", part, known)
		}
	}
}

// pagesWith are the input's pages with some of their contents.
func pagesWith(in *eval.ScoreInput, html, images bool) []eval.Page {
	p := in.Pages[0]
	if !html {
		p.HTML, p.Accessibility = nil, nil
	}
	if !images {
		for i := range p.Shots[0].Tiles {
			p.Shots[0].Tiles[i].PNG = nil
		}
	}
	return []eval.Page{p}
}

func TestModelMessages(t *testing.T) {
	warm := 0.5
	q := &eval.ModelRequest{
		Model: "m", System: "s", Schema: eval.JSON("{}"), SchemaName: "n", Samples: 3, MaxTokens: 9, Temperature: &warm,
		Messages: []eval.ModelMessage{{Role: "user", Parts: []eval.ModelPart{
			{Text: "t"}, {Image: &eval.ModelImage{Page: "p", Gold: true, Shot: 1, Tile: 2, MediaType: "image/png", SHA256: "ab", Data: []byte("x")}},
		}}},
	}
	if got, err := DecodeModelRequest(AppendModelRequest(nil, q)); err != nil || !reflect.DeepEqual(got, q) {
		t.Errorf("got %+v, %v; want %+v", got, err, q)
	}
	p := &eval.ModelReply{Failure: eval.FailureBudget, Detail: "d", Samples: []eval.ModelAnswer{
		{Request: "r", Text: "t", Stop: eval.StopEnd, Model: "m", Usage: eval.Usage{OutputTokens: 3}, Cached: true},
	}}
	if got, err := DecodeModelReply(AppendModelReply(nil, p)); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("got %+v, %v; want %+v", got, err, p)
	}
}

func TestDoublesPackedOrNot(t *testing.T) {
	// Field 10 of a result, once packed and once as single elements.
	half, one := "\x00\x00\x00\x00\x00\x00\xe0\x3f", "\x00\x00\x00\x00\x00\x00\xf0\x3f"
	for _, b := range []string{"\x0a\x12\x52\x10" + half + one, "\x0a\x12\x51" + half + "\x51" + one} {
		got, err := DecodeResponse([]byte(b))
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0].Samples, []float64{0.5, 1}) {
			t.Errorf("%q: got %+v, %v", b, got, err)
		}
	}
	if _, err := DecodeResponse([]byte("\x0a\x05\x52\x03abc")); err != ErrMalformed {
		t.Errorf("a cut list: got %v", err)
	}
}

func TestSegmentsShareMemory(t *testing.T) {
	in := input()
	in.Steps[1].Result = eval.JSON(strings.Repeat("x", 100))
	list := RequestSegments(in, AllParts, 100)
	if !bytes.Equal(bytes.Join(list, nil), AppendRequest(nil, in, AllParts)) {
		t.Error("the segments are not the message")
	}
	shared := false
	for _, s := range list {
		shared = shared || len(s) == 100 && &s[0] == &in.Steps[1].Result[0]
	}
	if len(list) != 3 || !shared {
		t.Errorf("%d segments, shared %v; want 3, one of them the result", len(list), shared)
	}
}

func TestInvalidText(t *testing.T) {
	in := &eval.ScoreInput{Answer: "a\xffb"}
	got, err := DecodeRequest(AppendRequest(nil, in, AllParts))
	if err != nil || got.Answer != "a\uFFFDb" {
		t.Errorf("got %q, %v; want a\uFFFDb", got.Answer, err)
	}
	if got, err := DecodeRequest([]byte("\x22\x03a\xffb")); err != nil || got.Answer != "a\uFFFDb" {
		t.Errorf("decoding: got %q, %v; want a\uFFFDb", got.Answer, err)
	}
}

func TestMalformed(t *testing.T) {
	for _, b := range []string{
		"\x0a", "\x0a\x05", "\x0a\x02\x0a\x05", "\x00", "\x0b", "\x0c", "\x20\x01", "\x69\x01", "\x80",
		"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		if got, err := DecodeRequest([]byte(b)); err != ErrMalformed {
			t.Errorf("DecodeRequest(%q) = %+v, %v; want ErrMalformed", b, got, err)
		}
	}
	// Fields that nobody knows are skipped.
	if got, err := DecodeRequest([]byte("\x22\x01a\xfa\x07\x01x\xf8\x07\x05\xf5\x07\x01\x02\x03\x04")); err != nil || got.Answer != "a" {
		t.Errorf("unknown fields: %+v, %v; want answer a", got, err)
	}
}

// FuzzDecode decodes and encodes again: what comes out must not change any more.
func FuzzDecode(f *testing.F) {
	f.Add(AppendRequest(nil, input(), AllParts))
	f.Add(AppendResponse(nil, []eval.ScoreOutput{{Name: "n", State: eval.Scored, Value: 1, Passed: new(bool), Raw: new(float64),
		Findings: []eval.Finding{{Kind: "k", Evidence: []eval.Evidence{{Step: "s1"}}}}}}))
	f.Add(AppendManifest(nil, &eval.Manifest{Module: "m", Scorers: []eval.ScorerSpec{{Name: "s", Needs: []eval.Part{eval.PartGold},
		Params: eval.Schema{Attributes: []eval.Attribute{{Name: "a", Type: "any", Enum: []string{"e"}, Format: "regex"}}}}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if in, err := DecodeRequest(b); err == nil {
			once := AppendRequest(nil, in, AllParts)
			again, err := DecodeRequest(once)
			if err != nil || !bytes.Equal(AppendRequest(nil, again, AllParts), once) {
				t.Errorf("request: %v", err)
			}
			if !bytes.Equal(bytes.Join(RequestSegments(in, AllParts, 3), nil), once) {
				t.Error("segments are not the message")
			}
		}
		if out, err := DecodeResponse(b); err == nil {
			once := AppendResponse(nil, out)
			again, err := DecodeResponse(once)
			if err != nil || !bytes.Equal(AppendResponse(nil, again), once) {
				t.Errorf("response: %v", err)
			}
		}
		if m, err := DecodeManifest(b); err == nil {
			once := AppendManifest(nil, m)
			again, err := DecodeManifest(once)
			if err != nil || !bytes.Equal(AppendManifest(nil, again), once) {
				t.Errorf("manifest: %v", err)
			}
		}
	})
}
