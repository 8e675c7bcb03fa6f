package manifest

import "strings"

// wasmPlugin adds Istio's.
func (w *walker) wasmPlugin(n *node, in *scope) {
	spec := n.get("spec")
	if spec == nil {
		spec = n
	}
	w.istio(spec, in)
}

// trafficExtension adds that of Istio's successor of WasmPlugin, unless it is of
// another kind.
func (w *walker) trafficExtension(n *node, in *scope) {
	if wasm := n.get("spec", "wasm"); wasm != nil {
		w.istio(wasm, in)
	}
}

// istio adds a plugin whose pluginConfig Istio makes JSON of.
func (w *walker) istio(spec *node, in *scope) {
	w.found(Istio, spec, in, func(c *Configuration) {
		// Istio's default is Envoy's: a VM that has died takes its worker out of
		// service for good. Older ones, such as 1.23, have no FAIL_RELOAD.
		if spec.str("failStrategy") == "" {
			w.warn(spec, "no failStrategy: when a VM has died, Envoy answers 503 on that worker for good; want FAIL_RELOAD, where Istio has it")
		}
		w.filledIn(spec.get("url"), spec.get("sha256"))
		w.value(spec, spec.get("pluginConfig"), c)
	}, spec.str("pluginName"), in.resource, spec.str("url"))
}

// extensionPolicy adds the plugins of Envoy Gateway, which makes JSON of each
// config.
func (w *walker) extensionPolicy(n *node, in *scope) {
	wasm := n.get("spec", "wasm")
	if wasm == nil {
		return
	}
	for _, p := range wasm.items {
		w.found(EnvoyGateway, p, in, func(c *Configuration) {
			w.filledIn(p.get("code", "image", "url"), p.get("code", "image", "sha256"), p.get("code", "http", "sha256"))
			w.value(p, p.get("config"), c)
		}, p.str("name"), p.str("rootID"), p.str("code", "http", "url"), p.str("code", "image", "url"))
	}
}

// noDigest is what stands in a manifest until an image is filled in.
var noDigest = strings.Repeat("0", 64)

// filledIn warns of references and digests that nobody has filled in.
func (w *walker) filledIn(list ...*node) {
	for _, n := range list {
		if n != nil && n.kind == text && strings.HasSuffix(n.text, noDigest) {
			w.warn(n, "%q: the digest is a placeholder, and nothing has it: fill in that of the module", n.text)
		}
	}
}

// value checks a configuration that is a value of the resource. One that is
// absent reaches the module as no text.
func (w *walker) value(parent, config *node, c *Configuration) {
	if config == nil || config.kind == literal && config.text == "null" {
		w.text(source{at: []int{parent.at}}, c)
		return
	}
	if config.kind == text { // which may be all of the JSON: not to be quoted
		w.carrierError(config.at, c, "a text: want an object")
		return
	}
	w.mapping(config, c)
}

// configMap looks for documents in the values, any of which may be anything.
func (w *walker) configMap(n *node) {
	data := n.get("data")
	if data == nil || w.nested == maxNested {
		return
	}
	for _, m := range data.members {
		if m.value.kind == text {
			w.document(m.value.source(), m.name, false, w.nested+1)
		}
	}
}
