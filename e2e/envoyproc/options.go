package envoyproc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// configFile is the bootstrap's name in the private directory. Envoy picks the
// parser by the extension, and JSON is YAML.
const configFile = "envoy.yaml"

// Options says how to run Envoy. Only Config is required.
type Options struct {
	// Config is the bootstrap, YAML or JSON. Start replaces its admin address, if any.
	Config []byte

	// Dir is the working directory, where relative file names in Config start.
	// The zero value is the caller's own.
	Dir string

	// Concurrency is the number of worker threads. The zero value leaves the
	// choice to Envoy: one per hardware thread.
	Concurrency int

	// LogLevel is Envoy's --log-level. The zero value is "info".
	LogLevel string

	// ComponentLogLevel overrides LogLevel for some loggers, as in
	// "wasm:debug,config:trace".
	ComponentLogLevel string

	// Env is added to the caller's environment, each entry as "KEY=value".
	Env []string

	// ExtraArgs are further command line arguments.
	ExtraArgs []string
}

// writeConfig writes the bootstrap to a new private directory.
func (o Options) writeConfig() (dir string, err error) {
	dir, err = os.MkdirTemp("", "envoyproc-")
	if err != nil {
		return "", fmt.Errorf("write envoy's bootstrap: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, configFile), o.Config, 0o600); err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("write envoy's bootstrap: %w", err)
	}
	return dir, nil
}

// command returns the command that runs bin on the bootstrap in dir and sends
// both of its output streams to out. Run it on a locked thread: see launch.
func (o Options) command(bin, dir string, out *output, args ...string) *exec.Cmd {
	args = append(args, "--config-path", filepath.Join(dir, configFile), "--log-level", o.logLevel())
	if o.ComponentLogLevel != "" {
		args = append(args, "--component-log-level", o.ComponentLogLevel)
	}
	if o.Concurrency != 0 {
		args = append(args, "--concurrency", strconv.Itoa(o.Concurrency))
	}
	cmd := exec.Command(bin, append(args, o.ExtraArgs...)...)
	cmd.Dir = o.Dir
	cmd.Env = append(os.Environ(), o.Env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = dieWithParent()
	// Should $ENVOY be a script that leaves a child with our pipe behind, do not
	// wait for that child.
	cmd.WaitDelay = time.Second
	return cmd
}

func (o Options) logLevel() string {
	if o.LogLevel == "" {
		return "info"
	}
	return o.LogLevel
}
