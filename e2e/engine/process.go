package engine

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/weirproxy/weir/e2e/child"
)

// Process is a running engine.
type Process = child.Process

// find returns the absolute path of an executable that a Debian package has: the
// engine starts in a directory of its own.
func find(name, debian string) (path string, err error) {
	if path, err = exec.LookPath(name); err != nil {
		return "", fmt.Errorf("no %s: %w; Debian's package %s has it", name, err, debian)
	}
	return filepath.Abs(path)
}
