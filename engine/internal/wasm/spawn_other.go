//go:build !unix

package wasm

import "syscall"

func ownSession() *syscall.SysProcAttr { return nil }
