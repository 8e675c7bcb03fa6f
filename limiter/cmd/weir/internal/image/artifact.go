package image

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A blob is what a manifest refers to.
type blob struct {
	mediaType types.MediaType
	bytes     []byte
	title     string // of the file that it is
}

func (b blob) descriptor() v1.Descriptor {
	digest, size, _ := v1.SHA256(bytes.NewReader(b.bytes)) // a reader of bytes does not fail
	d := v1.Descriptor{MediaType: b.mediaType, Size: size, Digest: digest}
	if b.title != "" {
		d.Annotations = map[string]string{titleKey: b.title}
	}
	return d
}

// An artifact is a manifest with its blobs. The library's own images take every
// configuration for that of a container.
type artifact struct {
	manifest []byte
	config   []byte
	layers   []blob
}

// newArtifact completes a manifest by its configuration and layers.
func newArtifact(m v1.Manifest, config blob, layers ...blob) (v1.Image, error) {
	m.SchemaVersion, m.MediaType, m.Config = 2, types.OCIManifestSchema1, config.descriptor()
	for _, l := range layers {
		m.Layers = append(m.Layers, l.descriptor())
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(&artifact{manifest: manifest, config: config.bytes, layers: layers})
}

func (a *artifact) RawConfigFile() ([]byte, error)        { return a.config, nil }
func (a *artifact) RawManifest() ([]byte, error)          { return a.manifest, nil }
func (a *artifact) MediaType() (types.MediaType, error)   { return types.OCIManifestSchema1, nil }
func (a *artifact) Manifest() (m *v1.Manifest, err error) { return partial.Manifest(a) }

func (a *artifact) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	for _, l := range a.layers {
		if l.descriptor().Digest == h {
			return static.NewLayer(l.bytes, l.mediaType), nil
		}
	}
	return nil, fmt.Errorf("no layer %s", h)
}
