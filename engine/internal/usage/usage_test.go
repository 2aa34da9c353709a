package usage

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// read gives events as short texts, sessions numbered by first use.
func read(t testing.TB, in io.Reader, f Format, pairs ...string) ([]string, Account, error) {
	t.Helper()
	m, err := ParseMapping(pairs)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(in, Options{Format: f, Mapping: m})
	if err != nil {
		return nil, Account{}, err
	}
	var out []string
	sessions := map[uint64]int{}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, r.Account(), nil
		}
		if err != nil {
			return out, r.Account(), err
		}
		if _, ok := sessions[e.Session]; !ok {
			sessions[e.Session] = len(sessions) + 1
		}
		n := r.Name(e.Item)
		out = append(out, fmt.Sprintf("%d %d %s/%s %d %g", sessions[e.Session], e.At/1e6, n.Tool, n.Action, e.Outcome, e.LatencyMS))
	}
}

func TestCSV(t *testing.T) {
	in := "\xef\xbb\xbfprompt,conversation_id,time,\"tool\",action,ok,latency\r\n" +
		"secret,a,2026-11-01T00:00:00Z,pages_list,,true,12.5\r\n" +
		"\r\n" +
		"\"multi\nline, \"\"quoted\"\"\",b,1793491201,designer,\"add \"\"x\"\"\",0,\n" +
		"x,a,1793491200500,pages_list,,,\n" +
		"x,a\n" +
		"x,,1793491200500,pages_list,,,\n" +
		"x,a,yesterday,pages_list,,,\n" +
		"x,a,1793491200500,,,,\n" +
		"x,a,1793491200500,pages_*,,,\n" +
		"x,a,1793491200500,t,a\x01,,\n" +
		"x,a,1793491200500,t,a,perhaps,\n" +
		"x,a,1793491200500,t,a,true,-1\n" +
		"a bare \" quote,a,1793491200500,t,a,true,\n" +
		"x,\"b\"x,1793491200500,t,a,true,\n" +
		"x,b,1793491200500,t,a,yes,0,more,columns"
	got, a, err := read(t, strings.NewReader(in), CSV, "session=conversation_id")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 1793491200000 pages_list/ 1 12.5",
		"2 1793491201000 designer/add \"x\" 2 -1",
		"1 1793491200500 pages_list/ 0 -1",
		"2 1793491200500 t/a 1 0",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantAccount := Account{
		Lines: 14, Events: 4, First: time.Unix(1793491200, 0).UTC(), Last: time.Unix(1793491201, 0).UTC(),
		Broken: []Broken{
			{BrokenAction, 1, 12}, {BrokenColumns, 1, 7}, {BrokenLatency, 1, 14}, {BrokenOK, 1, 13}, {BrokenSession, 1, 8},
			{BrokenSyntax, 2, 15}, {BrokenTime, 1, 9}, {BrokenTool, 2, 10},
		},
	}
	if d := cmp.Diff(wantAccount, a); d != "" {
		t.Error(d)
	}
	if a.BrokenLines() != 10 {
		t.Errorf("BrokenLines() = %d; want 10", a.BrokenLines())
	}
}

func TestJSONLines(t *testing.T) {
	in := `{"session":"a","time":"2026-11-01T00:00:00.25+00:00","tool":"pages_list","ok":true,"latency":3,"arguments":{"deep":[{"tool":"x"}]}}
{"session":7,"time":1793491201.5,"t\u006fol":"designer","action":"a\u0064d","ok":false,"latency":null,"action2":[1,[2,{"a":"}"}]]}

{"session":"a","time":1793491200,"tool":"pages_list","ok":null}
not json
{"session":"a","time":1793491200,"tool":"x"
{"session":"a","time":1793491200,"tool":"x"} {"session":"a"}
{"session":"a","time":1793491200,"tool":"x","tool":"y"}
["session"]
{"session":["a"],"time":1793491200,"tool":"x"}
{"session":"a","tool":"x"}
{"session":"a","time":1793491200,"tool":{"name":"x"}}
{"session":"a","time":1793491200,"tool":"x","ok":[]}
{"session":"a","time":1793491200,"tool":"x","note":"` + "\xff" + `"}
`
	got, a, err := read(t, strings.NewReader(in), JSONLines)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1 1793491200250 pages_list/ 1 3", "2 1793491201500 designer/add 2 -1", "1 1793491200000 pages_list/ 0 -1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Broken{{BrokenOK, 1, 13}, {BrokenSession, 1, 10}, {BrokenSyntax, 6, 5}, {BrokenTime, 1, 11}, {BrokenTool, 1, 12}}, a.Broken); d != "" {
		t.Error(d)
	}
	if a.Lines != 13 || a.Events != 3 {
		t.Errorf("%d lines, %d events; want 13, 3", a.Lines, a.Events)
	}
}

func TestFileOrderWithoutTime(t *testing.T) {
	got, a, err := read(t, strings.NewReader("tool\tsession\nx\t1\ny\t1\n"), TSV, "time=")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1 0 x/ 0 -1", "1 0 y/ 0 -1"}, got); d != "" {
		t.Error(d)
	}
	if !a.First.IsZero() || !a.Last.IsZero() {
		t.Errorf("a period of events without a time: %v", a)
	}
}

func TestHeaders(t *testing.T) {
	for _, tt := range []struct{ in, pair, want string }{
		{"", "ok=ok", "the file is empty"},
		{"PLANTED,time,tool\nx,y,z\n", "ok=", `the first line names no column "session", which is to be the session: map another one with session=COLUMN`},
		{"session,tool,PLANTED\nx,y,z\n", "ok=", `the first line names no column "time", which is to be the time: map another one with time=COLUMN, or time= where there is none`},
		{"session,time,tool\nx,y,z\n", "ok=worked", `names no column "worked", which is to be the ok`},
		{"session,time,tool,tool\n", "ok=", `names the column "tool" twice`},
		{"session,\"time\n", "ok=", "the first line, which names the columns, is not whole"},
	} {
		_, _, err := read(t, strings.NewReader(tt.in), CSV, tt.pair)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "PLANTED") {
			t.Errorf("%q: %v; want %q", tt.in, err, tt.want)
		}
	}
}

func TestMapping(t *testing.T) {
	for _, tt := range []struct{ pairs, want string }{
		{"session", "write FIELD=COLUMN"},
		{"user=x", "write FIELD=COLUMN"},
		{"session=", "a column for session is needed"},
		{"tool=a tool=b", "mapped twice"},
		{"tool=session", `session and tool are both the column "session"; say tool= for none`},
	} {
		if _, err := ParseMapping(strings.Fields(tt.pairs)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseMapping(%q): %v; want %q", tt.pairs, err, tt.want)
		}
	}
	m, err := ParseMapping([]string{"time=", "action=", "tool=name=x"})
	if err != nil || m.Tool != "name=x" || m.Time != "" || m.Session != "session" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestTimes(t *testing.T) {
	for in, want := range map[string]string{
		"2026-11-01T10:00:00Z":                "2026-11-01T10:00:00Z",
		"2026-11-01T10:00:00.123456789+01:00": "2026-11-01T09:00:00.123456789Z",
		"2026-11-01 10:00:00":                 "2026-11-01T10:00:00Z",
		"2026-11-01 10:00:00+02:00":           "2026-11-01T08:00:00Z",
		"2026-11-01T10:00:00":                 "2026-11-01T10:00:00Z",
		"1793491200":                          "2026-11-01T00:00:00Z",
		"1793491200123":                       "2026-11-01T00:00:00.123Z",
		"1793491200123456":                    "2026-11-01T00:00:00.123456Z",
		"1793491200123456789":                 "2026-11-01T00:00:00.123456789Z",
		"1793491200.5":                        "2026-11-01T00:00:00.5Z",
		"-1":                                  "1969-12-31T23:59:59Z",
		"":                                    "", "x": "", "NaN": "", "1e300": "", "-9223372036854775808": "", "99999999999": "", "9001-01-01T00:00:00Z": "", "2026-13-01": "",
	} {
		n, ok := parseTime([]byte(in))
		if ok != (want != "") {
			t.Errorf("parseTime(%q) is %v", in, ok)
		} else if got := time.Unix(0, n).UTC().Format(time.RFC3339Nano); ok && got != want {
			t.Errorf("parseTime(%q) = %s; want %s", in, got, want)
		}
	}
}

// TestWindows reads byte by byte, and records around the longest.
func TestWindows(t *testing.T) {
	long := strings.Repeat("x", maxRecord)
	in := "session,time,tool,note\na,1,t,\"" + long[:maxRecord-100] + "\"\nb,1,t," + long + "\nc,1,t,\"" + long + "\nd,1,t,n\n"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "in parts": iotest.HalfReader(strings.NewReader(in))} {
		got, a, err := read(t, r, CSV)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"1 1000 t/ 0 -1", "2 1000 t/ 0 -1"}, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := cmp.Diff([]Broken{{BrokenLength, 1, 3}, {BrokenSyntax, 1, 4}}, a.Broken); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	one := func(s string) string { return fmt.Sprintf(`{"session":"%s","time":1,"tool":"t","n":"`, s) }
	in = one("a") + long[:maxRecord-100] + "\"}\n" + one("b") + long + "\"}\n" + one("c") + "\"}"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "in parts": iotest.HalfReader(strings.NewReader(in))} {
		got, a, err := read(t, r, JSONLines)
		if err != nil || len(got) != 2 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if d := cmp.Diff([]Broken{{BrokenLength, 1, 2}}, a.Broken); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	in = "session,time,tool\r\n\r\na,1,\"t\"\r\n\r\nb,1,t\r\n"
	got, a, err := read(t, iotest.OneByteReader(strings.NewReader(in)), CSV)
	if err != nil || len(got) != 2 || a.Lines != 2 {
		t.Errorf("byte by byte: %v, %+v, %v", got, a, err)
	}
}

func TestErrorOfTheFile(t *testing.T) {
	want := errors.New("the disk is gone")
	for _, f := range []Format{CSV, JSONLines} {
		in := io.MultiReader(strings.NewReader("session,time,tool\n"), iotest.ErrReader(want))
		if _, _, err := read(t, in, f); !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", f, err, want)
		}
	}
}

func TestTooManyNames(t *testing.T) {
	var b strings.Builder
	b.WriteString("session,time,tool\n")
	for i := range maxItems + 1 {
		fmt.Fprintf(&b, "s,1,data%d\n", i)
	}
	if _, _, err := read(t, strings.NewReader(b.String()), CSV); !errors.Is(err, ErrTooManyNames) {
		t.Errorf("%v; want %v", err, ErrTooManyNames)
	}
}

func TestOpen(t *testing.T) {
	const text = "session,time,tool,action,ok,latency\na,1,t,x,true,10\na,2,t,y,false,20\nb,3,u,,,\n"
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	g.Write([]byte(text))
	g.Close()
	z, _ := zstd.NewWriter(&zst)
	z.Write([]byte(text))
	z.Close()
	dir := t.TempDir()
	for name, content := range map[string][]byte{"a.csv": []byte(text), "a.CSV.gz": gz.Bytes(), "a.csv.zst": zst.Bytes(), "cut.csv.gz": gz.Bytes()[:gz.Len()-12], "no.csv.gz": []byte(text), "a.txt": []byte(text)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.csv", "a.CSV.gz", "a.csv.zst"} {
		tally := count(t, filepath.Join(dir, name))
		share, _ := tally.Share("t", "")
		part, _ := tally.Share("t", "y")
		none, _ := tally.Share("v", "")
		rate, _ := tally.Tools["t"].FailureRate()
		ms, _ := tally.Tools["t"].MeanLatencyMS()
		if share != 2.0/3 || part != 1.0/3 || none != 0 || rate != 0.5 || ms != 15 || tally.Account.Events != 3 {
			t.Errorf("%s: shares %v %v %v, failures %v, %v ms, %+v", name, share, part, none, rate, ms, tally.Account)
		}
		if _, known := tally.Tools["u"].FailureRate(); known {
			t.Errorf("%s: a failure rate of calls whose outcome nobody knows", name)
		}
		if _, known := tally.Tools["v"].FailureRate(); known {
			t.Errorf("%s: a failure rate of no calls", name)
		}
	}
	for name, want := range map[string]string{"no.csv.gz": "no.csv.gz", "a.txt": "does not say the format", "none.csv": "none.csv"} {
		if _, err := Open(filepath.Join(dir, name), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
	r, err := Open(filepath.Join(dir, "cut.csv.gz"), Options{})
	if err == nil {
		defer r.Close()
		_, err = Count(context.Background(), r)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that was cut: %v", err)
	}
	if _, known := (&Tally{}).Share("t", ""); known {
		t.Error("a share of no calls")
	}
}

func count(t *testing.T, path string) *Tally {
	t.Helper()
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tally, err := Count(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}
