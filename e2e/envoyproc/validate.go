package envoyproc

import (
	"context"
	"fmt"
	"os"
)

// Validate lets Envoy check the bootstrap without serving it, and returns what
// Envoy printed. The error of a refused bootstrap carries the end of that too.
func Validate(ctx context.Context, o Options) (log string, err error) {
	bin, err := Find()
	if err != nil {
		return "", err
	}
	dir, err := o.writeConfig()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)

	p := &Process{log: new(output), done: make(chan struct{})}
	p.cmd = o.command(bin, dir, p.log, "--mode", "validate")
	if err := p.launch(); err != nil {
		return "", fmt.Errorf("validate with envoy: %w", err)
	}
	select {
	case <-p.done:
		err = p.exit
	case <-ctx.Done():
		_ = p.cmd.Process.Kill()
		<-p.done
		err = ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("validate with envoy: %w; last output:\n%s", err, p.log.tail())
	}
	return p.Log(), err
}
