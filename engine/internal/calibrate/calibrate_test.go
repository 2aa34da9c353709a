package calibrate

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func near(got, want float64) bool { return math.Abs(got-want) < 1e-9 }

func TestReadLabels(t *testing.T) {
	for _, tt := range []struct{ name, in, err string }{
		{"plain", "trial,score,labeller,value\na.base.h.r1,judge/t,ann,3\n", ""},
		{"byte order mark, order, more columns, spaces", "\ufeffValue, note,trial,score,labeller\n 3 ,\"well, well\",a.base.h.r1,judge/t, ann\n", ""},
		{"lines of Windows", "trial,score,labeller,value\r\na.base.h.r1,judge/t,ann,3\r\n", ""},
		{"UTF-16", "\xff\xfet\x00r\x00", "the file is UTF-16; save it as CSV in UTF-8"},
		{"semicolons", "trial;score;labeller;value\na;b;c;1\n", "line 1: the columns are apart by semicolons or tabs; a CSV file has commas"},
		{"two columns of one name", "trial,score,labeller,value,score\na,b,c,1,d\n", `line 1: two columns are named "score"`},
		{"negative", "trial,score,labeller,value\na,b,c,-1\n", `line 2: value "-1" is no whole number from 0 to 4; --levels sets the scale`},
		{"a million lines", "trial,score,labeller,value\n" + manyLabels(1_000_000), "line 200002: more than 200000 labels"},
		{"empty", "", "the file is empty"},
		{"column missing", "trial,score,value\n", `line 1: no column "labeller"`},
		{"too high", "trial,score,labeller,value\na,b,c,5\n", `line 2: value "5" is no whole number from 0 to 4`},
		{"fraction", "trial,score,labeller,value\na,b,c,2.5\n", `line 2: value "2.5"`},
		{"no labeller", "trial,score,labeller,value\na,b, ,2\n", "line 2: no labeller"},
		{"twice", "trial,score,labeller,value\na,b,c,2\na,b,d,2\na,b,c,2\n", "line 4: c labels b of a a second time, first in line 2"},
		{"fields missing", "trial,score,labeller,value\na,b\n", "wrong number of fields"},
		{"open quote", "trial,score,labeller,value\n\"a,b,c,2\n", "line 2"},
	} {
		got, err := ReadLabels(strings.NewReader(tt.in), 5)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v; want %q", tt.name, err, tt.err)
			}
			continue
		}
		want := []Label{{Trial: "a.base.h.r1", Score: "judge/t", Labeller: "ann", Value: 3}}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", tt.name, err, d)
		}
	}
}

func manyLabels(n int) string {
	var sb strings.Builder
	for i := range n {
		sb.WriteString("t" + strconv.Itoa(i) + ",judge/t,ann,3\n")
	}
	return sb.String()
}

func FuzzReadLabels(f *testing.F) {
	f.Add("trial,score,labeller,value\na,b,c,2\n\"x\"\"\",b,c,0\n")
	f.Add("\ufeffvalue,score,trial,labeller\r\n1,b,a,\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		list, err := ReadLabels(strings.NewReader(in), 3)
		if err != nil {
			return
		}
		for _, l := range list {
			if l.Trial == "" || l.Score == "" || l.Labeller == "" || l.Value < 0 || l.Value > 2 {
				t.Errorf("took %+v", l)
			}
		}
	})
}

// TestCompare has the binary vector of package stats: eight trials of story s, four
// of story u, and two more that nobody labelled.
func TestCompare(t *testing.T) {
	human := []int{1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1}
	judge := []float64{1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0}
	var judged []Judged
	var labels []Label
	for i := range human {
		story := "s"
		if i >= 8 {
			story = "u"
		}
		id := story + string(rune('a'+i))
		judged = append(judged, Judged{Trial: id, Story: story, Score: "j", Value: judge[i]})
		labels = append(labels, Label{Trial: id, Score: "j", Labeller: "ann", Value: human[i]})
	}
	judged = append(judged, Judged{Trial: "x", Story: "v", Score: "j", Value: 1}, Judged{Trial: "y", Story: "v", Score: "j", Value: 1},
		Judged{Trial: "x", Story: "v", Score: "other", Value: 1})
	labels = append(labels, Label{Trial: "gone", Score: "j", Labeller: "ann", Value: 1})
	c := Compare(judged, labels, 2, Pass(2))
	if len(c.Scores) != 1 || c.Scores[0].Score != "j" || c.Unused != 1 {
		t.Fatalf("scores %v, unused %d", c.Scores, c.Unused)
	}
	all := c.Scores[0].All
	if all.Trials != 12 || all.Labellers != 1 || !all.TooFew || !near(*all.Agreement, 0.75) || !near(*all.Kappa, 0.5) {
		t.Errorf("all = %+v", all)
	}
	for name, pair := range map[string][2][]float64{
		"agreement": {all.AgreementInterval, {0.4676947, 0.9110583}}, // Wilson's of 9 in 12
		"kappa":     {all.KappaInterval, {0.0168624, 0.9831376}},
	} {
		for i := range 2 {
			if len(pair[0]) != 2 || math.Abs(pair[0][i]-pair[1][i]) > 1e-4 {
				t.Errorf("interval of the %s = %v; want %v", name, pair[0], pair[1])
				break
			}
		}
	}
	if d := cmp.Diff([]string{"j of gone"}, c.UnusedFirst); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]int{{4, 1}, {2, 5}}, all.Confusion); d != "" {
		t.Error(d)
	}
	// 8 of all 14 trials pass: (8/14 + 0.8 - 1) / (5/7 + 0.8 - 1).
	if want := (8.0/14 - 0.2) / (5.0/7 - 0.2); *all.Observed != 8.0/14 || !near(*all.Corrected, want) {
		t.Errorf("observed %v, corrected %v; want %v", *all.Observed, *all.Corrected, want)
	}
	if all.AlphaNominal != nil {
		t.Errorf("alpha of one labeller = %v", *all.AlphaNominal)
	}
	stories := c.Scores[0].Stories
	if len(stories) != 2 || stories[0].Story != "s" || stories[0].Trials != 8 || stories[1].Story != "u" || stories[1].Trials != 4 {
		t.Errorf("stories = %+v", stories)
	}
}

func TestCompareSeveralLabellers(t *testing.T) {
	judged := []Judged{{Trial: "a", Story: "s", Score: "j", Value: 0.7}, {Trial: "b", Story: "s", Score: "j", Value: 0.25}}
	var labels []Label
	for i, v := range []int{2, 3, 4, 3} {
		labels = append(labels, Label{Trial: "a", Score: "j", Labeller: string(rune('a' + i)), Value: v})
	}
	labels = append(labels, Label{Trial: "b", Score: "j", Labeller: "a", Value: 1}, Label{Trial: "b", Score: "j", Labeller: "b", Value: 2})
	f := Compare(judged, labels, 5, 3).Scores[0].All
	// Medians 3 and 1, the lower of two; the judge's 2.8 and 1 are levels 3 and 1.
	if f.Labellers != 4 || *f.Agreement != 1 || f.AlphaInterval == nil || f.Confusion[3][3] != 1 || f.Confusion[1][1] != 1 {
		t.Errorf("got %+v", f)
	}
	if !near(*f.Bias, -0.1) {
		t.Errorf("bias = %v; want -0.1", *f.Bias)
	}
}
