package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The media types of the form OCI.
const (
	wasmConfig types.MediaType = "application/vnd.module.wasm.config.v1+json"
	wasmLayer  types.MediaType = "application/vnd.module.wasm.content.layer.v1+wasm"
)

// pluginName is the name of the module's file in either form.
const pluginName = "plugin.wasm"

// compatLayer is an archive with the module, and the same compressed. Neither
// says who made it or when, or the name of the archive.
func compatLayer(module []byte, created time.Time) (archive []byte, layer blob, err error) {
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	err = w.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: pluginName, Size: int64(len(module)), Mode: 0o644, ModTime: created, Format: tar.FormatUSTAR,
	})
	if err != nil {
		return nil, blob{}, err
	}
	if _, err = w.Write(module); err != nil {
		return nil, blob{}, err
	}
	if err = w.Close(); err != nil {
		return nil, blob{}, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, blob{}, err
	}
	if _, err = z.Write(plain.Bytes()); err != nil {
		return nil, blob{}, err
	}
	if err = z.Close(); err != nil {
		return nil, blob{}, err
	}
	return plain.Bytes(), blob{mediaType: types.OCILayer, bytes: packed.Bytes()}, nil
}

// compatConfig is the configuration of a container that nobody runs. Docker
// refuses to pull for a system that it does not know, so that is linux.
func compatConfig(archive []byte, created time.Time) (blob, error) {
	diff, _, err := v1.SHA256(bytes.NewReader(archive))
	if err != nil {
		return blob{}, err
	}
	at := v1.Time{Time: created.UTC()}
	b, err := json.Marshal(v1.ConfigFile{
		Architecture: "wasm",
		OS:           "linux",
		Created:      at,
		History:      []v1.History{{Created: at, CreatedBy: "weir image build"}},
		RootFS:       v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{diff}},
	})
	return blob{mediaType: types.OCIConfigJSON, bytes: b}, err
}

// A runtimeSettings tells a runtime what the module is for.
type runtimeSettings struct {
	Type        string              `json:"type"`
	ABIVersions []string            `json:"abiVersions"`
	Config      map[string][]string `json:"config"`
}

// runtimeConfig is that of Weir, whose configuration has no root_id.
func runtimeConfig() runtimeSettings {
	return runtimeSettings{Type: "envoy_proxy", ABIVersions: []string{"v0.2.0"}, Config: map[string][]string{"root_ids": {""}}}
}
