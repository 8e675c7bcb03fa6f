// Package envoyproc runs a real Envoy as a child process, for tests and the demo.
//
// [Start] writes a bootstrap to a private directory, starts Envoy and returns
// when Envoy is ready to serve: see its example. Nothing needs a fixed port. The
// admin interface always takes a free one, and a listener with "port_value: 0" is
// found again by its name, with [Process.Listener]. [Patch] makes a test's bootstrap
// from the file that users copy.
//
// [Find] says which Envoy that is. A test that finds none fails; it does not skip.
package envoyproc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// startTimeout bounds a start whatever its context says. A Go module takes
	// about two seconds to load, on a busy machine more.
	startTimeout = 60 * time.Second
	pollInterval = 20 * time.Millisecond

	// stopTimeout is how long Envoy may take to obey SIGTERM.
	stopTimeout = 10 * time.Second
)

// Process is a running Envoy. Its methods may be called from several goroutines.
type Process struct {
	cmd    *exec.Cmd
	log    *output
	dir    string // private files: the bootstrap and the admin address
	client *http.Client
	admin  string
	stop   func() error

	done chan struct{} // closed once Envoy has exited, after exit is set
	exit error         // the result of cmd.Wait
}

// Start starts an Envoy and waits until its admin interface reports LIVE. If
// Envoy exits before that, or ctx ends, the error carries the end of the log.
//
// ctx, and a limit of 60 seconds, bound the start only. The process runs until
// [Process.Stop], or until the calling process dies (on Linux, where the kernel
// then kills it).
func Start(ctx context.Context, o Options) (*Process, error) {
	bin, err := Find()
	if err != nil {
		return nil, err
	}
	dir, err := o.writeConfig()
	if err != nil {
		return nil, err
	}
	p := &Process{
		log: new(output),
		dir: dir,
		// A connection per request: an idle one would count in Envoy's statistics
		// and outlive the test.
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		done:   make(chan struct{}),
	}
	p.cmd = o.command(bin, dir, p.log, serveArgs(dir)...)
	p.stop = sync.OnceValue(p.terminate)

	if err := p.launch(); err != nil {
		return nil, errors.Join(fmt.Errorf("start envoy: %w", err), os.RemoveAll(dir))
	}
	if err := p.awaitReady(ctx); err != nil {
		// Envoy's own exit status is part of err already.
		_ = p.Stop()
		return nil, fmt.Errorf("%w; last output:\n%s", err, p.log.tail())
	}
	return p, nil
}

// serveArgs returns the arguments that make Envoy serve beside other Envoys.
func serveArgs(dir string) []string {
	return []string{
		// Hot restart would claim a machine-wide number (the base id) per Envoy.
		"--disable-hot-restart",
		// Merged over the bootstrap: whatever admin port that names, a free one is taken.
		"--config-yaml", "admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}",
		"--admin-address-path", filepath.Join(dir, adminFile),
	}
}

// launch starts the command and, in the background, waits for its exit.
//
// The kernel sends the death signal when the *thread* that forked ends, not the
// process. So one goroutine keeps its thread from the fork until the exit; on
// a shared thread, an unrelated goroutine could end it and kill Envoy.
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

// awaitReady polls until Envoy is ready, has exited, or ctx is done.
func (p *Process) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	reason := errors.New("not asked yet")
	for {
		select {
		case <-p.done:
			return fmt.Errorf("envoy exited before it was ready: %s", p.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("envoy is not ready: %w: %w", ctx.Err(), reason)
		case <-tick.C:
		}
		err := p.ready(ctx)
		if err == nil {
			return nil
		}
		// A question that ctx cut short says nothing about Envoy.
		if ctx.Err() == nil {
			reason = err
		}
	}
}

// PID returns Envoy's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log returns all that Envoy has printed so far: its log and whatever access
// log is configured to go to standard output or standard error. Envoy holds
// access log lines back, for up to 10 seconds; Stop makes it write the rest.
func (p *Process) Log() string { return p.log.String() }

// Stop ends Envoy: SIGTERM first, and SIGKILL if that is not obeyed within 10
// seconds. It returns when the process is gone, with an error if Envoy had to
// be killed or exited with a failure, be it long before. Further calls return
// the same result. Log keeps working afterwards.
func (p *Process) Stop() error { return p.stop() }

func (p *Process) terminate() error {
	// Both signals fail only if the process has exited already. They cannot hit
	// a stranger with a recycled pid: os.Process refuses once it was waited for.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	var killed error
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		killed = fmt.Errorf("still running %v after SIGTERM", stopTimeout)
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	if err := errors.Join(killed, p.exit, os.RemoveAll(p.dir)); err != nil {
		return fmt.Errorf("stop envoy (pid %d): %w", p.PID(), err)
	}
	return nil
}
