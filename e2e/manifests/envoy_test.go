package manifests

import (
	"encoding/json"
	"errors"
	"fmt"

	bootstrap "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/file/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/open_telemetry/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/redis/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/wasm/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/redis_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/least_request/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/wrr_locality/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/resource_monitors/downstream_connections/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// message reads a part of Envoy's configuration into its type, strictly.
func message[M proto.Message](value any, into M) (M, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return into, err
	}
	return into, protojson.Unmarshal(text, into)
}

// valid asks the validator of a message and of every one within, those packed in an
// Any too.
func valid(m proto.Message) error {
	var errs []error
	err := protorange.Range(m.ProtoReflect(), func(at protopath.Values) error {
		last := at.Index(-1).Value
		inner, ok := last.Interface().(protoreflect.Message)
		if !ok {
			return nil
		}
		if v, ok := inner.Interface().(interface{ ValidateAll() error }); ok {
			if err := v.ValidateAll(); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", at.Path, err))
			}
		}
		if c, ok := inner.Interface().(*cluster.Cluster); ok {
			errs = append(errs, options(c))
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// options checks the names of a cluster's options, which Envoy knows by their types.
func options(c *cluster.Cluster) error {
	for name, o := range c.GetTypedExtensionProtocolOptions() {
		if got := string(o.MessageName()); got != name {
			return fmt.Errorf("cluster %q: options of %q are called %q", c.GetName(), got, name)
		}
	}
	return nil
}

// holds reads a part of Envoy's configuration, and holds it to its validators.
func holds(value any, into proto.Message) error {
	m, err := message(value, into)
	if err != nil {
		return err
	}
	return valid(m)
}

// plainEnvoy checks a file that is Envoy's own: a bootstrap, or what it discovers.
func plainEnvoy(d document) error {
	if d.value["resources"] != nil {
		return holds(d.value, new(discovery.DiscoveryResponse))
	}
	return holds(d.value, new(bootstrap.Bootstrap))
}

// envoyFilter checks the patches of an EnvoyFilter.
func envoyFilter(d document) error {
	patches, _ := d.at("spec", "configPatches").([]any)
	if len(patches) == 0 {
		return errors.New("no patches")
	}
	for i, p := range patches {
		patch := document{value: p.(object)}
		value := patch.at("patch", "value")
		var err error
		switch applies := patch.at("applyTo"); applies {
		case "HTTP_FILTER":
			err = holds(value, new(hcm.HttpFilter))
		case "EXTENSION_CONFIG":
			err = holds(value, new(corev3.TypedExtensionConfig))
		case "CLUSTER":
			err = holds(value, new(cluster.Cluster))
		case "NETWORK_FILTER":
			_, err = mergedFilter(value)
		default:
			err = fmt.Errorf("applyTo: %v: unknown to this test", applies)
		}
		if err != nil {
			return fmt.Errorf("configPatches[%d]: %w", i, err)
		}
	}
	return nil
}

// mergedFilter is the connection manager that a patch is merged with, as Istio does.
// What is merged need not be complete, so the outcome is held to the validators.
func mergedFilter(value any) (*hcm.HttpConnectionManager, error) {
	filter, err := message(value, new(listener.Filter))
	if err != nil {
		return nil, err
	}
	var patch hcm.HttpConnectionManager
	if err := filter.GetTypedConfig().UnmarshalTo(&patch); err != nil {
		return nil, err
	}
	merged := &hcm.HttpConnectionManager{StatPrefix: "http", RouteSpecifier: &hcm.HttpConnectionManager_Rds{
		Rds: &hcm.Rds{RouteConfigName: "http", ConfigSource: &corev3.ConfigSource{
			ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}}}}}
	proto.Merge(merged, &patch)
	return merged, valid(merged)
}

// bootstrapOverride reads what a ConfigMap of Istio's has merged over a bootstrap.
func bootstrapOverride(d document) (*bootstrap.Bootstrap, error) {
	text, _ := d.at("data", "custom_bootstrap.json").(string)
	if text == "" || len(d.value["data"].(object)) != 1 {
		return nil, errors.New("data: want custom_bootstrap.json, which is what Istio mounts, and nothing else")
	}
	m := new(bootstrap.Bootstrap)
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		return nil, err
	}
	return m, valid(m)
}
