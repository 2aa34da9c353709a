package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// read renders every event of the stream.
func read(r io.Reader) string {
	var out []string
	rd := NewReader(r)
	for {
		var data bytes.Buffer
		e, err := rd.Next(&data)
		if errors.Is(err, io.EOF) && !e.HasData {
			return strings.Join(out, " ")
		}
		s := fmt.Sprintf("%s/%s/%s=%q", e.Name, e.ID, e.Retry, data.String())
		if e.Comment {
			s = "comment"
		}
		if e.Partial {
			s += "?"
		}
		if err != nil {
			return strings.Join(append(out, s+"!"+err.Error()), " ")
		}
		out = append(out, s)
	}
}

func TestRead(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "event: message\nid: 7\ndata: {\"a\":1}\n\n", `message/7/="{\"a\":1}"`},
		{"crlf", "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", `//="a\nb" //="c"`},
		{"cr", "data: a\rdata: b\r\rdata: c\r\r", `//="a\nb" //="c"`},
		{"no space, two spaces", "data:a\n\ndata:  b\n\n", `//="a" //=" b"`},
		{"empty data", "data\n\ndata:\ndata:\n\n", `//="" //="\n"`},
		{"comments", ": hi\n\n:\ndata: x\n: in between\ndata: y\n\n", `comment comment //="x\ny"`},
		{"retry and id alone", "id: 1\nretry: 500\n\n", `/1/500=""`},
		{"unknown field", "foo: 1\ndata: x\n\n", `//="x"`},
		{"U+2028 is no line end", "data: a\u2028b\n\n", "//=\"a\\u2028b\""},
		{"no last blank line", "data: x\n", `//="x"?`},
		{"cut in data", "data: {\"a", `//="{\"a"?`},
		{"empty", "", ``},
		{"blank lines", "\n\n\ndata: x\n\n\n", `//="x"`},
	}
	for _, tt := range tests {
		if got := read(strings.NewReader(tt.in)); got != tt.want {
			t.Errorf("%s: got %s; want %s", tt.name, got, tt.want)
		}
		if got := read(iotest.OneByteReader(strings.NewReader(tt.in))); got != tt.want {
			t.Errorf("%s, byte by byte: got %s; want %s", tt.name, got, tt.want)
		}
	}
}

func TestReadError(t *testing.T) {
	r := io.MultiReader(strings.NewReader("data: x\n\ndata: ha"), iotest.ErrReader(errors.New("reset")))
	if got, want := read(r), `//="x" //="ha"?!reset`; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
	if got := read(strings.NewReader("id: " + strings.Repeat("x", maxField+1) + "\n\n")); !strings.HasSuffix(got, "!"+ErrField.Error()) {
		t.Errorf("a huge id: got %.40s", got)
	}
}

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, Event{Name: "message", ID: "4", HasID: true, Retry: "9"}, strings.NewReader("{\n\"a\":\r\n1}\r")); err != nil {
		t.Fatal(err)
	}
	if err := Write(&b, Event{ID: "5", HasID: true}, nil); err != nil {
		t.Fatal(err)
	}
	want := "event: message\nid: 4\nretry: 9\ndata: {\ndata: \"a\":\ndata: 1}\ndata: \n\nid: 5\n\n"
	if b.String() != want {
		t.Errorf("got %q; want %q", b.String(), want)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"data: x\n\n", "event: a\nid: b\r\ndata: c\rdata: d\n\n", ": c\n\n", "data", "\r\n\r"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, parts := read(bytes.NewReader(in)), read(iotest.OneByteReader(bytes.NewReader(in)))
		if whole != parts {
			t.Fatalf("whole %s, byte by byte %s", whole, parts)
		}
		var b bytes.Buffer
		Write(&b, Event{}, bytes.NewReader(in))
		var back bytes.Buffer
		e, err := NewReader(&b).Next(&back)
		want := strings.ReplaceAll(strings.ReplaceAll(string(in), "\r\n", "\n"), "\r", "\n")
		if err != nil || e.Partial || back.String() != want {
			t.Fatalf("%q came back as %q, %v", in, back.String(), err)
		}
	})
}
