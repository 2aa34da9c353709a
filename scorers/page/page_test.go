package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// sum is an output in short: its value or state, and the raw number.
func sum(o eval.ScoreOutput) string {
	if o.State != eval.Scored {
		return string(o.State)
	}
	s := strconv.FormatFloat(o.Value, 'g', 4, 64)
	if o.Raw != nil {
		s += " " + strconv.FormatFloat(*o.Raw, 'g', -1, 64)
	}
	return s
}

// site is two pages with something wrong, and one that could not be taken.
func site() eval.ScoreInput {
	return eval.ScoreInput{Pages: []eval.Page{
		{
			Name: "home", URL: "http://Site:80", FinalURL: "http://site/", Status: 200, Bytes: 4_000_000, Requests: 30,
			Console: []eval.ConsoleMessage{
				{Level: "error", Text: "x is not defined", URL: "http://site/a.js", Line: 3},
				{Level: "error", Text: "x is not defined", URL: "http://site/a.js", Line: 3},
				{Level: "exception", Text: "Error: third-party"},
				{Level: "warning", Text: "old"},
			},
			Failed: []eval.FailedRequest{
				{URL: "http://site/favicon.ico", Method: "GET", Kind: "other", Status: 404},
				{URL: "http://site/gone", Method: "GET", Kind: "fetch", Status: 404},
				{URL: "http://site/gone", Method: "GET", Kind: "fetch", Status: 404},
				{URL: "http://site/slow", Method: "GET", Kind: "image", Error: "net::ERR_TIMED_OUT"},
				{URL: "http://cdn/x.js", Method: "GET", Kind: "script", Blocked: true},
			},
			Unsettled: []string{"still loading: GET http://site/poll"},
			HTML: []byte(`<body id=all><a href="/about">About</a><a href="gone?">Gone?</a><a href="/gone#x">Gone</a><a href="./missing">Missing</a>` +
				`<a href="#all">All</a><a href="#nowhere">Nowhere</a><a href="#top">Top</a><a href="http://elsewhere/">Else</a><a href="mailto:a@b">Mail</a>` +
				`<eval-frame><a href="missing">in a frame</a></eval-frame></body>`),
		},
		{Name: "about", URL: "http://site/about", Status: 200, Bytes: 1000, Requests: 1, HTML: []byte("<p>x</p>")},
		{Name: "missing", URL: "http://site/missing", Status: 404, HTML: []byte("<p>x</p>")},
		{Name: "login", URL: "http://site/login", Error: "not the expected page", Console: []eval.ConsoleMessage{{Level: "error", Text: "y"}}},
	}}
}

func TestScorers(t *testing.T) {
	good := `"pages":["about"]`
	for _, c := range []struct{ scorer, params, want, reason string }{
		{"console_errors", `{}`, "0.6 2", "2 console errors on 3 pages: home: error: x is not defined (http://site/a.js:3); home: exception: Error: third-party; left out: login"},
		{"console_errors", `{"warnings":true,"half":1}`, "0.25 3", "3 console errors"},
		{"console_errors", `{"ignore":["*third-party*"],"budget":1}`, "1 1", "1 console error on"},
		{"console_errors", `{` + good + `}`, "1 0", "0 console errors on 1 page"},
		{"console_errors", `{"pages":["login"]}`, "skipped", "no page could be taken: login (not the expected page)"},
		{"console_errors", `{"half":0}`, "errored", "half must be above 0"},
		{"no_console_errors", `{}`, "0", "2 console errors"},
		{"no_console_errors", `{"allow":2}`, "1", "2 console errors"},
		{"no_console_errors", `{"allow":1}`, "0", "(at most 1 may be)"},
		{"no_console_errors", `{"allow":-1}`, "errored", "allow must be a whole number"},
		{"failed_requests", `{}`, "0.5 3", "home: fetch GET http://site/gone: status 404; home: image GET http://site/slow: net::ERR_TIMED_OUT; missing: the page itself: http://site/missing: status 404"},
		{"failed_requests", `{"blocked":true,"ignore":[]}`, "0.375 5", "5 failed requests"},
		{"no_failed_requests", `{` + good + `}`, "1", "0 failed requests"},
		{"no_failed_requests", `{"ignore":["http://site/*"]}`, "1", "0 failed requests"},
		{"broken_links", `{}`, "0.5 3", "3 broken links on 3 pages, 6 known links, 2 to what no capture shows and nobody looked at: home: http://site/gone has status 404"},
		{"broken_links", `{"ignore":["*/gone","*/missing"]}`, "0.75 1", `no anchor #nowhere: eval-test`},
		{"broken_links", `{` + good + `}`, "skipped", "no capture shows where a link leads"},
		{"no_broken_links", `{}`, "0", "http://site/missing has status 404"},
		{"no_broken_links", `{"allow":3}`, "1", "3 broken links"},
		{"size", `{}`, "0.9444 4e+06", "home 3.8 MiB, 30 requests, "},
		{"size", `{"max_bytes":1000,"max_requests":1,"max_elements":1,"pages":["about"]}`, "1 1000", "about 1000 B, 1 request, 1 element"},
		{"size", `{"max_bytes":0}`, "errored", "must be above 0"},
		{"settled", `{}`, "0.6667 1", "home: still loading: GET http://site/poll"},
		{"settled", `{` + good + `}`, "1 0", "0 unsettled pages"},
	} {
		got := scorertest.One(t, site(), c.scorer, c.params)
		reason := strings.Replace(c.reason, "eval-test", "body#all > a", 1)
		if sum(got) != c.want || !strings.Contains(got.Reason, reason) {
			t.Errorf("%s %s: got %s, %q; want %s, %q", c.scorer, c.params, sum(got), got.Reason, c.want, reason)
		}
	}
}

func TestFindings(t *testing.T) {
	got := scorertest.One(t, site(), "failed_requests", "{}").Findings
	if len(got) != 2 || got[0].Evidence[0].Page != "home" || got[1].Evidence[0].Page != "missing" || got[0].Source != "page/failed_requests" ||
		!strings.HasPrefix(got[0].Text, "failed requests of the page home (2): fetch GET http://site/gone: status 404; ") {
		t.Errorf("got %+v", got)
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ base, ref, want string }{
		{"http://h/a/b?q", "c", "http://h/a/c"},
		{"http://h/a/b?q", "/c", "http://h/c"},
		{"http://h/a/b?q#f", "#g", "http://h/a/b?q#g"},
		{"http://h/a/b?q", "?r", "http://h/a/b?r"},
		{"http://h/a/b?q", "", "http://h/a/b?q"},
		{"http://h/a/b", "../c/./d/..", "http://h/c/"},
		{"http://h/a/", "../../../c", "http://h/c"},
		{"http://h", "c", "http://h/c"},
		{"http://h?x=/", "c", "http://h/c"},
		{"https://H:443/a", "//I:443/b", "https://i/b"},
		{"http://h/", "HTTPS://x", "https://x/"},
		{"http://h/", "mailto:a@b", "mailto:a@b"},
		{"http://h/", "a:b", "a:b"},
		{"http://h/", " c\n", "http://h/c"},
		{"", "c", "c"},
	} {
		if got := resolve(c.base, c.ref); got != c.want {
			t.Errorf("resolve(%q, %q) = %q; want %q", c.base, c.ref, got, c.want)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		glob, text string
		want       bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "ab", true}, {"*b*", "abc", true}, {"a*a", "a", false},
		{"*/favicon.ico", "http://h/favicon.ico", true}, {"*/favicon.ico", "http://h/favicon.ico?x", false}, {"a*b*c", "axxbyyc", true}, {"a*b*c", "acb", false},
	} {
		if got := matches(c.glob, c.text); got != c.want {
			t.Errorf("matches(%q, %q) = %v; want %v", c.glob, c.text, got, c.want)
		}
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("http://h/a?b#c", "../x")
	f.Add("http://h", "?")
	f.Fuzz(func(t *testing.T, base, ref string) {
		a := resolve(base, ref)
		withoutAnchor(a)
		unquote(a)
	})
}

func FuzzBrokenLinks(f *testing.F) {
	f.Add([]byte(`<base href=a><a href="#x"><a name=x>`), "http://h/")
	f.Fuzz(func(t *testing.T, html []byte, url string) {
		in := eval.ScoreInput{Pages: []eval.Page{{Name: "p", URL: url, Status: 200, HTML: html}}}
		if got := scorertest.One(t, in, "broken_links", "{}"); got.State == eval.ScoreErrored {
			t.Fatal(got.Reason)
		}
	})
}
