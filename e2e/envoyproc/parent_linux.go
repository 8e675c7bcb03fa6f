package envoyproc

import "syscall"

// dieWithParent makes the kernel kill the child when the thread that started it
// ends, as it does when this process is killed and no deferred Stop runs. The
// setting survives the exec with which PyPI's script becomes Envoy.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
