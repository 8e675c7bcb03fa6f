package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom is the bill of materials of a module in CycloneDX: the Go modules that the
// linker says are in it, and the standard library.
func sbom(m *Module, o Options) ([]byte, error) {
	main := component(m.Info.Main.Path, o.Version)
	main.Type = cdx.ComponentTypeApplication
	sum := sha256.Sum256(m.Bytes)
	main.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
	parts := []cdx.Component{component("std", strings.TrimPrefix(m.Info.GoVersion, "go"))}
	for _, d := range dependencies(m.Info) {
		part := component(d.Path, d.Version)
		if d.Sum != "" {
			part.Properties = &[]cdx.Property{{Name: "go.sum", Value: d.Sum}}
		}
		parts = append(parts, part)
	}
	var refs []string
	for _, p := range parts {
		refs = append(refs, p.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: stamp(o.Created), Component: &main}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	var text bytes.Buffer
	// 1.6 is what most readers know.
	err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cdx.SpecVersion1_6)
	return text.Bytes(), err
}

// dependencies are those that the linker used, after replacement.
func dependencies(info *debug.BuildInfo) (used []*debug.Module) {
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		used = append(used, d)
	}
	return used
}

func component(path, version string) cdx.Component {
	purl := packageURL(path, version)
	return cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: purl}
}

// packageURL names a Go module for every kind of reader.
func packageURL(path, version string) string {
	purl := "pkg:golang/" + strings.ToLower(path)
	if version != "" {
		purl += "@" + url.QueryEscape(version)
	}
	return purl
}
