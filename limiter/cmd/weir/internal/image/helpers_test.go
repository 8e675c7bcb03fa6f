package image

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// TestMain keeps the credentials of whoever runs the tests out of them.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "weir")
	if err != nil {
		panic(err)
	}
	os.Setenv("DOCKER_CONFIG", dir)
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// info is what a linker would write into a module.
const info = "path\tgithub.com/weirproxy/weir/plugin\n" +
	"mod\tgithub.com/weirproxy/weir\t(devel)\t\n" +
	"dep\tgithub.com/dchest/siphash\tv1.2.3\th1:QXwFc8cFOR2dSa/gE6o/HokBMWtLUaNDVd+22aKHeEA=\n" +
	"dep\texample.com/Old\tv0.1.0\n" +
	"=>\texample.com/New\tv0.2.0+incompatible\th1:rZIyqYh+Qq+nEa+Y5iwohr8h7G/MfLJqu2CD4/ZONqM=\n" +
	"build\t-trimpath=true\n" +
	"build\tGOOS=wasip1\n"

// fakeModule has that in a section of its own, and the compiler in another; more
// is further lines of the build.
func fakeModule(more string) string {
	return magic + section("\x04info"+string(infoStart)+info+more+string(infoEnd)) +
		section("\x09producers\x01\x0cprocessed-by\x01\x0eGo cmd/compile\x08go1.26.9")
}

// section is one that runtimes pass over. Its length takes two bytes.
func section(text string) string {
	return "\x00" + string([]byte{byte(len(text)) | 0x80, byte(len(text) >> 7)}) + text
}

func parse(t *testing.T, module string) *Module {
	t.Helper()
	name := filepath.Join(t.TempDir(), "module.wasm")
	writeFile(t, name, module)
	m, err := ReadModule(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// full asks for everything.
func full(format string) Options {
	return Options{
		Format: format, Version: "v1.2.3", Revision: "0123456789abcdef0123456789abcdef01234567", Created: time.Unix(1_700_000_000, 0),
		Annotations: map[string]string{"org.opencontainers.image.vendor": "the edge team"}, SBOM: true, Provenance: true,
	}
}

func build(t *testing.T, o Options) *Bundle {
	t.Helper()
	b, err := Build(parse(t, fakeModule("")), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// written is a bundle that has been written and read again.
func written(t *testing.T, o Options) (string, *Bundle) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "image")
	if err := build(t, o).Write(dir); err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, b
}

// module gets the module out of an image as a user would, by its media types.
func module(t *testing.T, img v1.Image) string {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	last := layers[len(layers)-1]
	r, err := last.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var from io.Reader = r
	if kind, err := last.MediaType(); err != nil {
		t.Fatal(err)
	} else if kind == types.OCILayer {
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		archive := tar.NewReader(z)
		if h, err := archive.Next(); err != nil || h.Name != "plugin.wasm" {
			t.Fatalf("the archive begins with %v, %v", h, err)
		}
		from = archive
	}
	b, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// quiet is a registry that does not log.
func quiet(options ...registry.Option) http.Handler {
	return registry.New(append(options, registry.Logger(log.New(io.Discard, "", 0)))...)
}

// newRegistry starts one, and returns its name.
func newRegistry(t *testing.T, options ...registry.Option) string {
	t.Helper()
	s := httptest.NewServer(quiet(options...))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wantError compares a whole message.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got the error\n  %v\nwant\n  %s", err, want)
	}
}
