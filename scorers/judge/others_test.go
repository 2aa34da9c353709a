package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// looks is a reply of judge/visual with one finding.
func looks(grade, pictures string) string {
	one := func(name string) string { return `"` + name + `":{"reason":"","pictures":[1],"grade":` + grade + `}` }
	return `{` + one("brief") + `,` + one("layout") + `,` + one("polish") + `,"summary":"","findings":[` +
		`{"kind":"broken_image","severity":"minor","text":"The logo is broken.","pictures":[` + pictures + `],"suggestion":""}]}`
}

// images are the pictures of a request.
func images(q *eval.ModelRequest) string {
	var list []string
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			if p.Image != nil {
				of := ""
				if p.Image.Gold {
					of = "gold "
				}
				list = append(list, of+p.Image.Page+"/"+strconv.Itoa(p.Image.Shot)+"/"+strconv.Itoa(p.Image.Tile))
			}
		}
	}
	return strings.Join(list, ", ")
}

func TestVisual(t *testing.T) {
	m := says(looks("3", "2"))
	o := ask(t, m, target(), "visual", `{"brief":"Calm and clear."}`)
	if o.State != eval.Scored || o.Value != 0.75 || *o.Raw != 3 || o.Reason != "brief 3 of 4; layout 3 of 4; polish 3 of 4" {
		t.Fatalf("got %+v", o)
	}
	if len(o.Findings) != 1 || o.Findings[0].Unverified || o.Findings[0].Evidence[0].Page != "home" || o.Evidence[0].Page != "home" {
		t.Errorf("findings %+v, evidence %+v", o.Findings, o.Evidence)
	}
	if got, want := images(m.Requests[0]), "home/0/0, home/0/1, about/0/0"; got != want {
		t.Errorf("images %s; want %s", got, want)
	}
	for _, want := range []string{
		"Calm and clear.", "Of page \"home\" at a viewport of 1280x800: the page is 1200 px high, its tiles cover 1200 px from the top",
		"All 2 tiles shown.", "Picture 1: tile 1 of 2, from y = 0 px, 800 px high.", "Picture 2: tile 2 of 2, from y = 800 px, 400 px high.", "Picture 3: tile 1 of 1, from y = 0 px, 800 px high.",
	} {
		if !strings.Contains(words(m.Requests[0]), want) {
			t.Errorf("the request lacks %q", want)
		}
	}
	for _, pictures := range []string{"", "4", "0", "-1", "1,9"} {
		o = ask(t, says(looks("3", pictures)), target(), "visual", `{}`)
		if len(o.Findings) != 1 || !o.Findings[0].Unverified {
			t.Errorf("pictures %q: %+v; want unverified", pictures, o.Findings)
		}
	}
}

func TestVisualPages(t *testing.T) {
	broken := target()
	broken.Pages[1].Shots, broken.Pages[1].Error = nil, "the page did not answer"
	none := target()
	none.Pages = nil
	all := target()
	for i := range all.Pages {
		all.Pages[i].Shots, all.Pages[i].Error = nil, "no browser"
	}
	for _, test := range []struct {
		in             eval.ScoreInput
		params         string
		state          eval.ScoreState
		reason, images string
	}{
		{target(), `{"pages":["about"]}`, eval.Scored, "", "about/0/0"},
		{target(), `{"pages":["*o*"]}`, eval.Scored, "", "home/0/0, home/0/1, about/0/0"},
		{target(), `{"pages":["shop"]}`, eval.ScoreErrored, `no captured page is named "shop"`, ""},
		{target(), `{"max_images":0}`, eval.ScoreErrored, "max_images must be a whole number from 1 to 100", ""},
		{target(), `{"max_images":1}`, eval.Scored, "", "home/0/0"},
		{target(), `{"max_images":2}`, eval.Scored, "", "home/0/0, about/0/0"},
		{broken, `{}`, eval.Scored, "", "home/0/0, home/0/1"},
		{none, `{}`, eval.ScoreSkipped, "no page was captured", ""},
		{all, `{}`, eval.ScoreErrored, "none of the pages could be taken: no browser", ""},
	} {
		m := says(looks("4", "1"))
		o := ask(t, m, test.in, "visual", test.params)
		got := ""
		if len(m.Requests) > 0 {
			got = images(m.Requests[0])
		}
		if o.State != test.state || got != test.images || test.reason != "" && o.Reason != test.reason {
			t.Errorf("%s: got %s %q with %s; want %s %q with %s", test.params, o.State, o.Reason, got, test.state, test.reason, test.images)
		}
	}
	m := says(looks("4", "1"))
	ask(t, m, broken, "visual", `{}`)
	if got := words(m.Requests[0]); !strings.Contains(got, "could not be taken: the page did not answer") {
		t.Error("the request does not tell of the page that could not be taken")
	}
}

// Of a page of 78,000 px not all tiles are sent: first, last and others evenly, and
// the judge is told.
func TestMorePicturesThanAllowed(t *testing.T) {
	in := target()
	tiles := make([]int, 39)
	for i := range tiles {
		tiles[i] = 2000
	}
	in.Pages = []eval.Page{page("tall", 78_000, tiles...), page("home", 800, 800)}
	m := says(looks("4", "1"))
	ask(t, m, in, "visual", `{"max_images":6}`)
	if got, want := images(m.Requests[0]), "tall/0/0, tall/0/10, tall/0/19, tall/0/29, tall/0/38, home/0/0"; got != want {
		t.Errorf("images %s; want %s", got, want)
	}
	got := words(m.Requests[0])
	for _, want := range []string{"the page is 78000 px high, its tiles cover 78000 px", "Of its 39 tiles these are shown: 1, 11, 20, 30, 39. What the others show is unknown to you.",
		"Picture 5: tile 39 of 39, from y = 76000 px, 2,000 px high."} {
		if !strings.Contains(got, want) {
			t.Errorf("the request lacks %q", want)
		}
	}
}

func TestPairwise(t *testing.T) {
	prefers := func(first, second string) *scorertest.Model {
		one := func(p string) string { return `{"reason":"It is so.","preference":"` + p + `"}` }
		return says(one(first), one(second))
	}
	for _, test := range []struct {
		first, second string
		value, raw    float64
		reason        string
	}{
		{"A", "B", 1, 1, "trial preferred (1) over both orders. trial shown first: trial preferred (1), because It is so; gold shown first: trial preferred (1), because It is so. No position bias"},
		{"B", "A", 0, -1, "gold preferred (0) over both orders. trial shown first: gold preferred (0), because It is so; gold shown first: gold preferred (0), because It is so. No position bias"},
		{"A", "A", 0.5, 0, "a tie (0.5) over both orders. trial shown first: trial preferred (1), because It is so; gold shown first: gold preferred (0), because It is so. Position bias 0.5 towards what is shown first"},
		{"B", "B", 0.5, 0, "a tie (0.5) over both orders. trial shown first: gold preferred (0), because It is so; gold shown first: trial preferred (1), because It is so. Position bias 0.5 towards what is shown second"},
		{"tie", "tie", 0.5, 0, "a tie (0.5) over both orders. trial shown first: a tie (0.5), because It is so; gold shown first: a tie (0.5), because It is so. No position bias"},
		{"tie", "A", 0.25, -0.5, "gold preferred (0.25) over both orders. trial shown first: a tie (0.5), because It is so; gold shown first: gold preferred (0), because It is so. Position bias 0.25 towards what is shown first"},
	} {
		m := prefers(test.first, test.second)
		o := ask(t, m, target(), "pairwise", `{"brief":"Calm."}`)
		if o.State != eval.Scored || o.Value != test.value || *o.Raw != test.raw || o.Unit != "preference" || o.Reason != test.reason || len(o.Samples) != 2 {
			t.Errorf("%s %s: got %+v; want %v %q", test.first, test.second, o, test.value, test.reason)
		}
		if got, want := images(m.Requests[0])+" | "+images(m.Requests[1]),
			"home/0/0, home/0/1, about/0/0, gold home/0/0 | gold home/0/0, home/0/0, home/0/1, about/0/0"; got != want {
			t.Errorf("images %s; want %s", got, want)
		}
		if q := words(m.Requests[0]); strings.Contains(strings.ToLower(strings.ReplaceAll(q, `"gold`, "")), " gold") || !strings.Contains(q, "Calm.") {
			t.Error("the judge is told which result is the gold")
		}
	}
}

func TestPairwiseWithoutAPair(t *testing.T) {
	stale, none, apart := target(), target(), target()
	stale.GoldStale = "the story changed"
	none.GoldState, none.GoldPages = nil, nil
	apart.GoldPages, apart.State = nil, nil
	for reason, in := range map[string]eval.ScoreInput{
		"the gold is stale: the story changed": stale, "the story has no gold": none, "trial and gold have neither states nor pages in common": apart,
	} {
		if o := ask(t, says("{}"), in, "pairwise", `{}`); o.State != eval.ScoreSkipped || o.Reason != reason {
			t.Errorf("got %s %q; want skipped %q", o.State, o.Reason, reason)
		}
	}
	other, gone := target(), target()
	other.GoldTrial, gone.GoldTrial, gone.GoldStale = "s.base.h.r2", "s.base.h.r2", "it has no record"
	if o := ask(t, says(`{"reason":"","preference":"B"}`, `{"reason":"","preference":"A"}`), other, "pairwise", `{}`); o.Value != 0 || !strings.HasPrefix(o.Reason, "s.base.h.r2 preferred (0) over both orders. trial shown first: s.base.h.r2 preferred") {
		t.Errorf("against another trial: got %v %q", o.Value, o.Reason)
	}
	if o := ask(t, says("{}"), gone, "pairwise", `{}`); o.State != eval.ScoreSkipped || o.Reason != "not compared with s.base.h.r2: it has no record" {
		t.Errorf("got %s %q; want skipped", o.State, o.Reason)
	}
	o := ask(t, says("no"), target(), "pairwise", `{}`)
	if want := "trial shown first: no usable reply, asked twice: the reply holds no JSON object; then the reply holds no JSON object"; o.State != eval.ScoreErrored || o.Reason != want {
		t.Errorf("got %s %q; want errored %q", o.State, o.Reason, want)
	}
}

// Samples stand in pairs, one in each order; an answer that has no counterpart in the
// other order counts for nothing.
func TestPairwiseSamples(t *testing.T) {
	one := func(p string) string { return `{"reason":"","preference":"` + p + `"}` }
	m := &scorertest.Model{Reply: func(n int, _ *eval.ModelRequest) *eval.ModelReply {
		switch n {
		case 0:
			return scorertest.Answers(one("A"), one("A"), one("tie"))
		case 1:
			return scorertest.Answers(one("B"), "?", one("A"))
		}
		return scorertest.Answers("?")
	}}
	o := ask(t, m, target(), "pairwise", `{"samples":3}`)
	if d := cmp.Diff([]float64{1, 1, 1, 0}, o.Samples); d != "" || o.Value != 0.75 {
		t.Errorf("value %v, samples %v; want 0.75", o.Value, o.Samples)
	}
	if want := " [2 of 3 samples can be used in both orders: no usable reply, asked twice: the reply holds no JSON object; then the reply holds no JSON object]"; !strings.HasSuffix(o.Reason, "Position bias 0.25 towards what is shown first"+want) {
		t.Errorf("reason %q", o.Reason)
	}
}

// panelOf is a model block for each reply.
func panelOf(t *testing.T, params string, byModel map[string]string, models ...string) eval.ScoreOutput {
	t.Helper()
	m := &scorertest.Model{Reply: func(_ int, q *eval.ModelRequest) *eval.ModelReply {
		text, ok := byModel[q.Model]
		if !ok {
			return scorertest.Refuses(eval.FailureBusy, "")
		}
		answers := make([]string, max(q.Samples, 1))
		for i := range answers {
			answers[i] = text
		}
		return scorertest.Answers(answers...)
	}}
	u := scorertest.Use("panel", params)
	u.Models = models
	return scorertest.RunWith(t, m, target(), u)[0]
}

func TestPanel(t *testing.T) {
	f := finding("tool_error", "pages_create", `"s3"`, "")
	by := map[string]string{"a": reply("4 4 4", f), "b": reply("2 2 2", f), "c": reply("3 3 3", finding("slow", "", `"s3"`, "")), "bad": "?"}
	for _, test := range []struct {
		params, models string
		state          eval.ScoreState
		value          float64
		samples        int
		findings       int
		reason         string
	}{
		{`{}`, "a b c", eval.Scored, 0.75, 3, 2, "median of 3 models (a 4, b 2, c 3), 2 points apart, stdev 0.25. completion 3 of 4 (4 2 3): because of completion;"},
		{`{"samples":2}`, "a b", eval.Scored, 0.75, 4, 1, "median of 2 models (a 4, b 2), 2 points apart, stdev 0.289. completion 3 of 4 (4 4 2 2)"},
		{`{"samples":3}`, "b", eval.Scored, 0.5, 3, 1, "median of 3 samples, stdev 0. completion 2 of 4 (2 2 2)"},
		{`{}`, "a b bad", eval.Scored, 0.75, 2, 1, "median of 2 models (a 4, b 2), 2 points apart, stdev 0.354."},
		{`{}`, "a bad", eval.ScoreErrored, 0, 0, 0, "1 of 2 samples can be used: bad: no usable reply, asked twice: the reply holds no JSON object; then the reply holds no JSON object"},
		{`{}`, "a busy", eval.ScoreErrored, 0, 0, 0, "1 of 2 samples can be used: busy: the model was busy"},
		{`{}`, "a", eval.ScoreErrored, 0, 0, 0, "a panel has several models, or samples above 1"},
		{`{"judge":"jury"}`, "a b", eval.ScoreErrored, 0, 0, 0, `parameter "judge" is "jury", want one of transcript, visual`},
	} {
		o := panelOf(t, test.params, by, strings.Fields(test.models)...)
		if o.State != test.state || o.Value != test.value || len(o.Samples) != test.samples || len(o.Findings) != test.findings || !strings.HasPrefix(o.Reason, test.reason) {
			t.Errorf("%s %s: got %+v; want %s %v %q", test.params, test.models, o, test.state, test.value, test.reason)
		}
	}
	o := panelOf(t, `{}`, by, "a", "b", "bad")
	if want := " [2 of 3 samples can be used: bad: no usable reply, asked twice: the reply holds no JSON object; then the reply holds no JSON object]"; !strings.HasSuffix(o.Reason, want) {
		t.Errorf("reason %q; want the end %q", o.Reason, want)
	}
	if o := panelOf(t, `{"judge":"visual"}`, map[string]string{"a": looks("4", "1"), "b": looks("1", "1")}, "a", "b"); o.Value != 0.625 || len(o.Findings) != 1 {
		t.Errorf("visual: got %+v", o)
	}
}

func TestSamples(t *testing.T) {
	m := &scorertest.Model{Reply: func(n int, q *eval.ModelRequest) *eval.ModelReply {
		if n == 0 {
			return scorertest.Answers(reply("4 4 4", ""), reply("1 1 1", ""), "?", reply("2 2 2", ""), reply("3 3 3", ""))
		}
		return scorertest.Answers(reply("2 2 2", ""))
	}}
	o := ask(t, m, trial(), "transcript", `{"samples":5}`)
	if o.Value != 0.5 || *o.Raw != 2 || len(o.Samples) != 5 || len(m.Requests) != 2 || m.Requests[0].Samples != 5 || m.Requests[1].Samples != 1 {
		t.Errorf("got %+v after %d requests", o, len(m.Requests))
	}
	if want := "median of 5 samples, stdev 0.285. completion 2 of 4 (4 1 2 2 3)"; !strings.HasPrefix(o.Reason, want) {
		t.Errorf("reason %q; want %q", o.Reason, want)
	}
	// What is missing is left out and said, as long as most is there.
	m = &scorertest.Model{Reply: func(int, *eval.ModelRequest) *eval.ModelReply {
		r := scorertest.Answers(reply("4 4 4", ""), reply("4 4 4", ""))
		r.Failure = eval.FailureBudget
		return r
	}}
	if o := ask(t, m, trial(), "transcript", `{"samples":3}`); o.State != eval.Scored || !strings.HasSuffix(o.Reason, "[2 of 3 samples can be used: the budget does not allow another request]") {
		t.Errorf("got %+v", o)
	}
	if o := ask(t, m, trial(), "transcript", `{"samples":4}`); o.State != eval.ScoreErrored {
		t.Errorf("half of the samples: got %+v; want errored", o)
	}
}

// Same trial, same requests: a module is a pure function.
func TestSameRequests(t *testing.T) {
	var first string
	for range 5 {
		m := says(reply("4 4 4", ""))
		ask(t, m, long(300, 3000), "transcript", `{"window":50000}`)
		if got := words(m.Requests[0]); first == "" {
			first = got
		} else if got != first {
			t.Fatal("two requests of the same trial differ")
		}
	}
}

func BenchmarkTranscript(b *testing.B) {
	in := long(300, 300)
	u := scorertest.Use("transcript", `{}`)
	m := says(reply("4 4 4", finding("slow", "", `"s3"`, "lorem lorem")))
	for b.Loop() {
		m.Requests = nil
		scorertest.RunWith(b, m, in, u)
	}
}
