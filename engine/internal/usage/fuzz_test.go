package usage

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// FuzzCSV holds the reader to what the standard library makes of the same file
// where that reads it whole, and to its own account in any case.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,1,t,x\n", "\"a\",\"1\",\"t\"\"u\",\"x\ny\"\r\n", "a,1,\"t\nb,1,t,x\n", "a,\"\"\"\",,\n\n\n", "a,1,t,x,more\na\n", "a,1,t,\"x\"\r\"", "\r\r\n", ",,,\n\"\n,,,\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const header = "session,time,tool,note\n"
		in := append([]byte(header), b...)
		got, a, err := read(t, bytes.NewReader(in), CSV)
		if err != nil {
			t.Fatal(err)
		}
		adds(t, got, a)
		std := csv.NewReader(bytes.NewReader(in))
		std.FieldsPerRecord = -1
		rows, err := std.ReadAll()
		if err != nil || bytes.Contains(b, []byte("\r")) {
			return // the library takes returns within quotes away
		}
		var want []string
		for _, r := range rows[1:] {
			if len(r) < 4 || r[0] == "" || r[2] == "" || !usable([]byte(r[2])) {
				continue
			}
			if at, ok := parseTime([]byte(r[1])); ok {
				want = append(want, fmt.Sprintf(" %d %s/ 0 -1", at/1e6, r[2]))
			}
		}
		for i := range got {
			_, got[i], _ = strings.Cut(got[i], " ")
			got[i] = " " + got[i]
		}
		if fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("got %q\nwant %q", got, want)
		}
	})
}

func FuzzJSONLines(f *testing.F) {
	for _, s := range []string{`{"session":"a","time":1,"tool":"t","x":{"tool":"u"}}`, `{"session":"a"`, "[]\n{}\n", `{"tool":"\ud800"}`, `{"a":` + strings.Repeat("[", 20_000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, a, err := read(t, bytes.NewReader(b), JSONLines)
		if err != nil {
			t.Fatal(err)
		}
		adds(t, got, a)
	})
}

// adds checks that every line is an event or broken.
func adds(t *testing.T, got []string, a Account) {
	t.Helper()
	n := 0
	for _, k := range a.Broken {
		n += k.Lines
	}
	if n+len(got) != a.Lines || len(got) != a.Events {
		t.Errorf("%d events and %d broken lines of %d: %+v", len(got), n, a.Lines, a)
	}
}

// events is a file of n events that is made while it is read.
type events struct {
	n, i int
	line []byte
	json bool
}

func (e *events) Read(b []byte) (int, error) {
	if len(e.line) == 0 {
		if e.i == e.n {
			return 0, io.EOF
		}
		switch {
		case e.json:
			e.line = fmt.Appendf(e.line[:0], `{"conversation":"c%d","user":"user-%d@example.com","session":"s%d","time":%d,"tool":"tool_%d","action":"","ok":true,"latency":%d,"args":{"a":["b",{"c":"d"}]}}`+"\n", e.i, e.i, e.i%(e.n/10+1), 1793491200000+e.i, e.i*7%40, e.i%1000)
		case e.i == 0:
			e.line = append(e.line[:0], "conversation,user,session,time,tool,action,ok,latency,args\n"...)
		default:
			e.line = fmt.Appendf(e.line[:0], "c%d,user-%d@example.com,s%d,%d,tool_%d,,true,%d,\"{\"\"a\"\": [1, 2]}\"\n", e.i, e.i, e.i%(e.n/10+1), 1793491200000+e.i, e.i*7%40, e.i%1000)
		}
		e.i++
	}
	n := copy(b, e.line)
	e.line = e.line[n:]
	return n, nil
}

func BenchmarkRead(b *testing.B) {
	for _, f := range []Format{CSV, JSONLines} {
		b.Run(string(f), func(b *testing.B) {
			var content bytes.Buffer
			io.Copy(&content, &events{n: 100_000, json: f == JSONLines})
			b.SetBytes(int64(content.Len()))
			b.ReportAllocs()
			for b.Loop() {
				r, err := New(bytes.NewReader(content.Bytes()), Options{Format: f})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for {
					if _, err = r.Next(); err != nil {
						break
					}
					n++
				}
				if !errors.Is(err, io.EOF) || n < 99_999 {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/event")
		})
	}
}
