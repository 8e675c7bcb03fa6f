//go:build !linux

package child

import "syscall"

// dieWithParent sets nothing: only Linux can tie a child to its parent's life.
func dieWithParent() *syscall.SysProcAttr { return nil }
