// Package istiofetch has Istio's own code fetch the image of the module, as it
// is fetched for a WasmPlugin. It is a module of its own, so that what Istio
// requires stays out of Weir's.
package istiofetch

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"istio.io/istio/pkg/wasm"
)

// module is what `make build` makes.
const module = "../../build/weir.wasm"

// TestFetch: what Istio's proxies would load is the module, byte for byte, in
// either format, by tag and by digest, and with a pull secret.
func TestFetch(t *testing.T) {
	want, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // nobody's credentials
	weir := buildTool(t)
	for _, format := range []string{"compat", "oci"} {
		t.Run(format, func(t *testing.T) {
			host, byTag, byDigest := push(t, weir, format)
			other := strings.Repeat("0", 64)
			for _, row := range []struct{ name, url, checksum, fault string }{
				{"tag", byTag, "", ""},
				{"tag and sha256", byTag, digest(byDigest), ""},
				{"digest", byDigest, "", ""},
				{"digest and sha256", byDigest, digest(byDigest), ""},
				{"another sha256", byTag, other, "does not match"},
				{"another digest", "oci://" + host + "/edge/weir@sha256:" + other, "", "could not fetch manifest"},
			} {
				t.Run(row.name, func(t *testing.T) {
					got, err := fetch(t, row.url, row.checksum)
					switch {
					case row.fault != "":
						if err == nil || !strings.Contains(err.Error(), row.fault) {
							t.Errorf("the error is %v, want one with %q", err, row.fault)
						}
					case err != nil:
						t.Error(err)
					case !bytes.Equal(got, want):
						t.Errorf("it has %d bytes, want the %d of the module", len(got), len(want))
					}
				})
			}
			fetchImage(t, strings.TrimPrefix(byDigest, "oci://"), want)
		})
	}
}

// fetch asks the cache that istio-agent keeps on every proxy.
func fetch(t *testing.T, url, checksum string) ([]byte, error) {
	t.Helper()
	cache := wasm.NewLocalFileCache(t.TempDir(), wasm.Options{})
	defer cache.Cleanup()
	name, err := cache.Get(url, wasm.GetOptions{
		Checksum: checksum, ResourceName: "edge.weir", ResourceVersion: "1", RequestTimeout: time.Minute,
	})
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// fetchImage asks the part of the cache that knows images, with a pull secret.
func fetchImage(t *testing.T, reference string, want []byte) {
	t.Helper()
	f := wasm.NewImageFetcher(t.Context(), wasm.ImageFetcherOption{PullSecret: []byte(`{"auths": {}}`)})
	binary, manifest, err := f.PrepareFetch(reference)
	if err != nil {
		t.Fatal(err)
	}
	if manifest != digest(reference) {
		t.Errorf("the manifest is %s, want %s", manifest, reference)
	}
	got, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the image has %d bytes, want the %d of the module", len(got), len(want))
	}
}

// push has the tool push the module to a registry of the test, as a user would.
func push(t *testing.T, weir, format string) (host, byTag, byDigest string) {
	t.Helper()
	s := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	host = strings.TrimPrefix(s.URL, "http://")
	layout := filepath.Join(t.TempDir(), "image")
	said := run(t, weir, "image", "build", "--module", module, "--out", layout, "--format", format, "--sbom", "--provenance")
	byTag = "oci://" + host + "/edge/weir:v1"
	byDigest = run(t, weir, "image", "push", layout, host+"/edge/weir:v1")
	if want := "oci://" + host + "/edge/weir@" + said; byDigest != want {
		t.Fatalf("push says %s, want %s", byDigest, want)
	}
	return host, byTag, byDigest
}

// buildTool builds the tool, which is in another module.
func buildTool(t *testing.T) string {
	t.Helper()
	weir := filepath.Join(t.TempDir(), "weir")
	build := exec.Command("go", "build", "-o", weir, "./limiter/cmd/weir")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return weir
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// digest is the hexadecimal end of a reference.
func digest(reference string) string {
	return reference[strings.LastIndex(reference, ":")+1:]
}
