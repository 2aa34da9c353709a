package agentproc

import (
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func readAll(l *lineReader) []Line {
	var all []Line
	for {
		line, err := l.next()
		if err != nil {
			return all
		}
		all = append(all, line)
	}
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		max      int
		want     []Line
	}{
		{"empty", "", 8, nil},
		{"empty lines", "\n\n", 8, []Line{{}, {Offset: 1}}},
		{"crlf", "ab\r\nc", 8, []Line{
			{Text: []byte("ab"), Size: 2},
			{Text: []byte("c"), Offset: 4, Size: 1, Unterminated: true},
		}},
		{"at the cap", "12345678\nx\n", 8, []Line{
			{Text: []byte("12345678"), Size: 8},
			{Text: []byte("x"), Offset: 9, Size: 1},
		}},
		{"past the cap", "123456789abc\nx\n", 8, []Line{
			{Text: []byte("12345678"), Size: 12, Truncated: true},
			{Text: []byte("x"), Offset: 13, Size: 1},
		}},
		{"past the cap and cut", "123456789", 8, []Line{
			{Text: []byte("12345678"), Size: 9, Truncated: true, Unterminated: true},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := readAll(newLineReader(strings.NewReader(tt.in), tt.max))
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("lines = %+v; want %+v", got, tt.want)
			}
		})
	}
}

// repeat is n times b, without holding it.
type repeat struct {
	b byte
	n int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	k := min(len(p), r.n)
	for i := range p[:k] {
		p[i] = r.b
	}
	r.n -= k
	return k, nil
}

func TestHugeLine(t *testing.T) {
	const huge = 200 << 20
	in := io.MultiReader(strings.NewReader("first\n"), &repeat{'A', huge}, strings.NewReader("\nlast\n"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := readAll(newLineReader(in, 1<<20))
	runtime.ReadMemStats(&after)
	if len(got) != 3 || string(got[2].Text) != "last" {
		t.Fatalf("%d lines; want 3, the last one %q", len(got), "last")
	}
	if l := got[1]; l.Size != huge || len(l.Text) != 1<<20 || !l.Truncated || l.Offset != 6 {
		t.Errorf("huge line: size %d, kept %d, truncated %v, offset %d", l.Size, len(l.Text), l.Truncated, l.Offset)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("a line of 200 MiB with a cap of 1 MiB allocated %d MiB", used>>20)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\nb", 3)
	f.Add("\r\n\r\n", 1)
	f.Add("{\"a\":1}\n\x00\xff", 4)
	f.Fuzz(func(t *testing.T, in string, maxLine int) {
		var size int64
		for _, l := range readAll(newLineReader(strings.NewReader(in), maxLine%64)) {
			if l.Offset < size || l.Offset > int64(len(in)) {
				t.Fatalf("offset %d after %d bytes of %d", l.Offset, size, len(in))
			}
			size = l.Offset + l.Size
			if !l.Truncated && int64(len(l.Text)) != l.Size {
				t.Fatalf("line of %d bytes says %d", len(l.Text), l.Size)
			}
		}
	})
}
