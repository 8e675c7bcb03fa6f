package envoyproc

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/weirproxy/weir/e2e/child"
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

// run says how to run an Envoy on the bootstrap, in the mode that these arguments
// put it in, given the private directory.
func (o Options) run(bin string, mode func(dir string) []string) child.Options {
	return child.Options{
		Name:  "envoy",
		Files: map[string][]byte{configFile: o.Config},
		Noise: isInventory,
		Command: func(dir string) *exec.Cmd {
			cmd := exec.Command(bin, o.args(dir, mode(dir))...)
			cmd.Dir = cmp.Or(o.Dir, ".")
			cmd.Env = append(os.Environ(), o.Env...)
			return cmd
		},
	}
}

func (o Options) args(dir string, mode []string) []string {
	args := append(mode, "--config-path", filepath.Join(dir, configFile), "--log-level", cmp.Or(o.LogLevel, "info"))
	if o.ComponentLogLevel != "" {
		args = append(args, "--component-log-level", o.ComponentLogLevel)
	}
	if o.Concurrency != 0 {
		args = append(args, "--concurrency", strconv.Itoa(o.Concurrency))
	}
	return append(args, o.ExtraArgs...)
}
