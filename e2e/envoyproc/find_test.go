package envoyproc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

// install puts an executable at dir/name and returns its path.
func install(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// emptyRepo moves the test to a folder of a repository without an Envoy, with
// none on PATH and none in $ENVOY, and returns the repository's root.
func emptyRepo(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(root, "some", "package")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(sub)
	t.Setenv("PATH", "")
	t.Setenv("ENVOY", "")
	return root
}

func TestFindOrder(t *testing.T) {
	root := emptyRepo(t)
	bin := t.TempDir()
	check := func(want string) {
		t.Helper()
		if got, err := envoyproc.Find(); err != nil || got != want {
			t.Errorf("Find() = %q, %v, want %q", got, err, want)
		}
	}
	check(install(t, root, ".envoy/bin/envoy"))

	onPath := install(t, bin, "envoy")
	t.Setenv("PATH", bin)
	check(onPath)

	t.Setenv("ENVOY", install(t, bin, "envoy-1.36"))
	check(filepath.Join(bin, "envoy-1.36"))
}

func TestFindNothing(t *testing.T) {
	root := emptyRepo(t)
	const format = "no envoy: $ENVOY is not set, PATH has no envoy, and %q cannot be run; `make envoy` installs the last one"
	want := fmt.Sprintf(format, filepath.Join(root, ".envoy/bin/envoy"))
	if path, err := envoyproc.Find(); err == nil || err.Error() != want {
		t.Errorf("Find() = %q, %v, want error %s", path, err, want)
	}
	_, err := envoyproc.Start(t.Context(), envoyproc.Options{})
	wantError(t, err, want)
	_, err = envoyproc.Validate(t.Context(), envoyproc.Options{})
	wantError(t, err, want)
}

// A wrong $ENVOY must not fall back to another Envoy.
func TestFindWrongEnv(t *testing.T) {
	root := emptyRepo(t)
	install(t, root, ".envoy/bin/envoy")
	t.Setenv("ENVOY", "/no/such/envoy")
	_, err := envoyproc.Find()
	wantError(t, err, `envoy from $ENVOY: exec: "/no/such/envoy": stat /no/such/envoy: no such file or directory`)
}
