package child

import "syscall"

// dieWithParent makes the kernel kill the child when the thread that started it
// ends, as it does when this process is killed and no deferred Stop runs. The
// setting survives an exec, such as that with which PyPI's script becomes Envoy.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
