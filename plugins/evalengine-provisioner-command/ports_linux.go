package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// canHold says that a bound port can be listened on by another process.
const canHold = true

// bind binds a free port without listening on it.
func bind() (number int, free func(), err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, err
	}
	number, err = bound(fd)
	if err != nil {
		unix.Close(fd)
		return 0, nil, err
	}
	return number, func() { unix.Close(fd) }, nil
}

func bound(fd int) (int, error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	addr, err := unix.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	in, ok := addr.(*unix.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("the socket's address is a %T", addr)
	}
	return in.Port, nil
}
