package text

import "testing"

func TestText(t *testing.T) {
	tests := []struct{ got, want string }{
		{Count(0, "call"), "0 calls"},
		{Count(1, "call"), "1 call"},
		{Count(12345, "token"), "12,345 tokens"},
		{Called(0), "never called"},
		{Called(1), "called once"},
		{Called(2000), "called 2,000 times"},
		{Int(-123), "-123"},
		{Int(-1234567), "-1,234,567"},
		{Int(100), "100"},
		{Number(3), "3"},
		{Number(0.12345), "0.123"},
		{Number(1234.5), "1234.5"},
		{Number(1e300), "1" + zeros(300)},
		{Size(0), "0 B"},
		{Size(1023), "1023 B"},
		{Size(179889), "176 KiB"},
		{Size(3355443), "3.2 MiB"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q; want %q", tt.got, tt.want)
		}
	}
}

func zeros(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
	}
	return string(b)
}
