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
	"net/http"
	"path/filepath"

	"github.com/weirproxy/weir/e2e/child"
)

// Process is a running Envoy. Its methods may be called from several goroutines.
//
// Its Log is Envoy's log and whatever access log is configured to go to standard
// output or standard error. Envoy holds access log lines back, for up to 10
// seconds; Stop makes it write the rest.
type Process struct {
	*child.Process

	client *http.Client
	admin  string
}

// Start starts an Envoy and waits until its admin interface reports LIVE, see
// [child.Start]. If Envoy exits before that, or ctx ends, the error carries the
// end of the log.
func Start(ctx context.Context, o Options) (*Process, error) {
	bin, err := Find()
	if err != nil {
		return nil, err
	}
	// A connection per request: an idle one would count in Envoy's statistics
	// and outlive the test.
	p := &Process{client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	if p.Process, err = child.Start(ctx, o.run(bin, serveArgs), p.ready); err != nil {
		return nil, err
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
