package observability

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMain takes the Envoy that `make envoy` installs at the root of the repository,
// which envoyproc looks for beside the nearest go.mod.
func TestMain(m *testing.M) {
	if installed, err := filepath.Abs("../../.envoy/bin/envoy"); err == nil && os.Getenv("ENVOY") == "" {
		if _, err := os.Stat(installed); err == nil {
			_ = os.Setenv("ENVOY", installed)
		}
	}
	os.Exit(m.Run())
}
