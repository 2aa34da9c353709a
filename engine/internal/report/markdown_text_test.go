package report

import (
	"strings"
	"testing"
)

func TestMarkdownText(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 0, ""},
		{"path/effort_s", 0, `path/effort\_s`},
		{"a|b", 0, `a\|b`},
		{"a\nb\r\n# c", 0, "a b #&#8203; c"},
		{"<script>alert(1)</script>", 0, "&lt;script&gt;alert(1)&lt;/script&gt;"},
		{"[x](javascript:alert(1))", 0, `\[x\](javascript:alert(1))`},
		{"![x](http://a.test/p.png)", 0, `\!\[x\](http:&#8203;//a.test/p.png)`},
		{"`rm` *b* ~~c~~ $d$", 0, "\\`rm\\` \\*b\\* \\~\\~c\\~\\~ \\$d\\$"},
		{"see @team and #12 at www.a.test", 0, "see @&#8203;team and #&#8203;12 at www&#8203;.a.test"},
		{"&lt;", 0, "&amp;lt;"},
		{"- item", 0, `\- item`},
		{"# head", 0, `\#&#8203; head`},
		{"1. one", 0, `1\. one`},
		{"12", 0, "12"},
		{"0.5 of it", 0, `0\.5 of it`},
		{"\x1b[31mred\x07\u202e", 0, `\[31mred`},
		{"abcdefgh", 4, "abc…"},
	} {
		if got := mdText(c.text, c.width); got != c.want {
			t.Errorf("mdText(%q, %d) = %q; want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestMarkdownTable(t *testing.T) {
	var b strings.Builder
	mdTable(&b, []string{"name", "n:"}, [][]string{{"a", "1"}, {mdText("b|c", 0), "2"}})
	const want = "| name | n |\n| --- | ---: |\n| a | 1 |\n| b\\|c | 2 |\n\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if mdTable(&b, []string{"a"}, nil); b.String() != "" {
		t.Errorf("a table without rows wrote %q", b.String())
	}
}

func FuzzMarkdownText(f *testing.F) {
	f.Add("a|b\n<img src=x onerror=alert(1)>", 20)
	f.Fuzz(func(t *testing.T, text string, width int) {
		got := mdText(text, width%1000)
		if strings.ContainsAny(got, "\n\r<>\x1b\x00") {
			t.Errorf("mdText(%q) = %q", text, got)
		}
		if plain := strings.ReplaceAll(got, `\\`, ""); strings.Contains(strings.ReplaceAll(plain, `\|`, ""), "|") {
			t.Errorf("mdText(%q) = %q ends a cell", text, got)
		}
	})
}
