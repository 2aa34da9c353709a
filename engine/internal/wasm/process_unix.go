//go:build unix

package wasm

import (
	"golang.org/x/sys/unix"
)

// allocate takes memory from the system; release gives it back at once, which a
// garbage collector would do late or never.
func allocate(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

func release(b []byte) { _ = unix.Munmap(b) }

// restrict gives the process limits that do not depend on what it loads, and
// makes what it writes readable to the user alone.
func restrict() {
	unix.Umask(0o077)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

// limitAddressSpace bounds the process.
func limitAddressSpace(bytes int64) {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil {
		return
	}
	l.Cur = min(uint64(bytes), l.Max)
	_ = unix.Setrlimit(unix.RLIMIT_AS, &l)
}
