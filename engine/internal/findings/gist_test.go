package findings

import (
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestGist(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"The answer has 71000 bytes", "the answer has § byte"},
		{"the  answer has 1 byte.", "the answer has § byte"},
		{"A call failed (cms/put, 1 of 2 calls): no", "a call failed cms/put § call no"},
		{`asked for "hero" and got "hero-2"`, "asked for § and got §"},
		{"asked for “cta” and got `cta-3`", "asked for § and got §"},
		{"it isn't what 'Home' needs", "it isn t what § need"},
		{"saved to /home/a/.out/call_9.txt: read it", "saved to § read it"},
		{`saved to C:\out\x.txt (large)`, "saved to § large"},
		{"see https://a.example/x?id=4 now", "see § now"},
		{"page 3fa85f64-5717-4562-b3fc-2c963f66afa6 is gone", "page § is gone"},
		{"page_12 and style_9 are gone", "§ and § are gone"},
		{"up to 45.5 s, up to 71 KiB", "up to § s up to § kib"},
		{"at 2026-11-30T12:00:00Z", "at §"},
		{"", ""},
		{"\xff\xfe 3", "§"},
	} {
		if got := gist(tt.text); got != tt.want {
			t.Errorf("gist(%q) = %q; want %q", tt.text, got, tt.want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	base := eval.Finding{Kind: "slow", Tool: "cms/put", Action: "add", Text: "A call took 31 s", Severity: eval.SeverityMinor}
	want := Fingerprint(base)
	if len(want) != 12 {
		t.Errorf("fingerprint %q has not 12 characters", want)
	}
	for name, change := range map[string]func(f *eval.Finding){
		"number":   func(f *eval.Finding) { f.Text = "A call took 4 s" },
		"case":     func(f *eval.Finding) { f.Text = "a call took 31 s!" },
		"severity": func(f *eval.Finding) { f.Severity = eval.SeverityMajor },
		"evidence": func(f *eval.Finding) { f.Evidence = []eval.Evidence{{Step: "s1"}} },
		"source":   func(f *eval.Finding) { f.Source = "judge/x" },
	} {
		f := base
		if change(&f); Fingerprint(f) != want {
			t.Errorf("another %s makes it another finding", name)
		}
	}
	for name, change := range map[string]func(f *eval.Finding){
		"kind":   func(f *eval.Finding) { f.Kind = "other" },
		"tool":   func(f *eval.Finding) { f.Tool = "cms/get" },
		"action": func(f *eval.Finding) { f.Action = "" },
		"text":   func(f *eval.Finding) { f.Text = "A call never ended" },
	} {
		f := base
		if change(&f); Fingerprint(f) == want {
			t.Errorf("another %s makes the same finding", name)
		}
	}
}

func FuzzGist(f *testing.F) {
	f.Add(`A call failed ("x", 3 of 4): /tmp/a https://b.example/?id=3`)
	f.Add("\xff“`'")
	f.Fuzz(func(t *testing.T, text string) {
		if g := gist(text); gist(text) != g || len(g) > 8<<10 {
			t.Errorf("gist(%q) = %q, then another or %d bytes", text, g, len(g))
		}
		a, b := sketchOf("", "", text), sketchOf("", "", text+" 17")
		if s := similarity(a, b); s < 0 || s > 1 || s != similarity(b, a) {
			t.Errorf("similarity of %q and itself with a number is %v, the other way round %v", text, s, similarity(b, a))
		}
	})
}
