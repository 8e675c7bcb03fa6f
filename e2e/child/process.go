package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// Process is a running program. Its methods may be called from several goroutines.
type Process struct {
	name     string
	cmd      *exec.Cmd
	log      output
	dir      string
	patience time.Duration // for SIGTERM
	stop     func() error

	killed atomic.Bool
	done   chan struct{} // closed once the process has exited, after exit is set
	exit   error         // the result of cmd.Wait
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Dir returns the path of the private folder.
func (p *Process) Dir() string { return p.dir }

// Log returns what the process has printed so far, to standard output and standard
// error. Of a flood that is the end, at least 8 MiB, after a line that says how
// much is missing.
func (p *Process) Log() string { return p.log.String() }

// Kill ends the process as a crash does, with SIGKILL, and returns when it is
// gone. Stop is still to be called, and finds nothing wrong with that.
func (p *Process) Kill() {
	if p.exited() != nil {
		return // of which Stop shall tell
	}
	p.killed.Store(true)
	_ = p.cmd.Process.Kill() // it fails only if the process has exited already
	<-p.done
}

// Stop ends the process: SIGTERM first, and SIGKILL if that is not obeyed in time.
// It returns when the process is gone, with an error if it had to be killed or
// exited with a failure, be it long before. Further calls return the same
// result. Log keeps working afterwards.
func (p *Process) Stop() error { return p.stop() }

func (p *Process) terminate() error {
	// Both signals fail only if the process has exited already. They cannot hit
	// a stranger with a recycled pid: os.Process refuses once it was waited for.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	var stubborn error
	select {
	case <-p.done:
	case <-time.After(p.patience):
		stubborn = fmt.Errorf("still running %v after SIGTERM", p.patience)
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	exit := p.exit
	if p.killed.Load() {
		exit = nil
	}
	if err := errors.Join(stubborn, exit, os.RemoveAll(p.dir)); err != nil {
		return fmt.Errorf("stop %s (pid %d): %w", p.name, p.PID(), err)
	}
	return nil
}
