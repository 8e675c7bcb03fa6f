// Package child runs the programs that tests and demos need beside them, such as
// Envoy and Redis, each as a child process.
//
// [Start] gives a program a private folder, starts it and returns when it serves;
// [Process.Stop] ends it, and removes the folder. [Run] is for a program that ends
// by itself. Where a program fails, the error has the end of what it printed.
package child

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Options say what to run. Name and Command are required.
type Options struct {
	// Name is what errors call the program.
	Name string

	// Files are written to the private folder before the program starts, for its
	// owner only. A name may have folders in it, as "config/limits.yaml".
	Files map[string][]byte

	// Command makes the command, given the path of the private folder. That is
	// also the working directory, unless the command names another. The output
	// of the command is taken, whatever it says.
	Command func(dir string) *exec.Cmd

	// Noise says of a line of the output that it has no place in an error. The
	// zero value lets every line in.
	Noise func(line string) bool

	// StopTimeout is how long the program may take to obey SIGTERM. The zero
	// value is 10 seconds.
	StopTimeout time.Duration
}

// folder makes a private folder with the files in it.
func (o Options) folder() (dir string, err error) {
	if dir, err = os.MkdirTemp("", o.Name+"-"); err != nil {
		return "", err
	}
	for name, content := range o.Files {
		path := filepath.Join(dir, name)
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = os.WriteFile(path, content, 0o600)
		}
		if err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}
