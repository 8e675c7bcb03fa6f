package manifests

import (
	"encoding/json"
	"errors"
	"fmt"

	eg "github.com/envoyproxy/gateway/api/v1alpha1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	istioextensions "istio.io/client-go/pkg/apis/extensions/v1alpha1"
	istionetworking "istio.io/client-go/pkg/apis/networking/v1alpha3"
	core "k8s.io/api/core/v1"
	gwapi "sigs.k8s.io/gateway-api/apis/v1"
	strict "sigs.k8s.io/json"
	kustomize "sigs.k8s.io/kustomize/api/types"
)

// kinds has for each kind of resource how its Go type reads it.
var kinds = map[string]func(json []byte) error{
	"extensions.istio.io/v1alpha1 WasmPlugin": istio(func() (any, proto.Message) {
		o := new(istioextensions.WasmPlugin)
		return o, &o.Spec
	}),
	"extensions.istio.io/v1alpha1 TrafficExtension": istio(func() (any, proto.Message) {
		o := new(istioextensions.TrafficExtension)
		return o, &o.Spec
	}),
	"networking.istio.io/v1alpha3 EnvoyFilter": istio(func() (any, proto.Message) {
		o := new(istionetworking.EnvoyFilter)
		return o, &o.Spec
	}),
	"gateway.envoyproxy.io/v1alpha1 EnvoyExtensionPolicy": plain[eg.EnvoyExtensionPolicy],
	"gateway.envoyproxy.io/v1alpha1 EnvoyPatchPolicy":     plain[eg.EnvoyPatchPolicy],
	"gateway.envoyproxy.io/v1alpha1 EnvoyProxy":           plain[eg.EnvoyProxy],
	"gateway.networking.k8s.io/v1 Gateway":                plain[gwapi.Gateway],
	"v1 ConfigMap":                                        plain[core.ConfigMap],
	"kustomize.config.k8s.io/v1beta1 Kustomization":       plain[kustomize.Kustomization],
}

// plain reads a resource as the API server reads strictly: names are told apart by
// case, and those that are unknown or occur twice are errors.
func plain[T any](text []byte) error { return plainly(text, new(T)) }

func plainly(text []byte, into any) error {
	problems, err := strict.UnmarshalStrict(text, into)
	return errors.Join(append(problems, err)...)
}

// istio reads a resource of Istio, whose own types ignore what they do not know. So
// the spec, which is a protobuf message, is read by itself and strictly.
func istio(resource func() (any, proto.Message)) func([]byte) error {
	return func(text []byte) error {
		o, spec := resource()
		if err := json.Unmarshal(text, o); err != nil {
			return err
		}
		var parts map[string]json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil {
			return err
		}
		own := parts["spec"]
		delete(parts, "spec")
		rest, err := json.Marshal(parts)
		if err != nil {
			return err
		}
		if err := plainly(rest, o); err != nil {
			return err
		}
		proto.Reset(spec)
		if err := protojson.Unmarshal(own, spec); err != nil {
			return fmt.Errorf("spec: %w", err)
		}
		return nil
	}
}
