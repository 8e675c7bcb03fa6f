package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

const (
	// startTimeout bounds a start whatever its context says. Envoy takes about two
	// seconds to load a Go module, on a busy machine more.
	startTimeout = 60 * time.Second
	pollInterval = 10 * time.Millisecond
	stopTimeout  = 10 * time.Second

	// pipeTimeout is how long a process that has exited is waited for because of
	// another that it has left behind with our pipe.
	pipeTimeout = time.Second
)

// ErrExited is what a start fails with if the program ends before it serves.
var ErrExited = errors.New("it exited before it was ready")

// Start starts a program, and asks ready again and again until that has no error.
// If the program exits before, or ctx ends, it is no more when Start returns.
//
// ctx, and a limit of 60 seconds, bound the start only. The process runs until
// [Process.Stop], or until the calling process dies (on Linux, where the kernel
// then kills it).
func Start(ctx context.Context, o Options, ready func(context.Context, *Process) error) (*Process, error) {
	p, err := launch(o)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Name, err)
	}
	if err := p.await(ctx, ready); err != nil {
		_ = p.Stop() // how it exited is part of err already
		return nil, fmt.Errorf("start %s: %w; last output:\n%s", o.Name, err, p.log.tail(o.Noise))
	}
	return p, nil
}

// Run runs a program to its end, and returns what it printed. If ctx ends before,
// the program is killed.
func Run(ctx context.Context, o Options) (printed string, err error) {
	p, err := launch(o)
	if err != nil {
		return "", fmt.Errorf("run %s: %w", o.Name, err)
	}
	select {
	case <-p.done:
		err = p.exit
	case <-ctx.Done():
		p.Kill()
		err = ctx.Err()
	}
	if err := errors.Join(err, os.RemoveAll(p.dir)); err != nil {
		return p.Log(), fmt.Errorf("run %s: %w; last output:\n%s", o.Name, err, p.log.tail(o.Noise))
	}
	return p.Log(), nil
}

// launch starts the command and, in the background, waits for its exit.
//
// The kernel sends the death signal when the *thread* that forked ends, not the
// process. So one goroutine keeps its thread from the fork until the exit; on
// a shared thread, an unrelated goroutine could end it and kill the child.
func launch(o Options) (*Process, error) {
	dir, err := o.folder()
	if err != nil {
		return nil, err
	}
	p := &Process{name: o.Name, cmd: o.Command(dir), dir: dir, patience: cmp.Or(o.StopTimeout, stopTimeout), done: make(chan struct{})}
	p.cmd.Dir = cmp.Or(p.cmd.Dir, dir)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.cmd.SysProcAttr = dieWithParent()
	p.cmd.WaitDelay = pipeTimeout
	p.stop = sync.OnceValue(p.terminate)
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
	if err := <-started; err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

// await polls until the program is ready, has exited, or ctx is done.
func (p *Process) await(ctx context.Context, ready func(context.Context, *Process) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	reason := errors.New("not asked yet")
	for {
		select {
		case <-p.done:
			return p.exited()
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w: %w", ctx.Err(), reason)
		case <-tick.C:
		}
		switch err := ready(ctx, p); {
		case err == nil:
			return p.exited()
		case ctx.Err() == nil: // a question that it cut short says nothing
			reason = err
		}
	}
}

// exited is an error if the program has exited. Whoever then says that it is
// ready, as on a port that was taken, is a stranger.
func (p *Process) exited() error {
	select {
	case <-p.done:
		return fmt.Errorf("%w: %s", ErrExited, p.cmd.ProcessState)
	default:
		return nil
	}
}
