package manifest

import (
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	wasmType   = "envoy.extensions.filters.http.wasm.v3.Wasm"
	stringType = "google.protobuf.StringValue"
)

// filter adds an HTTP filter of Envoy whose typed_config is a wasm plugin's, or
// a TypedStruct of one, which Envoy reads as the same.
func (w *walker) filter(name string, typed *node, in *scope) {
	switch typeOf(typed, "@type") {
	case wasmType:
	case "xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct":
		if typeOf(typed, "type_url") != wasmType || typed.get("value") == nil {
			return
		}
		typed = typed.get("value")
	default:
		return
	}
	if w.plugins[typed] {
		return
	}
	w.plugins[typed] = true
	config := typed.get("config")
	if config == nil {
		config = typed
	}
	w.found(Envoy, typed, in, func(c *Configuration) { w.envoy(config, c) },
		config.str("name"), config.str("root_id"), name, config.str("vm_config", "vm_id"),
		config.str("vm_config", "code", "local", "filename"), config.str("vm_config", "code", "remote", "http_uri", "uri"))
}

// typeOf is the name of a message's type, without what comes before it.
func typeOf(n *node, field string) string {
	url := n.str(field)
	return url[strings.LastIndexByte(url, '/')+1:]
}

// envoy checks the plugin of a filter.
func (w *walker) envoy(config *node, c *Configuration) {
	// What happens when a VM dies should not be left to Envoy's default, which
	// takes the worker out of service for good ("Failure policies" in
	// envoy/configuration.md). fail_open is the older way to say something.
	if config.str("failure_policy") == "" && config.get("fail_open") == nil {
		w.warn(config, "no failure_policy: when a VM has died, Envoy answers 503 on that worker for good; want FAIL_RELOAD")
	}
	// The shared data that the windows lie in is that of the vm_id.
	if config.str("vm_config", "vm_id") == "" {
		w.warn(config, "no vm_id: the windows lie in the shared data of all plugins that have none; want one of its own")
	}
	w.filledIn(config.get("vm_config", "code", "remote", "http_uri", "uri"), config.get("vm_config", "code", "remote", "sha256"))
	w.envoyText(config, c)
}

// envoyText checks the configuration, which must reach the module as JSON.
func (w *walker) envoyText(config *node, c *Configuration) {
	configuration := config.get("configuration")
	if configuration == nil {
		w.text(source{at: []int{config.at}}, c)
		return
	}
	value := configuration.get("value")
	switch t := typeOf(configuration, "@type"); {
	case t == "google.protobuf.Struct" || t == "google.protobuf.Value":
		w.carrierError(configuration.get("@type").at, c,
			"%s: Envoy hands it to the module as binary protobuf: want a %s whose value is the JSON text", t, stringType)
	case t == "":
		w.carrierError(configuration.at, c, `no "@type": want %s, with the JSON text as its value`, stringType)
	case t != stringType && t != "google.protobuf.BytesValue":
		w.carrierError(configuration.get("@type").at, c, "%q: want %s, with the JSON text as its value", t, stringType)
	case value == nil:
		w.text(source{at: []int{configuration.at}}, c)
	case value.kind != text:
		w.carrierError(value.at, c, "the value is %v: want the JSON text as a string, as after \"value: |\"", value)
	case t == stringType:
		w.text(value.source(), c)
	default:
		decoded, err := base64.StdEncoding.DecodeString(value.text)
		if err != nil {
			w.carrierError(value.at, c, "the value is not base64: %v", err)
			return
		}
		m := mappedTo(string(decoded), value.at)
		w.text(source{string(m.text), m.at}, c)
	}
}

// carrierError tells of a configuration that would not reach the module.
func (w *walker) carrierError(at int, c *Configuration, format string, args ...any) {
	w.add(at, Finding{Message: "configuration: " + fmt.Sprintf(format, args...)})
	w.file.Configurations = append(w.file.Configurations, *c)
}
