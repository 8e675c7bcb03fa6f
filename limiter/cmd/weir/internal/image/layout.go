package image

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// A Bundle is the image of a module, and what is attached to it.
type Bundle struct {
	Image    v1.Image
	Attached []v1.Image // manifests whose subject is the image

	tag string // names the image in the layout
}

// Write makes a folder of a bundle, an OCI image layout. The folder is there as a
// whole or not at all; it must not have anything in it before.
func (b *Bundle) Write(dir string) error {
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: not a folder", dir)
	}
	beside := filepath.Join(filepath.Dir(dir), fmt.Sprintf(".weir-%016x", rand.Uint64()))
	if err := os.Mkdir(beside, 0o777); err != nil {
		return fmt.Errorf("cannot write %s: %w", dir, errors.Unwrap(err))
	}
	err = b.fill(layout.Path(beside))
	if err == nil && info != nil {
		if os.Remove(dir) != nil {
			err = fmt.Errorf("%s: not empty", dir)
		}
	}
	if err == nil {
		err = os.Rename(beside, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(beside))
	}
	return nil
}

// fill writes a layout. Images come in the order in which they are to be pushed.
func (b *Bundle) fill(path layout.Path) error {
	if _, err := layout.Write(string(path), empty.Index); err != nil {
		return err
	}
	tag := b.tag
	if tag == "" {
		tag = "latest"
	}
	err := path.AppendImage(b.Image, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag}))
	if err != nil {
		return err
	}
	for _, a := range b.Attached {
		if err := path.AppendImage(a); err != nil {
			return err
		}
	}
	// The library gives some files to their owner alone, and has others run.
	return filepath.WalkDir(string(path), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(name, 0o644)
	})
}
