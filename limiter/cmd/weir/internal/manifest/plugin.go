package manifest

import (
	"fmt"
	"slices"
	"strings"
)

// A plugin is a wasm module in a filter chain, Weir's or another's.
type plugin struct {
	Skipped          // where it is, and what it is called
	names   []string // all that might say whose it is
	check   func(*Configuration)
}

// A scope holds the plugins of one resource of Kubernetes, or of what is none.
// The name of a resource says whose its plugin is, if it has only one.
type scope struct {
	resource string
	plugins  []plugin
}

// isWeirs reports whether a name is one of Weir's.
func isWeirs(name string) bool { return strings.Contains(strings.ToLower(name), "weir") }

// judge checks the plugins of Weir, and leaves others alone.
func (f *finder) judge(in *scope) {
	for _, p := range in.plugins {
		named := isWeirs(in.resource) && len(in.plugins) == 1
		if named || slices.ContainsFunc(p.names, isWeirs) {
			p.check(&Configuration{Position: p.Position, Carrier: p.Carrier, Name: p.Name})
		} else {
			f.file.Skipped = append(f.file.Skipped, p.Skipped)
		}
	}
}

// walk looks for plugins in a document.
func (f *finder) walk(root *node, nested int) {
	w := walker{f, map[*node]bool{}, map[*node]bool{}, nested}
	top, before, told := &scope{}, f.count(), len(f.file.Findings)
	w.node(root, top)
	f.judge(top)
	found := f.count() > before
	f.repeats(root, found, told)
	if found && root.member("kind") == nil {
		f.merges(root)
	}
}

// A walker meets every node once, however many aliases lead to it.
type walker struct {
	*finder
	seen    map[*node]bool
	plugins map[*node]bool
	nested  int
}

func (w *walker) node(n *node, in *scope) {
	if w.seen[n] {
		return
	}
	w.seen[n] = true
	if resource := n.str("metadata", "name"); n.str("kind") != "" && resource != "" {
		in = &scope{resource: resource}
		defer func() { w.judge(in) }()
	}
	switch n.str("kind") {
	case "WasmPlugin":
		w.wasmPlugin(n, in)
		return
	case "TrafficExtension":
		w.trafficExtension(n, in)
		return
	case "EnvoyExtensionPolicy":
		w.extensionPolicy(n, in)
		return
	case "ConfigMap":
		w.configMap(n)
		return
	}
	if config := n.get("typed_config"); config != nil {
		w.filter(n.str("name"), config, in)
	} else if n.str("@type") != "" {
		w.filter("", n, in)
	}
	for _, m := range n.members {
		w.node(m.value, in)
	}
	for _, item := range n.items {
		w.node(item, in)
	}
}

// found adds a plugin to its scope. The first of the names that is not empty is
// what it is called, the scope's if there is none.
func (w *walker) found(carrier Carrier, n *node, in *scope, check func(*Configuration), names ...string) {
	name := in.resource
	if i := slices.IndexFunc(names, func(s string) bool { return s != "" }); i >= 0 {
		name = names[i]
	}
	in.plugins = append(in.plugins, plugin{Skipped{w.chart.position(n.at), carrier, name}, names, check})
}

// warn records what works until something fails.
func (w *walker) warn(n *node, format string, args ...any) {
	w.add(n.at, Finding{Severity: Warning, Message: fmt.Sprintf(format, args...)})
}
