package capture

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestBounded(t *testing.T) {
	long := strings.Repeat("x", 600<<10)
	cases := []struct {
		in, want string
		max      int
	}{
		{"a\x00bc\x00", "a\x00bc\x00", 10},
		{"a\x00", "a\x00", 2},
		{"ab\x00c\x00", "c\x00", 2},
		{long + "\x00short\x00" + long + "\x00end\x00", "short\x00end\x00", 1 << 10},
		{long + "\x00", long + "\x00", 1 << 20},
		{"a\x00cut", "a\x00", 10},
		{"", "", 10},
		{"\x00\x00", "\x00\x00", 1},
	}
	for _, c := range cases {
		got, err := io.ReadAll(newBounded(io.NopCloser(strings.NewReader(c.in)), c.max))
		if err != nil || string(got) != c.want {
			t.Errorf("read(%.20q, %d) = %.40q, %v; want %.40q", c.in, c.max, got, err, c.want)
		}
	}
}

func FuzzBounded(f *testing.F) {
	f.Add([]byte("a\x00bc\x00"), 2)
	f.Fuzz(func(t *testing.T, in []byte, max int) {
		max = 1 + max&0xff
		got, err := io.ReadAll(newBounded(io.NopCloser(bytes.NewReader(in)), max))
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for _, m := range bytes.SplitAfter(in, []byte{0}) {
			if len(m) <= max && bytes.HasSuffix(m, []byte{0}) {
				want = append(want, m...)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("read(%q, %d) = %q; want %q", in, max, got, want)
		}
	})
}
