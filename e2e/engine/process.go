package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// startTimeout bounds a start whatever its context says.
	startTimeout = 30 * time.Second
	pollInterval = 5 * time.Millisecond

	// stopTimeout is how long an engine may take to obey SIGTERM.
	stopTimeout = 10 * time.Second
)

// Process is a running engine. Its methods may be called from several goroutines.
type Process struct {
	cmd  *exec.Cmd
	log  output
	dir  string // private files, the working directory
	stop func() error

	killed atomic.Bool
	done   chan struct{} // closed once the process has exited, after exit is set
	exit   error         // the result of cmd.Wait
}

// start starts an executable that a Debian package has, in a private directory of
// its own, and waits until ready says that it serves. If it exits before that,
// or ctx ends, the error carries what it printed.
//
// ctx, and a limit of 30 seconds, bound the start only. The process runs until
// [Process.Stop], or until the calling process dies (on Linux, where the kernel
// then kills it).
func start(ctx context.Context, name, debian string, args []string, ready func(context.Context, *Process) error) (*Process, error) {
	bin, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("no %s: %w; Debian's package %s has it", name, err, debian)
	}
	dir, err := os.MkdirTemp("", filepath.Base(name)+"-")
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{cmd: exec.Command(bin, args...), dir: dir, done: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.cmd.SysProcAttr = dieWithParent()
	p.cmd.WaitDelay = time.Second
	p.stop = sync.OnceValue(p.terminate)
	if err := p.launch(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), os.RemoveAll(dir))
	}
	if err := p.awaitReady(ctx, ready); err != nil {
		_ = p.Stop() // how it exited is part of err already
		return nil, fmt.Errorf("start %s: %w; it printed:\n%s", name, err, strings.TrimSpace(p.Log()))
	}
	return p, nil
}

// launch starts the command and, in the background, waits for its exit. One
// goroutine keeps its thread from the fork until the exit: the kernel sends the
// death signal when the thread that forked ends, not the process.
func (p *Process) launch() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.exit = p.cmd.Wait()
		close(p.done)
	}()
	return <-started
}

func (p *Process) awaitReady(ctx context.Context, ready func(context.Context, *Process) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	reason := errors.New("not asked yet")
	for {
		select {
		case <-p.done:
			return fmt.Errorf("it exited before it served: %s", p.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("it does not serve: %w: %w", ctx.Err(), reason)
		case <-tick.C:
		}
		err := ready(ctx, p)
		if err == nil {
			return nil
		}
		// A question that ctx cut short says nothing about the engine.
		if ctx.Err() == nil {
			reason = err
		}
	}
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log returns all that the process has printed so far.
func (p *Process) Log() string { return p.log.String() }

// Kill ends the process as a crash does, with SIGKILL, and returns when it is
// gone. Stop is still to be called, and finds nothing wrong with that.
func (p *Process) Kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill() // it fails only if the process has exited already
	<-p.done
}

// Stop ends the process: SIGTERM first, and SIGKILL if that is not obeyed within
// 10 seconds. It returns when the process is gone, with an error if it had to be
// killed or exited with a failure, be it long before. Further calls return the
// same result. Log keeps working afterwards.
func (p *Process) Stop() error { return p.stop() }

func (p *Process) terminate() error {
	// Both signals fail only if the process has exited already. They cannot hit
	// a stranger with a recycled pid: os.Process refuses once it was waited for.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	var stubborn error
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		stubborn = fmt.Errorf("still running %v after SIGTERM", stopTimeout)
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	exit := p.exit
	if p.killed.Load() {
		exit = nil
	}
	if err := errors.Join(stubborn, exit, os.RemoveAll(p.dir)); err != nil {
		return fmt.Errorf("stop %s (pid %d): %w", p.cmd.Path, p.PID(), err)
	}
	return nil
}

// output collects what a process prints, and may be read meanwhile.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

// String returns all output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// freePort returns a port of the loopback interface that nobody listens on now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
