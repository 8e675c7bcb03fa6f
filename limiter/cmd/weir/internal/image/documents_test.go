package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document is what an attached manifest carries.
func document(t *testing.T, img v1.Image) []byte {
	t.Helper()
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	r, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSBOM: it names what is in the module, as it was linked, and obeys the
// schema of CycloneDX.
func TestSBOM(t *testing.T) {
	_, b := written(t, full(Compat))
	text := document(t, b.Attached[0])
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	var purls []string
	for _, c := range *bom.Components {
		purls = append(purls, c.PackageURL)
	}
	want := "pkg:golang/std@1.26.9 pkg:golang/github.com/dchest/siphash@v1.2.3 pkg:golang/example.com/new@v0.2.0%2Bincompatible"
	if got := strings.Join(purls, " "); got != want {
		t.Errorf("it has %s\nwant %s", got, want)
	}
	sum := sha256.Sum256([]byte(fakeModule("")))
	if got := (*bom.Metadata.Component.Hashes)[0].Value; got != hex.EncodeToString(sum[:]) {
		t.Errorf("it is of the module %s, want %x", got, sum)
	}
	schema := sbomSchema(t)
	if err := validate(t, schema, text); err != nil {
		t.Error(err)
	}
	if validate(t, schema, bytes.Replace(text, []byte(`"library"`), []byte(`"librarian"`), 1)) == nil {
		t.Error("the schema finds nothing wrong with a librarian")
	}
}

// sbomSchema is the one that the library has beside its source.
func sbomSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	list.Stderr = os.Stderr
	dir, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	for file, url := range map[string]string{
		"bom-1.6.schema.json":   "http://cyclonedx.org/schema/bom-1.6.schema.json",
		"spdx.schema.json":      "http://cyclonedx.org/schema/spdx.schema.json",
		"jsf-0.82.schemax.json": "http://cyclonedx.org/schema/jsf-0.82.schema.json",
	} {
		text := readFile(t, filepath.Join(strings.TrimSpace(string(dir)), "schema", file))
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err == nil {
			err = c.AddResource(url, doc)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(doc)
}

// TestProvenance: it names the image and the module by their digests, and what
// they were made of.
func TestProvenance(t *testing.T) {
	o := full(OCI)
	_, b := written(t, o)
	var s statement
	d := json.NewDecoder(bytes.NewReader(document(t, b.Attached[1])))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	digest, err := b.Image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(fakeModule("")))
	if len(s.Subject) != 2 || s.Subject[0].Digest["sha256"] != digest.Hex || s.Subject[1].Digest["sha256"] != hex.EncodeToString(sum[:]) {
		t.Errorf("it is about %v, want %s and %x", s.Subject, digest, sum)
	}
	from := s.Predicate.Definition.Dependencies[0]
	if from.URI != "git+"+source+"@"+o.Revision || from.Digest["gitCommit"] != o.Revision {
		t.Errorf("it was made of %v, want %s", from, o.Revision)
	}
	if got := s.Predicate.Definition.Internal["GOOS"]; got != "wasip1" {
		t.Errorf("it was made for %q, want wasip1", got)
	}
	if got := s.Predicate.Run.Builder.Version["go"]; got != "go1.26.9" {
		t.Errorf("it was made by %q, want go1.26.9", got)
	}
}
