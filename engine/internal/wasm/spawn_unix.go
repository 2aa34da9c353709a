//go:build unix && !linux

package wasm

import (
	"os"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func widen(*os.File) {}
