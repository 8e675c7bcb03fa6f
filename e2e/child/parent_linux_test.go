package child

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestDiesWithParent: a parent is killed, and cannot stop its child.
func TestDiesWithParent(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"=parent", "TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	wantError(t, err, "signal: killed")
	var pid int
	if _, err := fmt.Sscanf(string(out), "pid %d\n", &pid); err != nil {
		t.Fatalf("the parent printed %q: %v", out, err)
	}
	// A zombie has no exe either: it is dead, whoever reaps it.
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Readlink(exe); err != nil {
			return
		}
	}
	t.Errorf("child %d outlived its parent", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}
