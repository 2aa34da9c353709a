package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/evalengine/evalengine/engine/eval"
)

// attacks are what agents, tools and pages might say.
var attacks = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`' onmouseover='alert(1)`,
	`javascript:alert(1)`,
	`</style><script>alert(1)</script>`,
	`</title><svg onload=alert(1)>`,
	`<iframe src="javascript:alert(1)"></iframe>`,
	`<a href="javascript:alert(1)">x</a>`,
	`{{.Summary}}`,
	`<!--`, `]]>`, `&lt;script&gt;`,
	`=HYPERLINK("http://evil.test","x")`, `+1+cmd|' /C calc'!A0`, `-2+3`, `@SUM(1)`,
	"\x00\x1b[31m\u202e\ufffe", "a|b\n| c", "``` \n# h",
}

// hostile is a document with a text in every field that others write.
func hostile(t testing.TB, x string) *Document {
	tr := eval.Trial{Story: x, Variant: x, Host: x, Repeat: 1}
	tr2 := eval.Trial{Story: x, Variant: x, Host: x, Repeat: 2}
	scores := []eval.Score{
		{Name: x, Role: eval.RoleAssert, Dimension: eval.DimensionOutcome, State: eval.Scored, Value: new(0.0), Passed: new(false), Reason: x},
		{Name: "judge/" + x, Role: eval.RoleJudge, Dimension: eval.DimensionQuality, State: eval.Scored, Value: new(0.5), Unit: x, Reason: x},
	}
	r := &eval.Record{
		ID: tr.ID(), Trial: tr, Status: eval.StatusFailed, Cause: x, Reason: x, Answer: x, Scores: scores,
		Findings: []eval.Finding{{Kind: x, Tool: x, Action: x, Severity: eval.SeverityMajor, Text: x, Suggestion: x}},
		Versions: map[string]string{x: x},
		Pages:    []eval.Page{{Name: x, URL: x, Title: x, Error: x, Shots: []eval.Shot{{Tiles: []eval.Tile{{File: x}}}}}},
	}
	r2 := *r
	r2.ID, r2.Trial, r2.Status = tr2.ID(), tr2, eval.StatusErrored
	d := document(t, []eval.Trial{tr, tr2}, r, &r2)
	d.Info.GitCommit, d.Info.Files = x, []eval.File{{Path: x, SHA256: x}}
	d.Summary.Suite, d.Summary.Run, d.Summary.Experiment, d.Summary.Stopped, d.Summary.StopReason = x, x, x, eval.StopBudget, x
	d.Info.ID = x
	d.Pages[0].Thumb = "report.files/001.jpg"
	d.AddDamage(x)
	d.Summary.Arms[0].Flaky = &eval.Flaky{N: 2, Flaky: true, Evidence: x}
	d.Summary.Dimensions = []eval.Overall{{Variant: x, Host: x, Name: x, Unit: x}}
	d.Summary.Variance = []eval.VarianceSplit{{Variant: x, Host: x, Name: x, Reasons: []string{x}, Clamped: []string{x}}}
	d.Summary.Reliability = []eval.Reliability{{Variant: x, Host: x, K: 2}}
	return d
}

// elements are those that a report may have, and attributes likewise.
var elements = strings.Fields("html head meta title style body a header div p h1 h2 h3 nav ul li main section article footer span dl dt dd b i br code table thead tbody tr th td svg path rect details summary figure figcaption img")
var attributes = strings.Fields("lang charset http-equiv content name class href id aria-labelledby aria-label role tabindex scope data-label viewbox preserveaspectratio x y d aria-hidden width height open src alt loading rowspan")

func TestHostileTextIsText(t *testing.T) {
	elem, attr := map[string]bool{}, map[string]bool{}
	for _, e := range elements {
		elem[e] = true
	}
	for _, a := range attributes {
		attr[a] = true
	}
	for _, x := range attacks {
		got := write(t, FormatHTML, hostile(t, x))
		root, err := html.Parse(strings.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == html.CommentNode {
				t.Errorf("%q: a comment %q", x, n.Data)
			}
			if n.Type != html.ElementNode {
				continue
			}
			if !elem[n.Data] {
				t.Errorf("%q: an element %s", x, n.Data)
			}
			for _, a := range n.Attr {
				if !attr[strings.ToLower(a.Key)] {
					t.Errorf("%q: %s has an attribute %s", x, n.Data, a.Key)
				}
				local := strings.HasPrefix(a.Val, "#") || a.Val == "report.files/001.jpg"
				if (a.Key == "href" || a.Key == "src") && !local {
					t.Errorf("%q: %s leads to %q", x, n.Data, a.Val)
				}
			}
		}
	}
}

func TestPagePolicyAllowsItsStyleAlone(t *testing.T) {
	got := write(t, FormatHTML, seed(t))
	_, rest, _ := strings.Cut(got, "<style>")
	css, _, ok := strings.Cut(rest, "</style>")
	if !ok {
		t.Fatal("no style")
	}
	sum := sha256.Sum256([]byte(css))
	root, err := html.Parse(strings.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	policy := ""
	for n := range root.Descendants() {
		for i, a := range n.Attr {
			if a.Key == "http-equiv" && a.Val == "Content-Security-Policy" {
				policy = n.Attr[i+1].Val
			}
		}
	}
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
	if policy != want {
		t.Errorf("policy %q; want %q", policy, want)
	}
	for _, s := range []string{"http://", "https://", "url(", "@import", " style="} {
		if strings.Contains(got, s) {
			t.Errorf("the page has %q", s)
		}
	}
}

func TestHostileTextInMarkdown(t *testing.T) {
	for _, x := range attacks {
		got := write(t, FormatMarkdown, hostile(t, x))
		for _, bad := range []string{"<script", "<img", "<svg", "<iframe", "<a ", "\x1b", "\u202e", "](", "<!--", "</style"} {
			if strings.Contains(strings.ReplaceAll(got, `\](`, ""), bad) {
				t.Errorf("%q: the report has %q", x, bad)
			}
		}
		for line := range strings.Lines(got) {
			if strings.HasPrefix(line, "|") && strings.HasPrefix(line, "| failed |") {
				if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 7 {
					t.Errorf("%q: a row has %d bars: %s", x, n, line)
				}
			}
		}
	}
}

func TestNoFormulaInCSV(t *testing.T) {
	for _, x := range attacks {
		rows, err := csv.NewReader(strings.NewReader(write(t, FormatCSV, hostile(t, x)))).ReadAll()
		if err != nil {
			t.Fatalf("%q: %v", x, err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
					t.Errorf("%q: a cell %q", x, cell)
				}
			}
		}
	}
}

func TestCSVText(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "cms": "cms", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\t=1": "'=1", "＝1": "'＝1", "a=1": "a=1", "a\nb": "a b",
	} {
		if got := csvText(in); got != want {
			t.Errorf("csvText(%q) = %q; want %q", in, got, want)
		}
	}
	if got := write(t, FormatCSV, seed(t)); !strings.Contains(got, "flaky\r\n") || strings.Contains(strings.ReplaceAll(got, "\r\n", ""), "\n") {
		t.Error("lines do not end as RFC 4180 has it")
	}
}

func TestThumbnail(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 960, 2000))
	for y := range 2000 {
		for x := range 960 {
			img.Set(x, y, color.RGBA{uint8(200 * (x / 480)), 0, 0, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	small, err := Thumbnail(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := jpeg.Decode(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Bounds().Size(); s != image.Pt(480, 360) {
		t.Errorf("size %v; want 480x360", s)
	}
	left, _, _, _ := got.At(100, 100).RGBA()
	right, _, _, _ := got.At(400, 100).RGBA()
	if left>>8 > 20 || right>>8 < 180 {
		t.Errorf("red is %d and %d; want near 0 and 200", left>>8, right>>8)
	}
	if _, err := Thumbnail(b.Bytes()[:100]); err == nil {
		t.Error("half a picture made a small one")
	}
	if _, err := Thumbnail([]byte("no picture")); err == nil {
		t.Error("text made a small picture")
	}
}
