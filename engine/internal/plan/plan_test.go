package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

func suite() *eval.Suite {
	return &eval.Suite{
		Name: "s", Repeats: 2, Retries: 1,
		Hosts:   []eval.HostConfig{{Name: "claude", Driver: "claude-code"}, {Name: "codex", Driver: "codex"}},
		Targets: []eval.TargetConfig{{Name: "site", Provisioner: "sitebuilder"}},
		Stories: []eval.Story{
			{Name: "a", Tags: []string{"cms"}, Target: "site", Turns: make([]eval.Turn, 2),
				Variants: []eval.Variant{{Name: "original"}, {Name: "hardened"}},
				Checks:   []eval.Check{{Name: "c"}},
				Uses:     []eval.ScorerUse{{Scorer: "tools/called", Role: eval.RoleAssert}, {Scorer: "path/effort", Role: eval.RoleMeasure}}},
			{Name: "b", Hosts: []string{"codex"}, Repeats: 1, Turns: make([]eval.Turn, 1)},
		},
	}
}

func ids(p *Plan) []string {
	var out []string
	for _, t := range p.Trials {
		out = append(out, t.ID())
	}
	return out
}

func TestMake(t *testing.T) {
	for _, tt := range []struct {
		name string
		sel  Selection
		want []string
	}{
		{"all", Selection{}, []string{
			"a.original.claude.r1", "a.original.codex.r1", "a.hardened.claude.r1", "a.hardened.codex.r1", "b.base.codex.r1",
			"a.original.claude.r2", "a.original.codex.r2", "a.hardened.claude.r2", "a.hardened.codex.r2"}},
		{"globs", Selection{Stories: []string{"a"}, Variants: []string{"hard*"}, Hosts: []string{"c*x"}, Repeats: 1}, []string{"a.hardened.codex.r1"}},
		{"tag", Selection{Tags: []string{"cms"}, Hosts: []string{"claude"}, Repeats: 1}, []string{"a.original.claude.r1", "a.hardened.claude.r1"}},
	} {
		p, diags := Make(suite(), tt.sel)
		if diags.HasErrors() {
			t.Errorf("%s: %v", tt.name, diags)
			continue
		}
		if d := cmp.Diff(ids(p), tt.want); d != "" {
			t.Errorf("%s: got -, want +:\n%s", tt.name, d)
		}
	}
}

func TestMakeNeedsAndArms(t *testing.T) {
	p, _ := Make(suite(), Selection{})
	want := Needs{Drivers: []string{"claude-code", "codex"}, Provisioners: []string{"sitebuilder"}, Modules: []string{"path", "tools"}}
	if d := cmp.Diff(p.Needs, want); d != "" {
		t.Errorf("needs: %s", d)
	}
	if got, want := p.Arms[0], (Arm{Story: "a", Variant: "original", Host: "claude", Target: "site", Repeats: 2, Turns: 2, Asserts: 2, Others: 1}); got != want {
		t.Errorf("first arm = %+v; want %+v", got, want)
	}
	if p.MaxAttempts != 18 {
		t.Errorf("MaxAttempts = %d; want 18", p.MaxAttempts)
	}
}

func TestMakeUnmatched(t *testing.T) {
	_, diags := Make(suite(), Selection{Stories: []string{"nope"}, Hosts: []string{"[x"}})
	want := `--story "nope" matches nothing: The suite has a, b.; --host "[x" is not a valid glob`
	if diags.Error() != want {
		t.Errorf("diags = %q; want %q", diags.Error(), want)
	}
	_, diags = Make(suite(), Selection{Stories: []string{"b"}, Hosts: []string{"claude"}})
	if !diags.HasErrors() || diags[0].Summary != "nothing to run" {
		t.Errorf("diags = %v; want nothing to run", diags)
	}
}
