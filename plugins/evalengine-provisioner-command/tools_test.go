package main

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// What a server writes beside its messages does not reach the client, also where
// it is JSON.
func TestMessagesWithoutNoise(t *testing.T) {
	const message = `{"jsonrpc":"2.0","id":1,"result":{}}`
	for _, tt := range []struct{ in, want string }{
		{"Listening on stdio...\n" + message + "\n", message + "\n"},
		{`{"level":"info","msg":"up"}` + "\n\n" + message + "\r\n", message + "\r\n"},
		{"{info} up\n[note] up\n[]\n" + message + "\n", message + "\n"},
		{"Listening {stdio}... " + message + message + " ok\n", message + "\n" + message + "\n"},
		{`{"level":"info"} {"x` + message + "\n", message + "\n"},
		{"[" + message + "]\n", "[" + message + "]\n"},
	} {
		got, err := io.ReadAll(&messages{r: bufio.NewReader(strings.NewReader(tt.in))})
		if string(got) != tt.want || err != nil {
			t.Errorf("of %q came %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}
