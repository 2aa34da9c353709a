package main

import (
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// list writes findings one a line: severity, kind, tool and action, evidence, text.
func list(findings []eval.Finding) string {
	var lines []string
	for _, f := range findings {
		var at []string
		for _, e := range f.Evidence {
			at = append(at, e.Step+e.Pointer)
		}
		lines = append(lines, strings.Join([]string{string(f.Severity), f.Kind, strings.TrimSpace(f.Tool + " " + f.Action), "[" + strings.Join(at, " ") + "]", f.Text}, " "))
	}
	return strings.Join(lines, "\n")
}

// situation is a trial with what the detector of that name must find in it.
type situation struct {
	name, detector, params string
	steps, tools           string
	before, after, answer  string
	capabilities           []string
	want                   string
}

func (tt *situation) input() eval.ScoreInput {
	return eval.ScoreInput{
		Steps: steptest.Steps(tt.steps), Tools: steptest.Tools(tt.tools), Answer: tt.answer,
		StateBefore: eval.JSON(tt.before), State: eval.JSON(tt.after), HostCapabilities: tt.capabilities,
	}
}

func run(t *testing.T, tests []situation) {
	t.Helper()
	for _, tt := range tests {
		out := scorertest.One(t, tt.input(), tt.detector, tt.params)
		got := list(out.Findings)
		if out.State == eval.ScoreErrored {
			got = "error: " + out.Reason
		}
		if got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
		for _, f := range out.Findings {
			if f.Source != "findings/"+tt.detector || f.Suggestion == "" {
				t.Errorf("%s: source %q, suggestion %q", tt.name, f.Source, f.Suggestion)
			}
		}
	}
}

func TestFailingTools(t *testing.T) {
	run(t, []situation{
		{name: "one failure, then it works", detector: "failing_tools", steps: `
			call a cms/put {"html":"<p>a</p><p>b</p>"}
			error a one root element in a call, not 2
			call b cms/put {"html":"<p>a</p>"}
			ok b x`,
			want: "minor tool_error cms/put [s1 s3] A call failed, and a later one worked (cms/put, 1 of 2 calls): one root element in a call, not 2"},
		{name: "one failure and no more", detector: "failing_tools", steps: "call a cms/put {}\nerror a no",
			want: "major tool_error cms/put [s1] A call failed (cms/put, 1 call): no"},
		{name: "it worked before, and then not", detector: "failing_tools", steps: "call a cms/put {}\nok a x\ncall b cms/put {\"a\":1}\nerror b no",
			want: "major tool_error cms/put [s3] A call failed (cms/put, 1 of 2 calls): no"},
		{name: "never works", detector: "failing_tools", steps: "call a cms/put {}\nerror a no\ncall b cms/put {}\nerror b no",
			want: "major tool_error cms/put [s1 s3] Every call failed (cms/put, 2 calls): no"},
		{name: "never works, in disguise", detector: "failing_tools", steps: "call a cms/open {}\nok a {\"status\":false,\"error\":\"closed\"}\ncall b cms/open {}\nerror b no",
			want: `major tool_error cms/open [s1 s3] Every call failed (cms/open, 2 calls): {"status":false,"error":"closed"}`},
		{name: "two ways, then it works", detector: "failing_tools", steps: `
			call a cms/put {"date":"today"}
			error a bad date
			call b cms/put {"date":"1 May"}
			error b bad date
			call c cms/put {"date":"2026-05-01"}
			ok c x`,
			want: "minor confusing_tool cms/put [s1 s3 s5] The agent failed in 2 ways before one worked (cms/put, 2 of 3 calls): bad date"},
		{name: "three ways", detector: "failing_tools", steps: "call a s/x {\"a\":1}\nerror a no\ncall b s/x {\"a\":2}\nerror b no\ncall c s/x {\"a\":3}\nerror c no\ncall d s/x {\"a\":4}\nok d x",
			want: "major confusing_tool s/x [s1 s3 s5 s7] The agent failed in 3 ways before one worked (s/x, 3 of 4 calls): no"},
		{name: "the same call again is one way", detector: "failing_tools", steps: "call a s/x {\"a\":1,\"b\":2}\nerror a no\ncall b s/x {\"b\":2,\"a\":1}\nerror b no\ncall c s/x {}\nok c x",
			want: "minor tool_error s/x [s1 s3 s5] A call failed, and a later one worked (s/x, 2 of 3 calls): no"},
		{name: "a capability that the host lacks", detector: "failing_tools", tools: "cms/canvas requires=tab", steps: "call a cms/canvas {}\nok a {\"status\":false,\"error\":\"no tab\"}",
			want: `major missing_capability cms/canvas [s1] The tool needs tab, which the host does not have (cms/canvas, 1 call): {"status":false,"error":"no tab"}`},
		{name: "a capability that the host has", detector: "failing_tools", tools: "cms/canvas requires=tab", capabilities: []string{"tab"}, steps: "call a cms/canvas {}\nerror a no",
			want: "major tool_error cms/canvas [s1] A call failed (cms/canvas, 1 call): no"},
		{name: "an action of many", detector: "failing_tools", steps: `
			call a cms/data {"actions":[{"create_collection":{"name":"R"}},{"create_field":{"type":"colour"}}]}
			error a action 2 of 2 (create_field): "colour" is not known; done before it: [{"action":"create_collection","ok":true}]
			call b cms/data {"actions":[{"create_field":{"type":"color"}}]}
			ok b x`,
			want: `minor tool_error cms/data create_field [s1 s3] A call failed, and a later one worked (cms/data create_field, 1 of 2 calls): action 2 of 2 (create_field): "colour" is not known; done before it: [{"action":"create_collection","ok":true}]`},
		{name: "an action that the error does not name", detector: "failing_tools", steps: "call a cms/data {\"actions\":[{\"a_b\":{}},{\"c_d\":{}}]}\nerror a no",
			want: "major tool_error cms/data [s1] A call failed (cms/data, 1 call): no"},
		{name: "the host's own tools are not the target's", detector: "failing_tools", steps: "call a /Bash {}\nerror a no\ncall b s/x {}\nok b x"},
		{name: "only one tool", detector: "failing_tools", params: `{"tool":"y"}`, steps: "call a s/x {}\nerror a no\ncall b s/y {}\nok b x"},
		{name: "what the host kept back is no failure", detector: "failing_tools",
			steps: "call a s/x {}\nerror a Error: result (99,999 characters) exceeds maximum allowed tokens. Output has been saved to /w/x.txt"},
	})
}

func TestHiddenErrors(t *testing.T) {
	run(t, []situation{
		{name: "status false", detector: "hidden_errors", steps: "call a s/x {}\nok a {\"ok\":false}\ncall b s/x {}\nok b Error: no",
			want: `major misleading_success s/x [s1 s3] A result reports a failure, but is not marked as an error (s/x, 2 calls): {"ok":false}`},
		{name: "marked", detector: "hidden_errors", steps: "call a s/x {}\nerror a Error: no"},
		{name: "a page on errors", detector: "hidden_errors", steps: "call a s/x {}\nok a Error handling guide"},
	})
}

func TestResults(t *testing.T) {
	kept := "Error: result (72,704 characters) exceeds maximum allowed tokens. Output has been saved to /home/a/.out/call_9.txt."
	run(t, []situation{
		{name: "over 64 KiB", detector: "large_results", steps: "call a s/styles {}\nok a x | bytes=72704\ncall b s/styles {\"p\":1}\nok b x | bytes=65536",
			want: "minor oversized_result s/styles [s1] A result is very large (s/styles, 1 call, up to 71 KiB)"},
		{name: "over less", detector: "large_results", params: `{"large_kib":10}`, steps: "call a s/styles {}\nok a x | bytes=10241",
			want: "minor oversized_result s/styles [s1] A result is very large (s/styles, 1 call, up to 10 KiB)"},
		{name: "kept from the agent, which reads it in a shell", detector: "large_results", steps: `
			call a s/styles {}
			ok a ` + kept + ` | bytes=72704
			call b /Bash {"command":"jq '.styles[].name' /home/a/.out/call_9.txt"}
			ok b hero
			call c /Bash {"command":"ls"}
			ok c x`,
			want: "major oversized_result s/styles [s1 s3] A result was too large for the host, which kept it from the agent (s/styles, 1 call, up to 71 KiB); the agent read it with tools of the host, 1 call"},
		{name: "a bad limit", detector: "large_results", params: `{"large_kib":-1}`, steps: "call a s/x {}", want: "error: large_kib must not be negative"},
		{name: "slow", detector: "slow_calls", steps: "call a s/x {}\nok a x | ms=45500\ncall b s/x {}\nok b x | ms=30000\ncall c s/y {}\nok c x",
			want: "minor slow s/x [s1] A call was slow (s/x, 1 call): up to 45.5 s"},
		{name: "the same again", detector: "repeated_calls", steps: "call a s/x {\"a\":1}\nok a r\ncall b s/x {\"a\": 1}\nok b r\ncall c s/x {\"a\":2}\nok c r\ncall d s/x {\"a\":1}\nok d r",
			want: "minor repeated_call s/x [s1 s3 s7] The same call was made again and again with the same result (s/x, 3 calls)"},
		{name: "waiting is no repeat", detector: "repeated_calls", steps: "call a s/x {}\nok a 1\ncall b s/x {}\nok b 2\ncall c s/x {}\nok c 3"},
	})
}

func TestUnchangedState(t *testing.T) {
	const state = `{"pages":[{"id":"page_1","name":"Home","at":"1"}]}`
	create := "call a s/pages_create {\"name\":\"Recipes\"}\nok a created\n"
	run(t, []situation{
		{name: "nothing was done", detector: "unchanged_state", before: state, after: state, steps: create,
			want: `major misleading_success s/pages_create [s1 s2] A call said that it had worked, but the state is what it was before (s/pages_create, 1 call): "Recipes" is nowhere in it`},
		{name: "something else changed", detector: "unchanged_state", before: state, after: `{"pages":[]}`, steps: create},
		{name: "only the time changed", detector: "unchanged_state", params: `{"ignore":["$..at"]}`, before: state, after: strings.Replace(state, `"1"`, `"2"`, 1), steps: create,
			want: `major misleading_success s/pages_create [s1 s2] A call said that it had worked, but the state is what it was before (s/pages_create, 1 call): "Recipes" is nowhere in it`},
		{name: "made and deleted", detector: "unchanged_state", before: state, after: state, steps: create + "call b s/pages_delete {\"page_id\":\"page_2\"}\nok b x"},
		{name: "deleted and still there", detector: "unchanged_state", before: state, after: state, steps: "call b s/pages_delete {\"page_id\":\"page_1\"}\nok b x",
			want: `major misleading_success s/pages_delete [s1 s2] A call said that it had worked, but the state is what it was before (s/pages_delete, 1 call): "page_1" is still there`},
		{name: "a failure says so", detector: "unchanged_state", before: state, after: state, steps: "call a s/pages_create {\"name\":\"Recipes\"}\nerror a no"},
		{name: "set to what it was", detector: "unchanged_state", before: state, after: state, steps: "call a s/pages_update {\"page_id\":\"page_1\",\"name\":\"Home\"}\nok a x"},
		{name: "a query is no write", detector: "unchanged_state", before: state, after: state, steps: "call a s/pages_search {\"q\":\"Recipes\"}\nok a none"},
		{name: "a tool whose name says nothing", detector: "unchanged_state", before: state, after: state, steps: "call a s/pages {\"name\":\"Recipes\"}\nok a x"},
		{name: "that the suite knows", detector: "unchanged_state", params: `{"writes":["pages"]}`, before: state, after: state, steps: "call a s/pages {\"name\":\"Recipes\"}\nok a x",
			want: `major misleading_success s/pages [s1 s2] A call said that it had worked, but the state is what it was before (s/pages, 1 call): "Recipes" is nowhere in it`},
		{name: "an action", detector: "unchanged_state", before: state, after: state, steps: `call a s/tool {"actions":[{"create_page":{"name":"Recipes"}}]}` + "\nok a x",
			want: `major misleading_success s/tool create_page [s1 s2] A call said that it had worked, but the state is what it was before (s/tool create_page, 1 call): "Recipes" is nowhere in it`},
		{name: "a bad query", detector: "unchanged_state", params: `{"ignore":["x"]}`, before: state, after: state, steps: create, want: "error: query \"x\", character 1: a query begins with $"},
	})
}

func TestSilentChanges(t *testing.T) {
	const before, after = `{"styles":[{"name":"hero"}]}`, `{"styles":[{"name":"hero"},{"name":"hero-2"}],"published":{"styles":[{"name":"hero-2"}]}}`
	create := "call a s/styles_create {\"name\":\"hero\"}\n"
	run(t, []situation{
		{name: "renamed, and the reply does not show it", detector: "silent_changes", before: before, after: after, steps: create + "ok a created",
			want: `major silent_change s/styles_create [s1 s2 /styles/1/name] The name was changed silently (s/styles_create): asked for "hero" and got "hero-2", which the reply does not show`},
		{name: "the reply shows it without a word", detector: "silent_changes", before: before, after: after, steps: create + `ok a {"name":"hero-2"}`,
			want: `minor silent_change s/styles_create [s1 s2 /styles/1/name] The name was changed silently (s/styles_create): asked for "hero" and got "hero-2", which the reply shows without a word`},
		{name: "and the agent went on with the old name", detector: "silent_changes", before: before, after: after,
			steps: create + `ok a {"name":"hero-2"}` + "\ncall b s/build {\"html\":\"<p class='hero'>x</p>\"}\nok b x",
			want:  `major silent_change s/styles_create [s1 s2 /styles/1/name s3] The name was changed silently (s/styles_create): asked for "hero" and got "hero-2", which the reply shows without a word; the agent went on with the old name`},
		{name: "the reply says why", detector: "silent_changes", before: before, after: after, steps: create + "ok a hero is taken, created hero-2"},
		{name: "the agent asked for it", detector: "silent_changes", before: before, after: after, steps: create + "ok a x\ncall b s/styles_create {\"name\":\"hero-2\"}\nok b x"},
		{name: "it was there before", detector: "silent_changes", before: after, after: after, steps: create + "ok a x"},
		{name: "another name altogether", detector: "silent_changes", before: before, after: `{"styles":[{"name":"hero"},{"name":"hero-image"}]}`, steps: create + "ok a x"},
		{name: "a call that failed", detector: "silent_changes", before: before, after: after, steps: create + "error a x"},
		{name: "a copy", detector: "silent_changes", before: before, after: `{"styles":[{"name":"hero (copy)"}]}`, steps: create + "ok a x",
			want: `major silent_change s/styles_create [s1 s2 /styles/0/name] The name was changed silently (s/styles_create): asked for "hero" and got "hero (copy)", which the reply does not show`},
		{name: "the second of two", detector: "silent_changes", before: `{"styles":[]}`, after: `{"styles":[{"name":"hero"},{"name":"hero_1"}]}`,
			steps: create + "ok a {\"name\":\"hero\"}\ncall b s/styles_create {\"name\":\"hero\"}\nok b {\"name\":\"hero_1\"}",
			want:  `minor silent_change s/styles_create [s3 s4 /styles/1/name] The name was changed silently (s/styles_create): asked for "hero" and got "hero_1", which the reply shows without a word`},
		{name: "spaces made dashes", detector: "silent_changes", before: before, after: `{"styles":[{"name":"hero"},{"name":"Big-Hero"}]}`,
			steps: "call a s/styles_create {\"name\":\"Big Hero\"}\nok a done",
			want:  `minor silent_change s/styles_create [s1 s2 /styles/1/name] The name was changed silently (s/styles_create): asked for "Big Hero" and got "Big-Hero", which the reply does not show`},
		{name: "a slug beside its name", detector: "silent_changes", before: `{}`, after: `{"pages":[{"name":"About us","slug":"about-us"}]}`, steps: "call a s/pages_create {\"name\":\"About us\"}\nok a x"},
	})
}

func TestLandedAfterError(t *testing.T) {
	const before, after = `{"pages":[]}`, `{"pages":[{"name":"Recipes"}]}`
	run(t, []situation{
		{name: "a time out that landed", detector: "landed_after_error", before: before, after: after, steps: "call a s/pages_create {\"name\":\"Recipes\"}\nerror a timed out",
			want: `major landed_after_error s/pages_create [s1 s2 /pages/0/name] A call failed, but its change was made (s/pages_create): "Recipes" is in the state, and no other call asked for it`},
		{name: "no answer", detector: "landed_after_error", before: before, after: after, steps: "call a s/pages_create {\"name\":\"Recipes\"}",
			want: `major landed_after_error s/pages_create [s1 /pages/0/name] A call got no answer, but its change was made (s/pages_create): "Recipes" is in the state, and no other call asked for it`},
		{name: "the second try made it", detector: "landed_after_error", before: before, after: after,
			steps: "call a s/pages_create {\"name\":\"Recipes\"}\nerror a timed out\ncall b s/pages_create {\"name\":\"Recipes\"}\nok b x"},
		{name: "another call's text", detector: "landed_after_error", before: before, after: `{"pages":[{"name":"Other"}]}`,
			steps: "call a s/pages_create {\"name\":\"Recipes\"}\nerror a timed out\ncall b s/pages_create {\"name\":\"Other\"}\nok b x"},
		{name: "gone after an error", detector: "landed_after_error", before: after, after: before, steps: "call l s/pages_list {}\nok l x\ncall a s/pages_delete {\"page_id\":\"p1\"}\nerror a 502",
			want: "major landed_after_error s/pages_delete [s3 s4 /pages/0] A call failed, but its change was made (s/pages_delete): the state changed, and no other call can have changed it"},
		{name: "the shell may have done it", detector: "landed_after_error", before: after, after: before, steps: "call a s/pages_delete {\"page_id\":\"p1\"}\nerror a 502\ncall b /Bash {\"command\":\"curl\"}\nok b x"},
		{name: "nothing changed", detector: "landed_after_error", before: after, after: after, steps: "call a s/pages_delete {}\nerror a 502"},
		{name: "the error tells what was done", detector: "landed_after_error", before: before, after: after,
			steps: `call a s/tool {"actions":[{"create_page":{"name":"Recipes"}},{"create_page":{"name":""}}]}` + "\nerror a action 2 of 2 (create_page): no name; done before it: page Recipes"},
	})
}

func TestDraftAsPublished(t *testing.T) {
	const before, draft = `{"pages":[{"t":"a"}],"published":{"pages":[{"t":"a"}]}}`, `{"pages":[{"t":"b"}],"published":{"pages":[{"t":"a"}]}}`
	update := "call a s/pages_update {\"t\":\"b\"}\nok a x\nsay Done"
	run(t, []situation{
		{name: "nobody published", detector: "draft_as_published", before: before, after: draft, steps: update, answer: "All done. The page is live now.",
			want: "major other  [s3 /pages] Said to be published, but the state has only a draft of it: The page is live now."},
		{name: "a tool did not", detector: "draft_as_published", before: before, after: draft, steps: "call a s/pages_update {\"t\":\"b\"}\nok a x\ncall b s/sites_publish {}\nok b ok", answer: "Published!",
			want: "major misleading_success s/sites_publish [s3 s4 /pages] Said to be published, but the state has only a draft of it: Published!"},
		{name: "a tool said so", detector: "draft_as_published", before: before, after: draft, steps: "call a s/pages_update {\"t\":\"b\"}\nok a The page was published.", answer: "Done.",
			want: "major misleading_success s/pages_update [s1 s2 /pages] Said to be published, but the state has only a draft of it: The page was published."},
		{name: "it is live", detector: "draft_as_published", before: before, after: `{"pages":[{"t":"b"}],"published":{"pages":[{"t":"b"}]}}`, steps: update, answer: "The page is live."},
		{name: "said to be a draft", detector: "draft_as_published", before: before, after: draft, steps: update, answer: "The page is not published yet. It can be published by hand. Is it published?"},
		{name: "an old draft of somebody else's", detector: "draft_as_published", before: draft, after: draft, steps: update, answer: "The page is live."},
		{name: "by its status", detector: "draft_as_published", before: `{"posts":[{"id":1,"status":"draft"}]}`, after: `{"posts":[{"id":1,"status":"draft"},{"id":2,"status":"draft"}]}`, steps: update, answer: "The post was published.",
			want: "major other  [s3 /posts/1] Said to be published, but the state has only a draft of it: The post was published."},
		{name: "queries of the suite's", detector: "draft_as_published", params: `{"draft":["$.working"],"live":["$.site"],"claims":["(?i)deployed"]}`,
			before: `{"working":1,"site":1}`, after: `{"working":2,"site":1}`, steps: update, answer: "It is deployed.",
			want: "major other  [s3 /working] Said to be published, but the state has only a draft of it: It is deployed."},
		{name: "half a pair", detector: "draft_as_published", params: `{"draft":["$.working"]}`, before: before, after: draft, steps: update, want: "error: draft and live must have as many queries each"},
		{name: "a bad expression", detector: "draft_as_published", params: `{"claims":["("]}`, before: before, after: draft, steps: update, want: "error: claims: error parsing regexp: missing closing ): `(`"},
	})
}

// findings/all has what each rule finds, and values the calls that none cites.
func TestAll(t *testing.T) {
	tt := situation{steps: `
		call a s/pages_list {}
		ok a x | bytes=72704
		call b s/pages_create {"name":"Recipes"}
		error b timed out
		call c s/pages_get {}
		ok c x
		call d s/pages_get {"a":1}
		ok d x`,
		before: `{"pages":[]}`, after: `{"pages":[{"name":"Recipes"}]}`}
	out := scorertest.One(t, tt.input(), "all", "")
	want := `major tool_error s/pages_create [s3] A call failed (s/pages_create, 1 call): timed out
minor oversized_result s/pages_list [s1] A result is very large (s/pages_list, 1 call, up to 71 KiB)
major landed_after_error s/pages_create [s3 s4 /pages/0/name] A call failed, but its change was made (s/pages_create): "Recipes" is in the state, and no other call asked for it`
	if got := list(out.Findings); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if out.Value != 0.5 || *out.Raw != 3 || out.Reason != "1 tool_error, 1 oversized_result, 1 landed_after_error in 4 calls" {
		t.Errorf("value %v, raw %v, reason %q", out.Value, *out.Raw, out.Reason)
	}
	tt.before, tt.after = "", ""
	out = scorertest.One(t, tt.input(), "all", "")
	if *out.Raw != 2 || out.Reason != "1 tool_error, 1 oversized_result in 4 calls; without the state, which nobody looked up" {
		t.Errorf("raw %v, reason %q", *out.Raw, out.Reason)
	}
	out = scorertest.One(t, tt.input(), "silent_changes", "")
	if out.State != eval.ScoreSkipped || out.Reason != "the trial has no state before and after the run" {
		t.Errorf("%s: %s", out.State, out.Reason)
	}
	out = scorertest.One(t, eval.ScoreInput{}, "all", "")
	if out.State != eval.ScoreSkipped || out.Reason != "the agent called none of these tools" {
		t.Errorf("%s: %s", out.State, out.Reason)
	}
}
