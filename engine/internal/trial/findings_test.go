package trial

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
	want := fingerprint(base)
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
		if change(&f); fingerprint(f) != want {
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
		if change(&f); fingerprint(f) == want {
			t.Errorf("another %s makes the same finding", name)
		}
	}
}

func TestSayOnce(t *testing.T) {
	at := func(kind, tool, source string, steps ...string) eval.Finding {
		f := eval.Finding{Kind: kind, Tool: tool, Source: source}
		for _, s := range steps {
			f.Evidence = append(f.Evidence, eval.Evidence{Step: s})
		}
		return f
	}
	oversized, failing := at("oversized_result", "cms/list", "findings/all", "s1"), at("tool_error", "cms/put", "findings/all", "s3", "s5")
	again := at("repeated_call", "cms/get", "engine", "s7", "s9")
	for _, tt := range []struct {
		name       string
		list, want []eval.Finding
	}{
		{"the engine's, without a step", []eval.Finding{at("host_truncated_result", "cms/list", "engine"), oversized}, []eval.Finding{oversized}},
		{"another scorer's of the same step", []eval.Finding{failing, at("repeated_failure", "cms/put", "path/effort", "s5")}, []eval.Finding{failing}},
		{"of another step", []eval.Finding{failing, at("repeated_failure", "cms/put", "path/effort", "s9")}, []eval.Finding{failing, at("repeated_failure", "cms/put", "path/effort", "s9")}},
		{"of another tool", []eval.Finding{at("verbose_result", "cms/get", "path/effort", "s1"), oversized}, []eval.Finding{at("verbose_result", "cms/get", "path/effort", "s1"), oversized}},
		{"a bare name", []eval.Finding{at("mcp_error_in_success", "open", "engine"), at("misleading_success", "cms/open", "findings/all", "s1")},
			[]eval.Finding{at("misleading_success", "cms/open", "findings/all", "s1")}},
		{"one kind, two finders", []eval.Finding{again, at("repeated_call", "cms/get", "findings/all", "s9")}, []eval.Finding{again}},
		{"one finder's own", []eval.Finding{failing, at("repeated_failure", "cms/put", "findings/all", "s5")}, []eval.Finding{failing, at("repeated_failure", "cms/put", "findings/all", "s5")}},
		{"none", nil, nil},
	} {
		if d := cmp.Diff(sayOnce(tt.list), tt.want); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

func TestSettle(t *testing.T) {
	cites := func(steps ...string) eval.Finding {
		f := eval.Finding{Kind: "other", Text: "x " + steps[0], Source: "judge/x"}
		for _, s := range steps {
			f.Evidence = append(f.Evidence, eval.Evidence{Step: s})
		}
		return f
	}
	list := []eval.Finding{cites("s1"), cites("s99"), cites("s2", "s3"), {Kind: "other", Text: "x", Evidence: []eval.Evidence{{Pointer: "/a"}}}}
	var got []bool
	for _, f := range settle(list, []eval.Step{{ID: "s1"}, {ID: "s2"}}) {
		got = append(got, f.Unverified)
		if len(f.Fingerprint) != 12 {
			t.Errorf("finding %+v has no fingerprint", f)
		}
	}
	if d := cmp.Diff(got, []bool{false, true, true, false}); d != "" {
		t.Errorf("unverified: %s", d)
	}
	if list[1].Unverified {
		t.Error("the finder's own list was changed")
	}
}
