package image

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// TestWriteAndOpen: what is written is read again, as a whole.
func TestWriteAndOpen(t *testing.T) {
	for _, format := range Formats {
		made := build(t, full(format))
		_, b := written(t, full(format))
		if got, want := digests(t, b), digests(t, made); got != want {
			t.Errorf("%s: read %s, want %s", format, got, want)
		}
		if got := module(t, b.Image); got != fakeModule("") {
			t.Errorf("%s: the module has %d bytes, want %d", format, len(got), len(fakeModule("")))
		}
	}
}

// TestWriteLeavesAlone what is there, and leaves nothing behind.
func TestWriteLeavesAlone(t *testing.T) {
	b := build(t, full(Compat))
	parent := t.TempDir()
	dir, file := filepath.Join(parent, "image"), filepath.Join(parent, "file")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.Write(dir); err != nil {
		t.Fatalf("an empty folder is refused: %v", err)
	}
	wantError(t, b.Write(dir), dir+": not empty")
	writeFile(t, file, "precious")
	wantError(t, b.Write(file), file+": not a folder")
	wantError(t, b.Write(filepath.Join(parent, "no", "folder")), "cannot write "+filepath.Join(parent, "no", "folder")+": no such file or directory")
	if _, err := Open(dir); err != nil {
		t.Error(err)
	}
	if readFile(t, file) != "precious" {
		t.Error("the file is gone")
	}
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 2 {
		t.Errorf("%d files are there, %v, want 2: %v", len(left), err, left)
	}
}

// TestEveryFileIsChecked: any blob of a layout may be changed by one bit, cut, or
// taken away, and the file is named.
func TestEveryFileIsChecked(t *testing.T) {
	for _, format := range Formats {
		dir, b := written(t, full(format))
		blobs, err := filepath.Glob(filepath.Join(dir, "blobs", "sha256", "*"))
		if err != nil || len(blobs) < 8 {
			t.Fatalf("%d blobs, %v", len(blobs), err)
		}
		for _, name := range blobs {
			whole := readFile(t, name)
			for what, text := range map[string]string{
				": damaged: its digest is ": string(whole[0]^1) + whole[1:],
				": damaged: it has ":        whole[1:],
			} {
				writeFile(t, name, text)
				if _, err := Open(dir); err == nil || !strings.HasPrefix(err.Error(), name+what) {
					t.Errorf("%s: %v, want %s%s…", format, err, name, what)
				}
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			_, err := Open(dir)
			wantError(t, err, name+": missing")
			writeFile(t, name, whole)
		}
		if again, err := Open(dir); err != nil || digests(t, again) != digests(t, b) {
			t.Errorf("%s: whole again, it is not: %v", format, err)
		}
	}
}

// TestOpenRefuses layouts that are none, or not of one image.
func TestOpenRefuses(t *testing.T) {
	dir, b := written(t, full(Compat))
	index := filepath.Join(dir, "index.json")
	var m v1.IndexManifest
	if err := json.Unmarshal([]byte(readFile(t, index)), &m); err != nil {
		t.Fatal(err)
	}
	write := func(manifests ...v1.Descriptor) {
		t.Helper()
		text, err := json.Marshal(v1.IndexManifest{SchemaVersion: 2, Manifests: manifests})
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, index, string(text))
	}
	refused := func(want string) {
		t.Helper()
		_, err := Open(dir)
		wantError(t, err, want)
	}
	image, sbom := m.Manifests[0], m.Manifests[1]

	write(image, image)
	refused(dir + ": has several images: want one")
	write(sbom)
	refused(dir + ": has no image")
	list := image
	list.MediaType = "application/vnd.oci.image.index.v1+json"
	write(list)
	refused(dir + `: ` + image.Digest.String() + ` has the media type "application/vnd.oci.image.index.v1+json": want an image, "application/vnd.oci.image.manifest.v1+json"`)

	other := full(Compat)
	other.Version = "v2"
	stranger := build(t, other)
	if err := layout.Path(dir).WriteImage(stranger.Image); err != nil {
		t.Fatal(err)
	}
	swapped := image
	swapped.Digest, _ = stranger.Image.Digest()
	swapped.Size, _ = stranger.Image.Size()
	write(swapped, sbom)
	digest, _ := b.Image.Digest()
	refused(dir + ": something is attached to " + digest.String() + ", which is not the image, " + swapped.Digest.String())

	writeFile(t, index, "{")
	refused(index + ": damaged: unexpected EOF")
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	refused(index + ": missing")
	if err := os.Remove(filepath.Join(dir, "oci-layout")); err != nil {
		t.Fatal(err)
	}
	refused(dir + ": not an OCI image layout: it has no file oci-layout")
	_, err := Open(filepath.Join(dir, "missing"))
	wantError(t, err, "stat "+filepath.Join(dir, "missing")+": no such file or directory")
}
