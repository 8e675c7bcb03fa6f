package manifests

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	crd "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	cellimits "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// A schema is what the API server holds the resources of a kind to.
type schema struct {
	fields  *structural.Structural
	openAPI validation.SchemaValidator
	rules   *cel.Validator // nil if there are none
}

// crds are the files of custom resource definitions, each in the module of the API.
var crds = []struct{ module, file string }{
	{"istio.io/api", "kubernetes/customresourcedefinitions.gen.yaml"},
	{"github.com/envoyproxy/gateway", "charts/gateway-helm/charts/crds/crds/gatewayapi-crds.yaml"},
	{"github.com/envoyproxy/gateway", "charts/gateway-helm/charts/crds/crds/generated/gateway.envoyproxy.io_envoyextensionpolicies.yaml"},
	{"github.com/envoyproxy/gateway", "charts/gateway-helm/charts/crds/crds/generated/gateway.envoyproxy.io_envoypatchpolicies.yaml"},
	{"github.com/envoyproxy/gateway", "charts/gateway-helm/charts/crds/crds/generated/gateway.envoyproxy.io_envoyproxies.yaml"},
}

// inModule is a file in a module that this one requires.
func inModule(module, file string) (string, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("module %s: %w", module, err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), filepath.FromSlash(file)), nil
}

// schemas are those of all kinds that have a Go type in kinds and are no part of
// Kubernetes itself.
var schemas = sync.OnceValues(func() (map[string]schema, error) {
	found := map[string]schema{}
	for _, c := range crds {
		file, err := inModule(c.module, c.file)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, part := range between.Split(string(text), -1) {
			var d crd.CustomResourceDefinition
			if err := yaml.Unmarshal([]byte(part), &d); err != nil {
				return nil, fmt.Errorf("%s: %w", c.file, err)
			}
			for _, v := range d.Spec.Versions {
				kind := d.Spec.Group + "/" + v.Name + " " + d.Spec.Names.Kind
				if kinds[kind] == nil {
					continue
				}
				if found[kind], err = compile(v.Schema.OpenAPIV3Schema); err != nil {
					return nil, fmt.Errorf("%s: %w", kind, err)
				}
			}
		}
	}
	return found, nil
})

func compile(props *crd.JSONSchemaProps) (s schema, err error) {
	var internal apiextensions.JSONSchemaProps
	if err := crd.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, &internal, nil); err != nil {
		return s, err
	}
	if s.fields, err = structural.NewStructural(&internal); err != nil {
		return s, err
	}
	if s.openAPI, _, err = validation.NewSchemaValidator(&internal); err != nil {
		return s, err
	}
	s.rules = cel.NewValidator(s.fields, true, cellimits.PerCallLimit)
	return s, nil
}

// check says what the API server would refuse of a resource, told to be strict about
// fields, as kubectl tells it.
func (s schema) check(value object) error {
	var errs []error
	value = document{value: value}.copy().value
	unknown := pruning.PruneWithOptions(value, s.fields, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, field := range unknown {
		errs = append(errs, fmt.Errorf("unknown field %q", field))
	}
	defaulting.Default(value, s.fields)
	for _, e := range validation.ValidateCustomResource(nil, value, s.openAPI) {
		errs = append(errs, e)
	}
	if s.rules != nil {
		problems, _ := s.rules.Validate(context.Background(), nil, s.fields, value, nil, cellimits.RuntimeCELCostBudget)
		for _, e := range problems {
			errs = append(errs, e)
		}
	}
	return errors.Join(errs...)
}
