package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// The forms of an image.
const (
	Compat = "compat"
	OCI    = "oci"
)

// Formats are the names of the forms, the usual one first.
var Formats = []string{Compat, OCI}

// Options say what is made of a module.
type Options struct {
	Format   string // one of Formats
	Version  string // of the module; empty: what it says itself
	Revision string // the commit of its source; empty: what it says itself

	// Created is the time that everything is said to be of. It should be that of
	// the source, so that the same source makes the same image.
	Created time.Time

	// Annotations are added to those of the image, or replace them.
	Annotations map[string]string

	SBOM       bool // attach a bill of materials
	Provenance bool // attach a provenance
}

// The annotations that are asked for by name.
const (
	titleKey   = "org.opencontainers.image.title"
	createdKey = "org.opencontainers.image.created"
)

// What Weir's own image says of itself.
const (
	title       = "weir"
	description = "A rate limiter that runs inside Envoy: exact sliding windows, as a proxy-wasm module"
	source      = "https://github.com/weirproxy/weir"
)

// Build makes an image of a module, and what is attached to it.
func Build(m *Module, o Options) (*Bundle, error) {
	if o.Version == "" {
		o.Version = m.version()
	}
	if o.Revision == "" {
		o.Revision = m.revision()
	}
	img, err := buildImage(m, o)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Image: img, tag: o.Version}
	if !o.SBOM && !o.Provenance {
		return b, nil
	}
	if m.Info == nil {
		return nil, errors.New("the module has no build information of Go, which a bill of materials and a provenance are made of")
	}
	if o.SBOM {
		err = b.attach(o, sbomType, "bill of materials", func() ([]byte, error) { return sbom(m, o) })
	}
	if err == nil && o.Provenance {
		err = b.attach(o, provenanceType, "provenance, unsigned", func() ([]byte, error) { return provenance(m, img, o) })
	}
	return b, err
}

func buildImage(m *Module, o Options) (v1.Image, error) {
	manifest := v1.Manifest{Annotations: o.annotations()}
	switch o.Format {
	case Compat:
		archive, layer, err := compatLayer(m.Bytes, o.Created)
		if err != nil {
			return nil, err
		}
		config, err := compatConfig(archive, o.Created)
		if err != nil {
			return nil, err
		}
		return newArtifact(manifest, config, layer)
	case OCI:
		runtime, err := json.Marshal(runtimeConfig())
		if err != nil {
			return nil, err
		}
		// Both Istio and Envoy Gateway want exactly two layers, and leave the
		// configuration of the image alone. The specification speaks of layers only.
		config := blob{mediaType: wasmConfig, bytes: runtime, title: "runtime-config.json"}
		module := blob{mediaType: wasmLayer, bytes: m.Bytes, title: pluginName}
		return newArtifact(manifest, blob{mediaType: wasmConfig, bytes: runtime}, config, module)
	}
	return nil, fmt.Errorf("format %q: want %s or %s", o.Format, Compat, OCI)
}

// annotations of the image. There is none for what is not known.
func (o Options) annotations() map[string]string {
	all := map[string]string{
		titleKey:                               title,
		"org.opencontainers.image.description": description,
		"org.opencontainers.image.source":      source,
		createdKey:                             stamp(o.Created),
	}
	if o.Version != "" {
		all["org.opencontainers.image.version"] = o.Version
	}
	if o.Revision != "" {
		all["org.opencontainers.image.revision"] = o.Revision
	}
	if o.Format == Compat {
		all["module.wasm.image/variant"] = Compat // the specification asks for it
	}
	maps.Copy(all, o.Annotations)
	return all
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
