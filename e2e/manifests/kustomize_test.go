package manifests

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// kustomized builds a Kustomization in the place of the one in envoy/istio, and
// checks what comes out.
func kustomized(d document) error {
	fs := filesys.MakeFsInMemory()
	matches, err := filepath.Glob(filepath.Join(folder, "istio", "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range matches {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if filepath.Base(file) == "kustomization.yaml" {
			text = d.json()
		}
		if err := fs.WriteFile("/istio/"+filepath.Base(file), text); err != nil {
			return err
		}
	}
	built, err := kustomizeBuild(fs, "/istio")
	if err != nil {
		return err
	}
	if len(built) != 1 || built[0].kind() != "extensions.istio.io/v1alpha1 WasmPlugin" {
		return fmt.Errorf("%d resources, want one WasmPlugin", len(built))
	}
	return check(built[0])
}

// kustomizeBuild does what `kubectl kustomize` does.
func kustomizeBuild(fs filesys.FileSystem, dir string) ([]document, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, dir)
	if err != nil {
		return nil, err
	}
	text, err := resources.AsYaml()
	if err != nil {
		return nil, err
	}
	return parse("kustomize "+dir, text)
}
