package trial

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

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
