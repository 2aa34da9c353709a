package story

import (
	"strings"
	"sync"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

const header = "suite \"s\" {}\nhost \"a\" { driver = \"codex\" }\ntarget \"site\" { provisioner = \"sitebuilder\" }\n"

var trialVars = eval.Vars{
	Target: eval.JSON(`{"url":"http://127.0.0.1:4000","port":4000,"pages":["home","about"]}`),
	Trial:  eval.Trial{Story: "x", Variant: "hardened", Host: "claude", Repeat: 2},
}

func TestPrompt(t *testing.T) {
	tests := []struct{ name, prompt, want string }{
		{"constant", `"Make a page."`, "Make a page."},
		{"target", `"On ${target.url}, go."`, "On http://127.0.0.1:4000, go."},
		{"trial", `"${trial.story} ${trial.variant} ${trial.host} ${trial.repeat}"`, "x hardened claude 2"},
		{"number", `target.port`, "4000"},
		{"for", `join(",", [for p in target.pages : upper(p)])`, "HOME,ABOUT"},
		{"escaped", `"$${x} and %%{ if }"`, "${x} and %{ if }"},
		{"escaped beside a value", `"$${x} on ${target.port}"`, "${x} on 4000"},
		{"quotes", `"${upper("a\"b")}"`, `A"B`},
		{"heredoc", "<<EOT\n  one\n two\nEOT", "  one\n two\n"},
		{"heredoc with its own end inside", "<<EOT\nNOT_EOT\nEOT ET\nEOT", "NOT_EOT\nEOT ET\n"},
		{"flush heredoc", "<<-EOT\n    one\n      two\n\n    three\n  EOT", "one\n  two\n\nthree\n"},
		{"flush heredoc of tabs and spaces", "<<-EOT\n\t one\n\t\t two\n  EOT", "one\n two\n"},
		{"CRLF heredoc", "<<EOT\r\none\r\ntwo ${target.port}\r\nEOT", "one\ntwo 4000\n"},
		{"CRLF flush heredoc", "<<-EOT\r\n    one\r\n\r\n      two\r\n    EOT", "one\n\n  two\n"},
		{"written CR", `"a\r\nb"`, "a\r\nb"},
		{"file", `file("p.md")`, "literal ${name} and %{ if }\r\n"},
		{"template", `templatefile("p.tmpl", { url = target.url, n = 2 })`, "go to http://127.0.0.1:4000 2 times\n"},
		{"condition", `trial.variant == "hardened" ? file("p2.md") : file("p.md")`, "second"},
		{"try", `try(target.nothing, "none")`, "none"},
		{"can", `can(target.nothing.more) ? "yes" : "no"`, "no"},
		{"fileset", `join(" ", [for f in fileset(".", "*.md") : f])`, "p.md p2.md"},
		{"late fileset", `"${target.port}: ${length(fileset(".", "*.md"))}"`, "4000: 2"},
		{"late fileexists", `"${target.port}: ${fileexists("p.md")} ${fileexists("q.md")}"`, "4000: true false"},
		{"unicode", `"köp 🛒"`, "köp 🛒"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustLoad(t, map[string]string{
				"suite.hcl": header + "story \"x\" {\n  target = target.site\n  prompt = " + tt.prompt + "\n}\n",
				"p.md":      "literal ${name} and %{ if }\r\n", "p2.md": "second",
				"p.tmpl": "go to ${url}%{ if n > 1 } ${n} times%{ endif }\n",
			}, Options{})
			got, err := s.Stories[0].Turns[0].Prompt.Value(trialVars)
			if got != tt.want || err != nil {
				t.Errorf("Value = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestConstantPromptIsEvaluatedOnce(t *testing.T) {
	s := mustLoad(t, map[string]string{"suite.hcl": header + `story "x" { prompt = upper("go") }`}, Options{})
	if got, want := s.Stories[0].Turns[0].Prompt, fixed("GO"); got != want {
		t.Errorf("Prompt = %#v; want %#v", got, want)
	}
}

func TestLateErrors(t *testing.T) {
	tests := []struct{ prompt, want string }{
		{`"On ${target.ulr}"`, `suite.hcl:6: unsupported attribute: target has no attribute "ulr". It has: pages, port, url. Where it may be absent write try(target.ulr, DEFAULT)`},
		{`target.pages`, `suite.hcl:6: wrong type: "prompt": string required`},
		{`target.pages[7]`, `suite.hcl:6: invalid index`},
		{`target.port > 3 ? null : "x"`, `suite.hcl:6: no value: "prompt" has no value in this trial.`},
	}
	for _, tt := range tests {
		s := mustLoad(t, map[string]string{"suite.hcl": header + "story \"x\" {\n  target = target.site\n  prompt = " + tt.prompt + "\n}\n"}, Options{})
		_, err := s.Stories[0].Turns[0].Prompt.Value(trialVars)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: err = %v; want %q in it", tt.prompt, err, tt.want)
		}
	}
}

func TestLateParams(t *testing.T) {
	s := mustLoad(t, map[string]string{"suite.hcl": header + `
story "x" {
  target = target.site
  prompt = "x"
  assert "tools/called" {
    tool      = "go"
    arguments = { url = target.url, n = 1.5, list = [true, null] }
    max       = "3"
  }
  assert "tools/called" {
    tool = trial.variant
    min  = target.port
  }
  assert "tools/order" {
    steps = [{ tool = "a" }, { tool = target.pages[0], optional = true }]
  }
  assert "tools/not_called" { tool = "<b>" }
}`}, Options{})
	want := []struct{ name, params string }{
		{"tools/called", `{"tool":"go","min":1,"max":3,"arguments":{"list":[true,null],"n":1.5,"url":"http://127.0.0.1:4000"}}`},
		{"tools/called#2", `{"tool":"hardened","min":4000}`},
		{"tools/order", `{"steps":[{"optional":false,"tool":"a"},{"optional":true,"tool":"home"}]}`},
		{"tools/not_called", `{"tool":"\u003cb\u003e"}`},
	}
	for i, u := range s.Stories[0].Uses {
		got, err := u.Params.Value(trialVars)
		if u.Name != want[i].name || string(got) != want[i].params || err != nil {
			t.Errorf("use %d = %q, %s, %v; want %q, %s", i, u.Name, got, err, want[i].name, want[i].params)
		}
	}
	bad := eval.Vars{Target: eval.JSON(`{"url":"u","port":"many","pages":["home"]}`)}
	_, err := s.Stories[0].Uses[1].Params.Value(bad)
	if want := `suite.hcl:15: wrong value: "min" of scorer "tools/called": a number is required.`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("Value with a wrong type: err = %v; want %q", err, want)
	}
}

func TestLateValuesAreSafeForConcurrentUse(t *testing.T) {
	s := mustLoad(t, map[string]string{
		"suite.hcl": header + "story \"x\" {\n  target = target.site\n  prompt = templatefile(\"t.tmpl\", { p = target.pages[*] })\n" +
			"  check \"c\" { condition = calls[*].tool == [\"a\"] }\n}\n",
		"t.tmpl": "%{ for x in p }${x} %{ endfor }",
	}, Options{})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 20 {
				if got, err := s.Stories[0].Turns[0].Prompt.Value(trialVars); got != "home about " || err != nil {
					t.Errorf("Value = %q, %v", got, err)
				}
				if ok, _, err := s.Stories[0].Checks[0].Condition.Eval(eval.Facts{Calls: []eval.Call{{Tool: "a"}}}); !ok || err != nil {
					t.Errorf("Eval = %v, %v", ok, err)
				}
			}
		})
	}
	wg.Wait()
}
