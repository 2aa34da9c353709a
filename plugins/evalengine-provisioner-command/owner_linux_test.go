package main

import "testing"

func TestParseListener(t *testing.T) {
	for _, tt := range []struct {
		in    string
		port  int
		inode string
		ok    bool
	}{
		{"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12345 1 0 100 0 0 10 0", 8080, "12345", true},
		{"   1: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 77 1", 80, "77", true},
		{"   0: 0100007F:1F90 0100007F:8000 01 00000000:00000000 00:00000000 00000000  1000        0 12345 1", 0, "", false},
		{"  sl  local_address rem_address   st tx_queue", 0, "", false},
		{"", 0, "", false},
	} {
		port, inode, ok := parseListener(tt.in)
		if port != tt.port || inode != tt.inode || ok != tt.ok {
			t.Errorf("parseListener(%q) = %d, %q, %v", tt.in, port, inode, ok)
		}
	}
}

func FuzzParseListener(f *testing.F) {
	f.Add("   0: 0100007F:1F90 00000000:0000 0A 0:0 00:0 0 0 0 12345 1")
	f.Fuzz(func(t *testing.T, line string) {
		if port, _, _ := parseListener(line); port < 0 || port > 65535 {
			t.Fatalf("port %d of %q", port, line)
		}
	})
}
