package manifests

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

// TestManifests holds every file to the APIs that it is for.
func TestManifests(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range files(t) {
		for _, d := range read(t, file) {
			t.Run(d.name, func(t *testing.T) {
				seen[d.kind()] = true
				if err := check(d); err != nil {
					t.Error(err)
				}
			})
		}
	}
	// What is not there is not held to anything.
	for kind := range kinds {
		if !seen[kind] {
			t.Errorf("no manifest is a %s", kind)
		}
	}
}

// TestWeirValidate finds the same configurations as a user does, and no warning, once
// the image has been filled in.
func TestWeirValidate(t *testing.T) {
	for _, file := range files(t) {
		var want int
		for _, d := range read(t, file) {
			found, err := configurations(d)
			if err != nil {
				t.Fatal(err)
			}
			want += len(found)
		}
		if want == 0 {
			continue // validate refuses a file that has none
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, digest, _ := strings.Cut(image, "@sha256:")
		filled := filepath.Join(t.TempDir(), filepath.Base(file))
		text = bytes.ReplaceAll(text, []byte(strings.Repeat("0", 64)), []byte(digest))
		if err := os.WriteFile(filled, text, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tool(t), "validate", "--strict", "--format", "json", filled).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
		if got := strings.Count(string(out), `"carrier"`); got != want {
			t.Errorf("%s: %d configurations found, want %d:\n%s", file, got, want, out)
		}
	}
}

// TestEnvoyValidates lets Envoy check its own files, as a user would.
func TestEnvoyValidates(t *testing.T) {
	for _, file := range []string{"envoy.yaml", "native.yaml", "global-redis.yaml", "global-redis-cluster.yaml", "global-rls.yaml", "dynamic/envoy.yaml"} {
		t.Run(file, func(t *testing.T) {
			config, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				t.Fatal(err)
			}
			module(t)
			log, err := envoyproc.Validate(context.Background(), envoyproc.Options{Config: config, Dir: "../.."})
			if err != nil || !strings.Contains(log, "OK") {
				t.Errorf("%v\n%s", err, log)
			}
		})
	}
}

// modulePath is where `make build` leaves the module.
const modulePath = "../../build/weir.wasm"

// module is the module's file. Without it a test fails, and does not skip.
func module(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(modulePath)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no module, `make build` makes it: %v", err)
	}
	return path
}

// builtIn is the folder of the tool, once it has been built.
var builtIn string

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "manifests-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	path := filepath.Join(dir, "weir")
	build := exec.Command("go", "build", "-o", path, "./limiter/cmd/weir")
	build.Dir = "../.."
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tool: %w\n%s", err, said)
	}
	return path, nil
})

// tool is the command weir, built from this tree.
func tool(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMain(m *testing.M) {
	// The Envoy that `make envoy` installs is beside the module above this one.
	if installed, err := filepath.Abs("../../.envoy/bin/envoy"); err == nil && os.Getenv("ENVOY") == "" {
		if _, err := exec.LookPath("envoy"); err != nil {
			_ = os.Setenv("ENVOY", installed)
		}
	}
	code := m.Run()
	if builtIn != "" {
		_ = os.RemoveAll(builtIn)
	}
	os.Exit(code)
}
