package main

import (
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// row is one use of a scorer and what comes of it: pass, fail, skip, error or a
// measure's value, with the reason and the evidence.
type row struct{ scorer, params, verdict, reason, evidence string }

// check runs rows against one trial.
func check(t *testing.T, in eval.ScoreInput, rows []row) {
	t.Helper()
	for _, r := range rows {
		verdict, reason, evidence := steptest.Sum(scorertest.One(t, in, r.scorer, r.params))
		if got := (row{r.scorer, r.params, verdict, reason, evidence}); got != r {
			t.Errorf("got %q\nwant %q", got, r)
		}
	}
}

func trial(steps, tools string) eval.ScoreInput {
	return eval.ScoreInput{Steps: steptest.Steps(steps), Tools: steptest.Tools(tools)}
}

func TestCalled(t *testing.T) {
	in := trial(`
		user make a collection
		call c1 cms/collections_create {"name":"A"}
		ok c1 done
		call c2 cms/collections_create {"name":"B"}
		error c2 no
		call c3 cms/publish {}
		call c4 cms/ghost {} | unconfirmed
		ok c4 fine
		call c5 /Bash {"command":"ls"} | turn=2
		ok c5 a
	`, "cms/collections_create\ncms/publish\ncms/pages_list\ncms/ghost")
	check(t, in, []row{
		{"called", `{"tool":"collections_create"}`, "pass", "collections_create was called 2 times", "s2 s4"},
		{"called", `{"tool":"cms/collections_create","status":"ok"}`, "pass", "cms/collections_create (ok) was called once", "s2"},
		{"called", `{"tool":"*_create","min":3}`, "fail", "*_create was called 2 times, want at least 3", "s2 s4"},
		{"called", `{"tool":"*_create","max":1}`, "fail", "*_create was called 2 times, want exactly 1", "s2 s4"},
		{"called", `{"tool":"publish"}`, "pass", "publish was called once", "s6"},
		{"called", `{"tool":"publish","status":"ok"}`, "fail", "publish (ok) was never called, want at least 1", ""},
		{"called", `{"tool":"publish","status":"unfinished"}`, "pass", "publish (unfinished) was called once", "s6"},
		{"called", `{"tool":"ghost"}`, "fail", "ghost was never called, want at least 1; 1 more call reported by the host, but never seen by the gateway", ""},
		{"called", `{"tool":"/Bash"}`, "pass", "/Bash was called once", "s9"},
		{"called", `{"tool":"/Bash","turn":1}`, "fail", "/Bash in turn 1 was never called, want at least 1", ""},
		{"called", `{"tool":"/WebSearch"}`, "fail", "/WebSearch was never called, want at least 1", ""},
		{"called", `{"tool":"collection_create"}`, "error", `tool "collection_create" is not offered by the target (closest: cms/collections_create); a tool of the host's own is written /collection_create`, ""},
		{"called", `{"tool":"WebSearch"}`, "error", `tool "WebSearch" is not offered by the target; a tool of the host's own is written /WebSearch`, ""},
		{"called", `{"tool":"publish","min":-1}`, "error", "min must be a whole number from 0 on", ""},
		{"called", `{"tool":"publish","min":2,"max":1}`, "error", "max is less than min", ""},
		{"called", `{}`, "error", `parameter "tool" is required`, ""},
		{"count", `{"tool":"*_create","equals":2}`, "pass", "*_create was called 2 times", "s2 s4"},
		{"count", `{"tool":"pages_list","equals":0}`, "pass", "pages_list was never called", ""},
		{"count", `{"tool":"*","min":5,"max":6}`, "fail", "* was called 4 times, want 5 to 6; 1 more call reported by the host, but never seen by the gateway", "s2 s4 s6 s9"},
		{"count", `{"tool":"*"}`, "error", "give min or max or equals", ""},
		{"count", `{"tool":"*","min":1,"equals":1}`, "error", "give equals, or min and max", ""},
		{"count", `{"tool":"*","min":1.5}`, "error", "min must be a whole number from 0 on", ""},
		{"not_called", `{"tool":"*_delete"}`, "pass", "no call of *_delete", ""},
		{"not_called", `{"tool":"*_create","tools":["ghost"]}`, "fail", "cms/collections_create, cms/ghost were called 3 times", "s2 s4 s7"},
		{"not_called", `{"tool":"*_create","status":"error"}`, "fail", "cms/collections_create was called once", "s4"},
		{"not_called", `{}`, "error", "give tool or tools", ""},
	})
}

// One tool name on two servers is ambiguous until the suite says which.
func TestSameNameOnTwoServers(t *testing.T) {
	in := trial(`
		call c1 stage/search {}
		ok c1 x
	`, "prod/search\nstage/search")
	check(t, in, []row{
		{"called", `{"tool":"search"}`, "error", `tool "search" is ambiguous: write prod/search or stage/search, or */search for any of them`, ""},
		{"called", `{"tool":"*/search"}`, "pass", "*/search was called once", "s1"},
		{"called", `{"tool":"prod/search"}`, "fail", "prod/search was never called, want at least 1", ""},
		{"called", `{"tool":"stage/search"}`, "pass", "stage/search was called once", "s1"},
		{"order", `{"tools":["search"]}`, "error", `tool "search" is ambiguous: write prod/search or stage/search, or */search for any of them`, ""},
		{"not_called", `{"tool":"search"}`, "fail", "stage/search was called once", "s1"},
	})
}

// Separators within names are part of them.
func TestNamesWithSeparators(t *testing.T) {
	in := eval.ScoreInput{Tools: []eval.Tool{
		{Server: "my__srv", Name: "user-profile/update"}, {Server: "my__srv", Name: "admin.tools.list"}, {Server: "my__srv", Name: "a__b"},
	}, Steps: []eval.Step{
		{ID: "s1", Turn: 1, Kind: eval.StepToolCall, CallID: "1", Server: "my__srv", Tool: "user-profile/update"},
		{ID: "s2", Turn: 1, Kind: eval.StepToolCall, CallID: "2", Server: "my__srv", Tool: "a__b"},
	}}
	check(t, in, []row{
		{"called", `{"tool":"user-profile/update"}`, "pass", "user-profile/update was called once", "s1"},
		{"called", `{"tool":"my__srv/user-profile/update"}`, "pass", "my__srv/user-profile/update was called once", "s1"},
		{"called", `{"tool":"my__srv/a__b"}`, "pass", "my__srv/a__b was called once", "s2"},
		{"called", `{"tool":"admin.tools.list"}`, "fail", "admin.tools.list was never called, want at least 1", ""},
		{"called", `{"tool":"b"}`, "error", `tool "b" is not offered by the target; a tool of the host's own is written /b`, ""},
		{"not_called", `{"tool":"*"}`, "fail", "my__srv/user-profile/update, my__srv/a__b were called 2 times", "s1 s2"},
	})
}

// Asserts look into the list of actions of a multi-action tool.
func TestActions(t *testing.T) {
	in := trial(`
		call c1 cms/data_cms_tool {"actions":[{"create_collection":{"name":"R"}},{"create_items":{"n":1},"unused":null},{"create_items":{"n":2}}]}
		ok c1 x
		call c2 cms/data_cms_tool {"actions":[{"action":"delete_items","ids":[1]}]}
		ok c2 x
		call c3 cms/data_cms_tool {"actions":"none"}
		ok c3 x
		bad c4 cms/data_cms_tool {"actions":[
		error c4 x
	`, "cms/data_cms_tool destructive\ncms/site_delete destructive")
	check(t, in, []row{
		{"called", `{"tool":"data_cms_tool","action":"create_collection"}`, "pass", "action create_collection of data_cms_tool was called once", "s1"},
		{"count", `{"tool":"data_cms_tool","action":"create_*","equals":3}`, "pass", "action create_* of data_cms_tool was called 3 times", "s1"},
		{"count", `{"tool":"data_cms_tool","action":"unused","equals":0}`, "pass", "action unused of data_cms_tool was never called", ""},
		{"count", `{"tool":"data_cms_tool","equals":4}`, "pass", "data_cms_tool was called 4 times", "s1 s3 s5 s7"},
		{"arguments", `{"tool":"data_cms_tool","action":"create_items","value":{"n":2}}`, "pass", "matched by s1", "s1"},
		{"arguments", `{"tool":"data_cms_tool","action":"create_items","value":{"n":2},"which":"all"}`, "fail", "s1: got 1 at /n, want 2", "s1"},
		{"arguments", `{"tool":"data_cms_tool","action":"delete_items","pointer":"/ids/0","value":1,"match":"exact"}`, "pass", "matched by s3", "s3"},
		{"arguments", `{"tool":"data_cms_tool","pointer":"/actions/0/create_collection/name","value":"R"}`, "pass", "matched by s1", "s1"},
		{"not_called", `{"tool":"data_cms_tool","action":"delete_*"}`, "fail", "cms/data_cms_tool (delete_items) was called once", "s3"},
		{"no_destructive", `{}`, "fail", "destructive: cms/data_cms_tool (delete_items), cms/data_cms_tool were called 3 times", "s3 s5 s7"},
		{"no_destructive", `{"allow":["data_*"]}`, "pass", "no destructive call", ""},
		{"no_destructive", `{"actions":["create_collection"]}`, "fail", "destructive: cms/data_cms_tool (create_collection), cms/data_cms_tool were called 3 times", "s1 s5 s7"},
	})
}

func TestArguments(t *testing.T) {
	in := trial(`
		bad c1 cms/glued {"a":1}{"b":2}
		bad c2 cms/open {"a":
		call c3 cms/twice "{\"a\":1}"
		call c4 cms/null null
		call c5 cms/needs null
		call c6 cms/list []
		call c7 cms/create {"name":"Recipes","fields":[{"type":"text","slug":"t"},{"type":"number"}]}
		call c8 cms/create {"name":"Authors","fields":[]}
		call c9 cms/cut {"name":"Rec | cut
		call c10 cms/string "plain"
		call c11 cms/absent
		call c12 cms/gluedtext "{\"a\":1}{\"b\":2}"
		call c13 cms/opentext "{\"a\":"
	`, `
		cms/null schema={"type":"object","properties":{"a":{}}}
		cms/needs schema={"type":"object","required":["a"]}
	`)
	in.Tools = append(in.Tools, steptest.Tools("cms/glued\ncms/open\ncms/twice\ncms/list\ncms/create\ncms/cut\ncms/string\ncms/absent\ncms/other\ncms/gluedtext\ncms/opentext")...)
	check(t, in, []row{
		{"arguments", `{"tool":"glued","value":{"a":1}}`, "fail", `s1: unparsable arguments: {"a":1}{"b":2}`, "s1"},
		{"arguments", `{"tool":"open","value":{}}`, "fail", `s2: unparsable arguments: {"a":`, "s2"},
		{"arguments", `{"tool":"gluedtext","value":{"a":1}}`, "fail", `s12: unparsable arguments: {"a":1}{"b":2}`, "s12"},
		{"arguments", `{"tool":"opentext","match":"contains","value":"a"}`, "fail", `s13: unparsable arguments: {"a":`, "s13"},
		{"arguments", `{"tool":"twice","value":{"a":1},"match":"exact"}`, "pass", "matched by s3 (the arguments are a JSON string of JSON, decoded once)", "s3"},
		{"arguments", `{"tool":"twice","value":{"a":2}}`, "fail", "s3: got 1 at /a, want 2 (the arguments are a JSON string of JSON, decoded once)", "s3"},
		{"arguments", `{"tool":"null","value":{},"match":"exact"}`, "pass", "matched by s4", "s4"},
		{"arguments", `{"tool":"absent","value":{},"match":"exact"}`, "pass", "matched by s11", "s11"},
		{"arguments", `{"tool":"needs","value":{},"match":"exact"}`, "fail", "s5: got null, want {}", "s5"},
		{"arguments", `{"tool":"needs","match":"exact"}`, "pass", "matched by s5", "s5"},
		{"arguments", `{"tool":"list","value":{},"match":"exact"}`, "fail", "s6: got [], want {}", "s6"},
		{"arguments", `{"tool":"string","value":"plain","match":"exact"}`, "pass", "matched by s10", "s10"},
		{"arguments", `{"tool":"create","value":{"name":"Recipes","fields":[{"type":"number"}]}}`, "pass", "matched by s7", "s7"},
		{"arguments", `{"tool":"create","value":{"name":"Recipes"},"match":"exact"}`, "fail", `none of 2 calls matches; s8: got "Authors" at /name, want "Recipes"`, "s8"},
		{"arguments", `{"tool":"create","value":{"name":"Recipes"},"which":"first"}`, "pass", "matched by s7", "s7"},
		{"arguments", `{"tool":"create","value":{"name":"Recipes"},"which":"last"}`, "fail", `s8: got "Authors" at /name, want "Recipes"`, "s8"},
		{"arguments", `{"tool":"create","value":{"name":"Recipes"},"which":"all"}`, "fail", `s8: got "Authors" at /name, want "Recipes"`, "s8"},
		{"arguments", `{"tool":"create","match":"regex","pointer":"/name","value":"^[A-Z]","which":"all"}`, "pass", "2 calls matched", "s7 s8"},
		{"arguments", `{"tool":"create","match":"contains","pointer":"/name","value":"zz"}`, "fail", `none of 2 calls matches; s8: got "Authors", which does not contain zz`, "s8"},
		{"arguments", `{"tool":"create","match":"schema","value":{"required":["name"],"properties":{"fields":{"minItems":1}}},"which":"last"}`, "fail", "s8: at /fields has 0 elements, want at least 1", "s8"},
		{"arguments", `{"tool":"create","match":"schema","value":{"format":"x"}}`, "error", `schema at /format: keyword "format" is not supported`, ""},
		{"arguments", `{"tool":"create","match":"regex","value":"("}`, "error", "value: error parsing regexp: missing closing ): `(`", ""},
		{"arguments", `{"tool":"create","match":"regex","value":1}`, "error", `value must be a string for match = "regex"`, ""},
		{"arguments", `{"tool":"create","pointer":"name","value":1}`, "error", "a JSON pointer is empty or begins with /, and holds ~ as ~0 and / as ~1", ""},
		{"arguments", `{"tool":"create","pointer":"/nope","value":1}`, "fail", "none of 2 calls matches; s8: nothing at /nope", "s8"},
		{"arguments", `{"tool":"cut","value":{"name":"Recipes"}}`, "error", "the record holds only a part of the arguments of s9", ""},
		{"arguments", `{"tool":"*","value":{"name":"Recipes"}}`, "pass", "matched by s7", "s7"},
		{"arguments", `{"tool":"other","value":{}}`, "fail", "other was never called", ""},
	})
}

// Calls of one message have no order; results that come back in another order
// stay with their calls.
func TestOrder(t *testing.T) {
	in := trial(`
		call t1 cms/create_item {"n":"A"}
		call t2 cms/create_page {"n":"B"}
		error t2 no
		ok t1 yes
		say next
		call t3 cms/publish {}
		ok t3 yes
	`, "cms/create_item\ncms/create_page\ncms/publish\ncms/list")
	check(t, in, []row{
		{"order", `{"tools":["create_item","create_page","publish"]}`, "pass", "the tools were called in this order", "s1 s2 s6"},
		{"order", `{"tools":["create_page","create_item","publish"],"mode":"exact"}`, "pass", "the tools were called in exactly this order", "s1 s2 s6"},
		{"order", `{"tools":["create_*","create_item"]}`, "pass", "the tools were called in this order", "s2 s1"},
		{"order", `{"tools":["publish","create_item"]}`, "fail", "create_item was not called after publish", "s6"},
		{"order", `{"tools":["list"]}`, "fail", "list was not called", ""},
		{"order", `{"tools":["create_item","publish"],"mode":"exact"}`, "fail", "cms/create_page was called after create_item, want publish", "s2"},
		{"order", `{"tools":["create_item","create_page"],"mode":"exact"}`, "fail", "cms/publish was called after create_item, create_page, want no more calls (2 were expected)", "s6"},
		{"order", `{"tools":["create_item","create_page","publish","publish"],"mode":"exact"}`, "fail", "publish was not called after create_item, create_page, publish", "s1 s2 s6"},
		{"order", `{"tools":["create_item","publish"],"mode":"exact","status":"ok"}`, "pass", "the tools were called in exactly this order", "s1 s6"},
		{"order", `{"tools":[]}`, "error", "tools must name 1 to 200 tools", ""},
		{"called", `{"tool":"create_item","status":"ok"}`, "pass", "create_item (ok) was called once", "s1"},
		{"called", `{"tool":"create_page","status":"error"}`, "pass", "create_page (error) was called once", "s2"},
	})
}

// A sub-agent's call counts once, and not for the main agent.
func TestSubAgents(t *testing.T) {
	in := trial(`
		call k1 /Task {"prompt":"publish"}
		call p1 cms/publish {} | parent=k1
		ok p1 done
		ok k1 done
		call l1 cms/list {}
		ok l1 done
	`, "cms/publish\ncms/list")
	check(t, in, []row{
		{"count", `{"tool":"publish","equals":1}`, "pass", "publish was called once", "s2"},
		{"called", `{"tool":"publish","scope":"main"}`, "fail", "publish by the main agent was never called, want at least 1", ""},
		{"not_called", `{"tool":"publish","scope":"main"}`, "pass", "no call of publish", ""},
		{"order", `{"tools":["/Task","publish","list"]}`, "pass", "the tools were called in this order", "s1 s2 s5"},
		{"expected", `{"tools":["/Task","list"],"scope":"main"}`, "1", "2 of 2 expected calls made, 0 other calls", "s1 s5"},
	})
}

func TestExpected(t *testing.T) {
	x := "call a s/x {}\nok a 1\n"
	xx := x + "call b s/x {}\nok b 1\n"
	tests := []struct{ steps, tools, verdict, reason, evidence string }{
		{"", `[]`, "1", "0 of 0 expected calls made, 0 other calls", ""},
		{x, `[]`, "0", "0 of 0 expected calls made, 1 other call", "s1"},
		{xx, `["x","x"]`, "1", "2 of 2 expected calls made, 0 other calls", "s1 s3"},
		{x, `["x","x"]`, "0.5", "1 of 2 expected calls made, 0 other calls", "s1"},
		{xx, `["x"]`, "0.5", "1 of 1 expected call made, 1 other call", "s1 s3"},
		{xx, `["*","x","y"]`, "0.6667", "2 of 3 expected calls made, 0 other calls", "s1 s3"},
	}
	for _, tt := range tests {
		check(t, trial(tt.steps, ""), []row{{"expected", `{"tools":` + tt.tools + `}`, tt.verdict, tt.reason, tt.evidence}})
	}
	check(t, trial("call c1 stage/search {}\nok c1 x", "prod/search\nstage/search"), []row{
		{"expected", `{"tools":["search"]}`, "error", `tool "search" is ambiguous: write prod/search or stage/search, or */search for any of them`, ""},
		{"expected", `{"tools":["serch"]}`, "error", `tool "serch" is not offered by the target (closest: prod/search); a tool of the host's own is written /serch`, ""},
		{"expected", `{"tools":["*/search"]}`, "1", "1 of 1 expected call made, 0 other calls", "s1"},
	})
	check(t, trial(xx, ""), []row{{"expected", `{"tools":[],"ignore":["x"]}`, "1", "0 of 0 expected calls made, 0 other calls", ""}})
	out := scorertest.One(t, trial(xx, ""), "expected", `{"tools":["x"]}`)
	if out.Raw == nil || *out.Raw != 1 || out.Unit != "calls" {
		t.Errorf("raw = %v %q; want 1 calls", out.Raw, out.Unit)
	}
}

const tooLarge = "Error: result (179,889 characters) exceeds maximum allowed tokens. Output has been saved to /tmp/x.txt"

const persisted = "<persisted-output>\\nOutput too large (71 KB). Full output saved to: /tmp/x.txt"

// A result that the host replaced is not the tool's error, and not visible.
func TestHostTruncatedResult(t *testing.T) {
	in := trial("call a cms/export {}\nok a "+tooLarge+"\ncall b cms/export {}\nerror b "+tooLarge, "cms/export")
	check(t, in, []row{
		{"result", `{"tool":"export","match":"contains","value":"home"}`, "skip", "not visible to the agent: the host kept the result of s1 from it (Error: result (179,889 characters) exceeds maximum allowed tokens. Output has been saved to /tmp/x.t…)", ""},
		{"no_errors", `{"hidden":true}`, "pass", "0 failed calls", ""},
	})
	check(t, trial("call a cms/export {}\nraw a {\"content\":[{\"type\":\"text\",\"text\":\""+persisted+"\"}]}", "cms/export"), []row{
		{"result", `{"tool":"export","match":"contains","value":"home"}`, "skip", "not visible to the agent: the host kept the result of s1 from it (<persisted-output> Output too large (71 KB). Full output saved to: /tmp/x.txt)", ""},
		{"no_errors", `{"hidden":true}`, "pass", "0 failed calls", ""},
	})
}

func TestResult(t *testing.T) {
	in := trial(`
		call a cms/get {}
		ok a {"items":[{"id":7,"name":"Soup"}]}
		call b cms/get {}
		ok b plain text
		call c cms/get {}
		raw c {"structuredContent":{"id":9}}
		call d cms/get {}
		raw d {"error":{"code":-32603,"message":"fetch failed"}}
		call e cms/slow {}
		call f cms/huge {}
		ok f {"a": | cut
	`, "cms/get\ncms/slow\ncms/huge")
	check(t, in, []row{
		{"result", `{"tool":"get","value":{"items":[{"id":7}]}}`, "pass", "matched by s1", "s1"},
		{"result", `{"tool":"get","pointer":"/items/0/name","match":"exact","value":"Soup"}`, "pass", "matched by s1", "s1"},
		{"result", `{"tool":"get","match":"regex","value":"^plain"}`, "pass", "matched by s3", "s3"},
		{"result", `{"tool":"get","value":{"id":9}}`, "pass", "matched by s5", "s5"},
		{"result", `{"tool":"get","match":"contains","value":"fetch failed","which":"last"}`, "pass", "matched by s7", "s7"},
		{"result", `{"tool":"slow","value":{}}`, "fail", "s9: the call has no result", "s9"},
		{"result", `{"tool":"huge","value":{"a":1}}`, "error", "the record holds only a part of the result of s10", ""},
	})
}

func TestNoErrors(t *testing.T) {
	in := trial(`
		call a cms/get {}
		error a no such page
		call b cms/open {}
		ok b {"status":false,"error":"No Designer"}
		call c cms/open {} | turn=2
		ok c Error: nope
		call d cms/open {}
		ok d Error handling guide
	`, "")
	check(t, in, []row{
		{"no_errors", `{}`, "fail", "1 failed call, want exactly 0; the first: cms/get: no such page", "s1"},
		{"no_errors", `{"allow":1}`, "pass", "1 failed call", "s1"},
		{"no_errors", `{"tool":"open"}`, "pass", "0 failed calls", ""},
		{"no_errors", `{"tool":"open","hidden":true,"allow":1}`, "fail", `2 failed calls, want at most 1; the first: cms/open: {"status":false,"error":"No Designer"}`, "s3 s5"},
		{"no_errors", `{"turn":2,"hidden":true}`, "fail", "1 failed call, want exactly 0; the first: cms/open: Error: nope", "s5"},
		{"no_errors", `{"allow":-1}`, "error", "allow must not be negative", ""},
	})
}

func TestOnlyAvailable(t *testing.T) {
	in := trial(`
		call a cms/designer_open {}
		ok a {"status":false}
		call b cms/pages_list {}
		ok b []
		call c cms/designer_open {}
		ok c {"status":false}
		call d cms/designer_style {}
		call e /Bash {}
	`, `
		cms/designer_open requires=designer_tab,mouse
		cms/designer_style requires=mouse
		cms/pages_list
	`)
	in.HostCapabilities = []string{"mouse"}
	check(t, in, []row{
		{"only_available", `{}`, "fail", "cms/designer_open was called 2 times, but the host lacks what they require", "s1 s5"},
	})
	findings := scorertest.One(t, in, "only_available", "").Findings
	if len(findings) != 1 {
		t.Fatalf("got %d findings; want 1", len(findings))
	}
	f := findings[0]
	if f.Kind != "unavailable_tool" || f.Tool != "cms/designer_open" || f.Severity != eval.SeverityMajor || len(f.Evidence) != 2 ||
		f.Text != "The agent called cms/designer_open, which needs designer_tab and cannot work on this host." ||
		f.Suggestion != "Say in the tool's description that it needs designer_tab, and which tool to use without it." {
		t.Errorf("finding = %+v", f)
	}
	in.HostCapabilities = []string{"designer_tab", "mouse"}
	check(t, in, []row{
		{"only_available", `{}`, "pass", "every tool that was called is available on this host", ""},
	})
}

// Hostile transcripts cost no more than their size.
func TestHostile(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000)
	wide := `{"actions":[` + strings.Repeat(`{"x":1},`, 50_000) + `{"y":2}]}`
	var many strings.Builder
	for range 3000 {
		many.WriteString("call c s/t {}\nok c x\n")
	}
	in := trial("call a s/deep "+deep+"\nok a x\ncall b s/wide "+wide+"\nok b x\ncall c s/nul {\"a\":\"\\u0000\\ud83d\"}\nok c x\n"+many.String(), "")
	check(t, in, []row{
		{"arguments", `{"tool":"deep","value":{"a":{"a":2}}}`, "fail", "s1: got {\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":… at /a/a, want 2", "s1"},
		{"count", `{"tool":"wide","action":"x","equals":50000}`, "pass", "action x of wide was called 50,000 times", "s3"},
		{"arguments", `{"tool":"nul","match":"exact","value":{"a":"\u0000\ufffd"}}`, "pass", "matched by s5", "s5"},
		{"arguments", `{"tool":"nul","match":"exact","pointer":"/a","value":"x\u0000"}`, "fail", `s5: got "\u0000\ud83d", want "x\u0000"`, "s5"},
		{"count", `{"tool":"t","equals":3000}`, "pass", "t was called 3,000 times", "s7 s9 s11 s13 s15 s17 s19 s21 s23 s25 s27 s29 s31 s33 s35 s37 s39 s41 s43 s45"},
	})
}
