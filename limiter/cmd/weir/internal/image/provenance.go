package image

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// A statement is one of in-toto, whose predicate is a provenance of SLSA 1. Its
// names are theirs.
type statement struct {
	Type          string       `json:"_type"`
	Subject       []resource   `json:"subject"`
	PredicateType string       `json:"predicateType"`
	Predicate     slsaDocument `json:"predicate"`
}

type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type slsaDocument struct {
	Definition struct {
		BuildType    string            `json:"buildType"`
		External     map[string]string `json:"externalParameters"`
		Internal     map[string]string `json:"internalParameters,omitempty"`
		Dependencies []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	Run struct {
		Builder struct {
			ID      string            `json:"id"`
			Version map[string]string `json:"version"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// provenance tells what an image was made of. Nobody has signed it: it tells a
// reader what to build anew and to compare, and proves nothing by itself.
func provenance(m *Module, img v1.Image, o Options) ([]byte, error) {
	digest, err := img.Digest()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(m.Bytes)
	s := statement{
		Type: "https://in-toto.io/Statement/v1",
		Subject: []resource{
			{Name: title, Digest: map[string]string{digest.Algorithm: digest.Hex}},
			{Name: pluginName, Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}},
		},
		PredicateType: "https://slsa.dev/provenance/v1",
	}
	from := resource{URI: "git+" + source}
	if o.Revision != "" {
		from.URI += "@" + o.Revision
		from.Digest = map[string]string{"gitCommit": o.Revision}
	}
	def := &s.Predicate.Definition
	def.BuildType = source + "#make-image"
	def.External = map[string]string{"source": from.URI, "format": o.Format, "created": stamp(o.Created)}
	def.Internal = map[string]string{}
	for _, set := range m.Info.Settings {
		def.Internal[set.Key] = set.Value
	}
	def.Dependencies = []resource{from}
	for _, d := range dependencies(m.Info) {
		def.Dependencies = append(def.Dependencies, resource{URI: packageURL(d.Path, d.Version)})
	}
	s.Predicate.Run.Builder.ID = source + "#unsigned"
	s.Predicate.Run.Builder.Version = map[string]string{"go": m.Info.GoVersion}
	return json.MarshalIndent(s, "", "  ")
}
