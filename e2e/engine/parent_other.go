//go:build !linux

package engine

import "syscall"

// dieWithParent sets nothing: only Linux can tie a child to its parent's life.
func dieWithParent() *syscall.SysProcAttr { return nil }
