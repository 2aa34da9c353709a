//go:build unix && !linux

package wasm

import "syscall"

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
