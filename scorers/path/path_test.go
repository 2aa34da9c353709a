package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

const way = `
	call a cms/get {"id":1}
	ok a one | bytes=1000
	call b cms/get {"id": 1.0}
	ok b one | bytes=1000
	call c cms/put {"id":2}
	error c wrong id | bytes=500
	call d cms/put {"id":2}
	error d wrong id | bytes=500
	call k /Task {}
	call e cms/get {"id":1} | parent=k
	ok e one | bytes=1000
	ok k done | bytes=10
`

func cost(usd float64) *float64 { return &usd }

func trial() eval.ScoreInput {
	return eval.ScoreInput{
		Steps: steptest.Steps(way), AgentSeconds: 60,
		Usage: eval.Usage{Turns: 5, InputTokens: 30_000, CacheReadTokens: 10_000, OutputTokens: 1000, CostUSD: cost(0.25)},
	}
}

// row is one use of a measure: its value or skip or error, with the reason, the
// evidence and the raw value.
type row struct{ scorer, params, verdict, reason, evidence, raw string }

func check(t *testing.T, in eval.ScoreInput, rows []row) {
	t.Helper()
	for _, r := range rows {
		out := scorertest.One(t, in, r.scorer, r.params)
		got := row{scorer: r.scorer, params: r.params}
		got.verdict, got.reason, got.evidence = steptest.Sum(out)
		if out.Raw != nil {
			got.raw = strconv.FormatFloat(*out.Raw, 'g', -1, 64) + " " + out.Unit
		}
		if got != r {
			t.Errorf("got %q\nwant %q", got, r)
		}
	}
}

func TestFacts(t *testing.T) {
	check(t, trial(), []row{
		{"calls", `{}`, "0.7692", "6 calls", "s1 s3 s5 s7 s9 s10", "6 calls"},
		{"calls", `{"budget":6}`, "1", "6 calls", "s1 s3 s5 s7 s9 s10", "6 calls"},
		{"calls", `{"budget":3}`, "0.5", "6 calls", "s1 s3 s5 s7 s9 s10", "6 calls"},
		{"calls", `{"budget":0}`, "0", "6 calls", "s1 s3 s5 s7 s9 s10", "6 calls"},
		{"calls", `{"half":6}`, "0.5", "6 calls", "s1 s3 s5 s7 s9 s10", "6 calls"},
		{"calls", `{"tool":"put","half":2}`, "0.5", "2 calls", "s5 s7", "2 calls"},
		{"calls", `{"scope":"main","budget":9}`, "1", "5 calls", "s1 s3 s5 s7 s9", "5 calls"},
		{"calls", `{"budget":-1}`, "error", "budget must not be negative", "", ""},
		{"calls", `{"half":0}`, "error", "half must be above 0", "", ""},
		{"failed_calls", `{}`, "0.6", "2 failed calls", "s5 s7", "2 calls"},
		{"repeated_calls", `{}`, "0.5", "3 repeated calls", "s3 s7 s10", "3 calls"},
		{"repeated_calls", `{"scope":"main","half":2}`, "0.5", "2 repeated calls", "s3 s7", "2 calls"},
		{"bytes_returned", `{"budget":2005}`, "0.5", "4 KiB returned by 6 calls", "", "4010 bytes"},
		{"turns", `{"budget":10}`, "1", "5 turns", "", "5 turns"},
		{"tokens", `{"budget":15500}`, "0.5", "31,000 tokens", "", "31000 tokens"},
		{"tokens", `{"of":"input","half":30000}`, "0.5", "30,000 tokens", "", "30000 tokens"},
		{"tokens", `{"of":"output","half":1000}`, "0.5", "1,000 tokens", "", "1000 tokens"},
		{"tokens", `{"of":"uncached","half":21000}`, "0.5", "21,000 tokens", "", "21000 tokens"},
		{"seconds", `{}`, "0.6667", "60 s", "", "60 s"},
		{"cost", `{"budget":0.5}`, "1", "0.25 USD", "", "0.25 USD"},
	})
}

// What nobody counted, or only in part, is no number: it would pull a mean down.
func TestUnknownUsage(t *testing.T) {
	in := trial()
	in.Usage = eval.Usage{InputTokens: 1, OutputTokens: 2, Turns: 1, CostUSD: cost(0.01), LowerBound: true}
	check(t, in, []row{
		{"tokens", `{}`, "skip", "only a lower bound is known: at least 3 tokens", "", ""},
		{"turns", `{}`, "skip", "only a lower bound is known: at least 1 turn", "", ""},
		{"cost", `{}`, "skip", "only a lower bound is known: at least 0.01 USD", "", ""},
		{"effort", `{"tokens":1,"scope":"main"}`, "0.4", "5 calls (2 failed, 2 repeated), 60 s, 3 KiB returned", "s3 s5 s7", "5 calls"},
	})
	in.Usage = eval.Usage{}
	check(t, in, []row{
		{"tokens", `{}`, "skip", "nobody counted the tokens", "", ""},
		{"turns", `{}`, "skip", "nobody counted the turns", "", ""},
		{"cost", `{}`, "skip", "the cost is not known", "", ""},
	})
}

func TestEffort(t *testing.T) {
	check(t, trial(), []row{
		{"effort", `{}`, "0.3333", "6 calls (2 failed, 3 repeated), 5 turns, 31,000 tokens, 60 s, 4 KiB returned", "s3 s5 s7 s10", "6 calls"},
		{"effort", `{"calls":3,"turns":5,"tokens":15500,"seconds":120,"bytes_returned":4010}`, "0.7222",
			"6 calls (2 failed, 3 repeated), 5 turns, 31,000 tokens, 60 s, 4 KiB returned; over budget: 6 calls of 3, 31,000 tokens of 15,500", "s3 s5 s7 s10", "6 calls"},
		{"effort", `{"calls":-1}`, "error", "calls must not be negative", "", ""},
		{"effort", `{"verbose_kib":-1}`, "error", "verbose_kib must not be negative", "", ""},
	})
	check(t, eval.ScoreInput{}, []row{
		{"effort", `{}`, "1", "0 calls, 0 s, 0 B returned", "", "0 calls"},
		{"calls", `{}`, "1", "0 calls", "", "0 calls"},
	})
}

func TestFindings(t *testing.T) {
	in := eval.ScoreInput{Steps: steptest.Steps(`
		call a cms/put {"id":2}
		error a wrong id
		call b cms/put {"id":2}
		error b wrong id
		call c cms/put {"id":3}
		error c wrong id
		call d cms/open {}
		ok d {"status":false,"error":"No Designer"}
		call e cms/export {}
		ok e Error: result (179,889 characters) exceeds maximum allowed tokens. Output has been saved to /tmp/x.txt
		call f cms/dump {}
		ok f x | bytes=72704
		call g cms/dump {"again":1}
		ok g x | bytes=60000
		bad h cms/put {"a":1}{"b":2}
		error h x
		call i cms/put "{\"a\":1}"
		ok i x
		call j cms/slow {}
		call k cms/ghost {} | unconfirmed
		ok k x
		call l cms/quiet {} | unreported
		ok l x
		call m /Bash {}
		error m x
		call n /Bash {}
		error n x
	`)}
	var got []string
	for _, f := range scorertest.One(t, in, "effort", "{}").Findings {
		var steps []string
		for _, e := range f.Evidence {
			steps = append(steps, e.Step)
		}
		got = append(got, string(f.Severity)+" "+f.Kind+" "+f.Tool+" "+strings.Join(steps, " ")+": "+f.Text)
	}
	want := []string{
		"major repeated_failure cms/put s1 s3: The same call failed again and again (cms/put, 2 calls): wrong id",
		`major hidden_error cms/open s7: A result reports a failure, but is not marked as an error (cms/open, 1 call): {"status":false,"error":"No Designer"}`,
		"major host_truncated_result cms/export s9: The host kept a result from the agent because it was too large (cms/export, 1 call): Error: result (179,889 characters) exceeds maximum allowed tokens. Output has been saved to /tmp/x.txt",
		"minor verbose_result cms/dump s11 s13: A result is very large (cms/dump, 2 calls): 71 KiB",
		`minor bad_arguments cms/put s15: The agent sent arguments that are not JSON (cms/put, 1 call): unparsable arguments: {"a":1}{"b":2}`,
		"minor doubly_encoded_arguments cms/put s17: The agent sent its arguments as a JSON string of JSON (cms/put, 1 call)",
		"minor unfinished_call cms/slow s19: A call never got a result (cms/slow, 1 call)",
		"info unconfirmed_call cms/ghost s20: The host reports a call that the gateway never saw (cms/ghost, 1 call)",
		"info unreported_call cms/quiet s22: The gateway saw a call that the host never reported (cms/quiet, 1 call)",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	for _, f := range scorertest.One(t, in, "effort", `{"verbose_kib":1000}`).Findings {
		if f.Kind == "verbose_result" || f.Source != "path/effort" {
			t.Errorf("finding %+v", f)
		}
	}
}

// A host's replaced result counts as the target's verbosity, not as a failed call.
func TestHostTruncatedIsNoFailure(t *testing.T) {
	notice := "Error: result (179,889 characters) exceeds maximum allowed tokens. Output has been saved to /tmp/x.txt"
	in := eval.ScoreInput{Steps: steptest.Steps("call a cms/export {}\nerror a " + notice)}
	check(t, in, []row{
		{"failed_calls", `{"half":1}`, "1", "0 failed calls", "", "0 calls"},
	})
}

func TestManyCalls(t *testing.T) {
	var steps strings.Builder
	for i := range 5000 {
		n := strconv.Itoa(i % 100)
		steps.WriteString("call c" + n + " cms/get {\"id\":" + n + "}\nok c" + n + " x\n")
	}
	check(t, eval.ScoreInput{Steps: steptest.Steps(steps.String())}, []row{
		{"repeated_calls", `{"tool":"get","budget":9800}`, "1", "4,900 repeated calls",
			"s201 s203 s205 s207 s209 s211 s213 s215 s217 s219 s221 s223 s225 s227 s229 s231 s233 s235 s237 s239", "4900 calls"},
	})
}
