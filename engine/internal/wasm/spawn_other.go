//go:build !unix

package wasm

import (
	"os"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return nil }

func widen(*os.File) {}
