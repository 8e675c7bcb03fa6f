package manifests

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	bootstrap "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/ohler55/ojg/jp"
	"github.com/ohler55/ojg/oj"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"sigs.k8s.io/yaml"
)

// What Envoy Gateway generates, as its own tests have it.
const (
	gatewayBootstrap = "internal/xds/bootstrap/testdata/render/enable-prometheus.yaml"
	gatewayListeners = "internal/xds/translator/testdata/out/xds-ir/wasm.listeners.yaml"
)

// generated reads a file of Envoy Gateway's module.
func generated(file string) ([]byte, error) {
	file, err := inModule("github.com/envoyproxy/gateway", file)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(text)
}

// patchPolicy checks an EnvoyPatchPolicy: what it adds, and that what it changes is
// there, in listeners as Envoy Gateway generates them.
func patchPolicy(d document) error {
	patches, _ := d.at("spec", "jsonPatches").([]any)
	if len(patches) == 0 {
		return errors.New("no patches")
	}
	for i, p := range patches {
		patch := document{value: p.(object)}
		operation, ok := patch.at("operation").(object)
		if !ok {
			return fmt.Errorf("jsonPatches[%d]: no operation", i)
		}
		var err error
		switch kind, path := patch.at("type"), operation["path"]; {
		case kind == "type.googleapis.com/envoy.config.cluster.v3.Cluster" && path == "":
			m := new(cluster.Cluster)
			if err = holds(operation["value"], m); err == nil && m.Name != patch.at("name") {
				err = fmt.Errorf("the cluster is called %q, and the patch %q", m.Name, patch.at("name"))
			}
		case kind == "type.googleapis.com/envoy.config.listener.v3.Listener":
			_, err = patchedListener(operation)
		default:
			err = fmt.Errorf("type: %v: unknown to this test", kind)
		}
		if err != nil {
			return fmt.Errorf("jsonPatches[%d]: %w", i, err)
		}
	}
	return nil
}

// patchedListener applies an operation to a generated listener that has three other
// plugins beside one of the name weir.
func patchedListener(operation object) (*listener.Listener, error) {
	text, err := generated(gatewayListeners)
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil || len(all) == 0 {
		return nil, fmt.Errorf("%d listeners, %w", len(all), err)
	}
	m := new(listener.Listener)
	if err := protojson.Unmarshal(all[0], m); err != nil {
		return nil, err
	}
	named, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	changed, err := apply([]byte(strings.Replace(string(named), "wasm-filter-1", "weir", 1)), operation)
	if err != nil {
		return nil, err
	}
	proto.Reset(m)
	if err := protojson.Unmarshal(changed, m); err != nil {
		return nil, err
	}
	return m, valid(m)
}

// patchedBootstrap applies the patches of an EnvoyProxy to a generated bootstrap.
func patchedBootstrap(d document) (*bootstrap.Bootstrap, error) {
	text, err := generated(gatewayBootstrap)
	if err != nil {
		return nil, err
	}
	operations, _ := d.at("spec", "bootstrap", "jsonPatches").([]any)
	if len(operations) == 0 {
		return nil, errors.New("no patches")
	}
	for i, o := range operations {
		if text, err = apply(text, o.(object)); err != nil {
			return nil, fmt.Errorf("jsonPatches[%d]: %w", i, err)
		}
	}
	m := new(bootstrap.Bootstrap)
	if err := protojson.Unmarshal(text, m); err != nil {
		return nil, err
	}
	return m, valid(m)
}

// apply does one operation, with its jsonPath resolved first, as Envoy Gateway does,
// and with the same libraries. What hits nothing is an error.
func apply(text []byte, operation object) ([]byte, error) {
	path, _ := operation["path"].(string)
	pointers := []string{path}
	if expression, ok := operation["jsonPath"].(string); ok {
		found, err := locate(text, expression)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("jsonPath: %q finds nothing", expression)
		}
		pointers = nil
		for _, f := range found {
			pointers = append(pointers, strings.TrimSuffix(f+"/"+strings.TrimPrefix(path, "/"), "/"))
		}
	}
	for _, pointer := range pointers {
		one, err := json.Marshal([]object{{"op": operation["op"], "path": pointer, "value": operation["value"]}})
		if err != nil {
			return nil, err
		}
		patch, err := jsonpatch.DecodePatch(one)
		if err != nil {
			return nil, err
		}
		if text, err = patch.Apply(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// locate returns a JSON pointer to each value that an expression finds.
func locate(text []byte, expression string) (pointers []string, err error) {
	value, err := oj.Parse(text)
	if err != nil {
		return nil, err
	}
	path, err := jp.ParseString(expression)
	if err != nil {
		return nil, err
	}
	for _, found := range path.Locate(value, 0) {
		var b strings.Builder
		for _, step := range found {
			switch s := step.(type) {
			case jp.Child:
				b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(string(s)))
			case jp.Nth:
				b.WriteString("/" + strconv.Itoa(int(s)))
			}
		}
		pointers = append(pointers, b.String())
	}
	return pointers, nil
}
