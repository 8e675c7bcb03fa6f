package image

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The types of what is attached.
const (
	sbomType       = "application/vnd.cyclonedx+json"
	provenanceType = "application/vnd.in-toto+json"
)

// emptyConfig is what OCI wants for artifacts that have no configuration.
var emptyConfig = blob{mediaType: "application/vnd.oci.empty.v1+json", bytes: []byte("{}")}

// attach adds a document as a manifest whose subject is the image.
func (b *Bundle) attach(o Options, kind, what string, document func() ([]byte, error)) error {
	text, err := document()
	if err != nil {
		return err
	}
	subject, err := partial.Descriptor(b.Image)
	if err != nil {
		return err
	}
	subject.ArtifactType = "" // belongs to lists of manifests
	img, err := newArtifact(v1.Manifest{
		ArtifactType: kind,
		Subject:      subject,
		Annotations:  map[string]string{titleKey: what, createdKey: stamp(o.Created)},
	}, emptyConfig, blob{mediaType: types.MediaType(kind), bytes: text})
	if err != nil {
		return err
	}
	b.Attached = append(b.Attached, img)
	return nil
}
