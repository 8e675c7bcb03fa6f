package manifests

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/weirproxy/weir/limiter/policy"
)

// check says all that is wrong with a document.
func check(d document) error {
	if d.kind() == "" {
		return errors.Join(plainEnvoy(d), configured(d))
	}
	decode := kinds[d.kind()]
	if decode == nil {
		return fmt.Errorf("%q: unknown to this test", d.kind())
	}
	errs := []error{decode(d.json())}
	known, err := schemas()
	if err != nil {
		return err
	}
	if s, ok := known[d.kind()]; ok {
		errs = append(errs, s.check(d.value))
	} else if !strings.HasPrefix(d.kind(), "v1 ") && !strings.HasPrefix(d.kind(), "kustomize.") {
		return fmt.Errorf("%q: no schema", d.kind())
	}
	return errors.Join(append(errs, carried(d), configured(d))...)
}

// carried checks the parts that are Envoy's.
func carried(d document) error {
	_, kind, _ := strings.Cut(d.kind(), " ")
	switch kind {
	case "EnvoyFilter":
		return envoyFilter(d)
	case "EnvoyPatchPolicy":
		return patchPolicy(d)
	case "EnvoyProxy":
		_, err := patchedBootstrap(d)
		return err
	case "ConfigMap":
		_, err := bootstrapOverride(d)
		return err
	case "Kustomization":
		return kustomized(d)
	}
	return nil
}

// A configuration is Weir's, as the module gets it.
type configuration struct {
	text      []byte
	namespace string
}

// configured checks the parts that are Weir's. A plugin must have one.
func configured(d document) error {
	found, err := configurations(d)
	if err != nil {
		return err
	}
	for _, c := range found {
		p, err := policy.Compile(c.text, c.namespace)
		if err != nil {
			return err
		}
		if len(p.Rules) == 0 {
			return errors.New("a configuration without rules")
		}
		if p.Namespace == "" {
			return errors.New("a configuration without a namespace")
		}
	}
	return nil
}

func configurations(d document) (found []configuration, err error) {
	_, kind, _ := strings.Cut(d.kind(), " ")
	switch kind {
	case "WasmPlugin":
		return valueConfiguration(d.at("spec", "pluginConfig"), d.at("spec", "pluginName"))
	case "TrafficExtension":
		return valueConfiguration(d.at("spec", "wasm", "pluginConfig"), d.at("spec", "wasm", "pluginName"))
	case "EnvoyExtensionPolicy":
		plugins, _ := d.at("spec", "wasm").([]any)
		if len(plugins) == 0 {
			return nil, errors.New("no plugin")
		}
		for _, p := range plugins {
			plugin := document{value: p.(object)}
			c, err := valueConfiguration(plugin.at("config"), plugin.at("rootID"))
			if err != nil {
				return nil, err
			}
			found = append(found, c...)
		}
		return found, nil
	}
	return envoyConfigurations(d.value)
}

// valueConfiguration is one that Istio or Envoy Gateway makes JSON of.
func valueConfiguration(value, namespace any) ([]configuration, error) {
	text, err := json.Marshal(value)
	name, _ := namespace.(string)
	return []configuration{{text, name}}, err
}

// envoyConfigurations are those of the wasm filters of Envoy within a value.
func envoyConfigurations(value any) (found []configuration, err error) {
	add := func(inner any) error {
		more, err := envoyConfigurations(inner)
		found = append(found, more...)
		return err
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			err = errors.Join(err, add(item))
		}
	case object:
		if kind, _ := v["@type"].(string); strings.HasSuffix(kind, "filters.http.wasm.v3.Wasm") {
			d := document{value: v}
			text, _ := d.at("config", "configuration", "value").(string)
			name, _ := d.at("config", "root_id").(string)
			return []configuration{{[]byte(text), name}}, nil
		}
		for _, member := range v {
			err = errors.Join(err, add(member))
		}
	}
	return found, err
}
