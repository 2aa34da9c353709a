//go:build unix && !linux

package main

import "net"

const canHold = false

// bind finds a free port; the system may give it to another once it is freed.
func bind() (number int, free func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	return l.Addr().(*net.TCPAddr).Port, func() { l.Close() }, nil
}
