package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Open reads a layout that has one image, and what is attached to it. Every file
// that it refers to has been read and has the digest that it should have.
func Open(dir string) (*Bundle, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "oci-layout")); err != nil {
		return nil, fmt.Errorf("%s: not an OCI image layout: it has no file oci-layout", dir)
	}
	var index v1.IndexManifest
	if err := readJSON(filepath.Join(dir, "index.json"), &index); err != nil {
		return nil, err
	}
	b := &Bundle{}
	for _, d := range index.Manifests {
		if d.MediaType != types.OCIManifestSchema1 {
			return nil, fmt.Errorf("%s: %s has the media type %q: want an image, %q", dir, d.Digest, d.MediaType, types.OCIManifestSchema1)
		}
		m, err := checkManifest(dir, d)
		if err != nil {
			return nil, err
		}
		img, err := layout.Path(dir).Image(d.Digest)
		switch {
		case err != nil:
			return nil, err
		case m.Subject != nil:
			b.Attached = append(b.Attached, img)
		case b.Image != nil:
			return nil, fmt.Errorf("%s: has several images: want one", dir)
		default:
			b.Image = img
		}
	}
	if b.Image == nil {
		return nil, fmt.Errorf("%s: has no image", dir)
	}
	return b, b.checkSubjects(dir)
}

// checkSubjects makes sure that what is attached is attached to the image.
func (b *Bundle) checkSubjects(dir string) error {
	digest, err := b.Image.Digest()
	if err != nil {
		return err
	}
	for _, a := range b.Attached {
		m, err := a.Manifest()
		if err != nil {
			return err
		}
		if m.Subject.Digest != digest {
			return fmt.Errorf("%s: something is attached to %s, which is not the image, %s", dir, m.Subject.Digest, digest)
		}
	}
	return nil
}

// checkManifest reads a manifest and everything that it refers to.
func checkManifest(dir string, d v1.Descriptor) (*v1.Manifest, error) {
	if err := checkBlob(dir, d); err != nil {
		return nil, err
	}
	var m v1.Manifest
	if err := readJSON(blobName(dir, d.Digest), &m); err != nil {
		return nil, err
	}
	for _, part := range append([]v1.Descriptor{m.Config}, m.Layers...) {
		if err := checkBlob(dir, part); err != nil {
			return nil, err
		}
	}
	return &m, nil
}

// checkBlob makes sure that a file is what its descriptor says.
func checkBlob(dir string, d v1.Descriptor) error {
	name := blobName(dir, d.Digest)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: missing", name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	digest, size, err := v1.SHA256(f)
	switch {
	case err != nil:
		return err
	case size != d.Size:
		return fmt.Errorf("%s: damaged: it has %d bytes, want %d", name, size, d.Size)
	case digest != d.Digest:
		return fmt.Errorf("%s: damaged: its digest is %s", name, digest)
	}
	return nil
}

func blobName(dir string, h v1.Hash) string {
	return filepath.Join(dir, "blobs", h.Algorithm, h.Hex)
}

func readJSON(name string, into any) error {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: missing", name)
	}
	if err != nil {
		return err
	}
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(into); err != nil {
		return fmt.Errorf("%s: damaged: %w", name, err)
	}
	return nil
}
