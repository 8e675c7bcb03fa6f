package manifests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	strict "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

type object = map[string]any

// folder is where the manifests and pages are.
const folder = "../../envoy"

// A document is one resource in a file, or a configuration of Envoy.
type document struct {
	name  string // for failures
	value object
}

func (d document) kind() string {
	kind, _ := d.value["kind"].(string)
	version, _ := d.value["apiVersion"].(string)
	if kind == "" || version == "" {
		return ""
	}
	return version + " " + kind
}

func (d document) json() []byte {
	text, err := json.Marshal(d.value)
	if err != nil {
		panic(err) // it was JSON before
	}
	return text
}

// at returns what lies at the end of a path of names; nil if nothing does.
func (d document) at(path ...string) any {
	var v any = d.value
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

var between = regexp.MustCompile(`(?m)^---$`)

// parse reads the documents of a file of YAML. A name that occurs twice is an error.
func parse(name string, text []byte) ([]document, error) {
	var documents []document
	for i, part := range between.Split(string(text), -1) {
		d := document{name: fmt.Sprintf("%s[%d]", name, i)}
		asJSON, err := yaml.YAMLToJSONStrict([]byte(part))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		// Whole numbers stay whole, as the API server has them.
		if err := strict.UnmarshalCaseSensitivePreserveInts(asJSON, &d.value); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		if d.value == nil {
			return nil, fmt.Errorf("%s: nothing in it", d.name)
		}
		documents = append(documents, d)
	}
	return documents, nil
}

func read(t *testing.T, file string) []document {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := parse(strings.TrimPrefix(filepath.ToSlash(file), folder+"/"), text)
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// files are all manifests and configurations that users copy.
func files(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*.yaml", "dynamic/*.yaml", "istio/*.yaml", "gateway/*.yaml"} {
		matches, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(matches) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(matches), err)
		}
		found = append(found, matches...)
	}
	slices.Sort(found)
	return found
}

// one is the only document of a kind in a file.
func one(t *testing.T, file, kind string) document {
	t.Helper()
	var found []document
	for _, d := range read(t, filepath.Join(folder, file)) {
		if strings.HasSuffix(d.kind(), " "+kind) {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s: %d documents of kind %s, want 1", file, len(found), kind)
	}
	return found[0]
}

// copy is a document of its own, which may be changed.
func (d document) copy() document {
	c := document{name: d.name}
	if err := strict.UnmarshalCaseSensitivePreserveInts(d.json(), &c.value); err != nil {
		panic(err)
	}
	return c
}
