package engine

import (
	"errors"
	"fmt"
	"net"

	"github.com/weirproxy/weir/e2e/child"
)

// portAttempts is how often an engine that exits at once is started.
const portAttempts = 5

// onPort starts an engine on a port; zero is any that is free. Somebody may take
// one between the moment that it is found and the moment that the engine binds
// it, and not every engine says that this is why it exits. Nor are all of its
// ports given, so that it is worth another try with one that is.
func onPort[E any](port int, start func(port int) (E, error)) (e E, err error) {
	for range portAttempts {
		at := port
		if at == 0 {
			if at, err = freePort(); err != nil {
				return e, err
			}
		}
		if e, err = start(at); !errors.Is(err, child.ErrExited) {
			break
		}
	}
	return e, err
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
