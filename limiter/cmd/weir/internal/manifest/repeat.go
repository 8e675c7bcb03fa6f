package manifest

import (
	"fmt"
	"strings"
)

// A repeat is a key that its mapping has had before, which YAML and JSON forbid.
type repeat struct {
	name      string
	at, first int  // where the key begins in the file, and the first of its name
	document  bool // whether another document seems to begin with it
}

// repeats tells of the keys that come again in a document, of which Envoy and
// Kubernetes take the last, where they take any, and people may read the first.
// The document is Weir's if a configuration was found in it, or may be hidden.
// Where something else is wrong with the key, that has been told.
func (f *finder) repeats(root *node, found bool, before int) {
	list := repeatsOf(root, f.chart.text)
	if len(list) == 0 || !found && !mayBeWeirs(root) {
		return
	}
	told := map[Position]bool{}
	for _, g := range f.file.Findings[before:] {
		told[g.Position] = true
	}
	for _, r := range list {
		if told[f.chart.position(r.at)] {
			continue
		}
		message := fmt.Sprintf("the key %q is given twice, first on line %d", r.name, f.chart.position(r.first).Line)
		if r.document {
			message += `: is a line "---" missing before it?`
		}
		f.add(r.at, Finding{Message: message})
	}
}

// merges tells of merge keys, which Kubernetes resolves and Envoy does not know.
func (f *finder) merges(root *node) {
	eachNode(root, func(n *node) {
		for _, at := range n.merges {
			f.add(at, Finding{Message: `Envoy's YAML has no merge key "<<"`})
		}
	})
}

// repeatsOf returns the keys that come again in their mappings.
func repeatsOf(root *node, file string) (list []repeat) {
	eachNode(root, func(n *node) {
		list = append(list, n.repeats(n == root && hasTwoKinds(n) && !strings.HasPrefix(file[n.at:], "{"))...)
		for _, at := range n.merges[min(1, len(n.merges)):] {
			list = append(list, repeat{name: "<<", at: at, first: n.merges[0]})
		}
	})
	return list
}

// repeats returns the members whose names come again. If documents may lie in
// it, one seems to begin where a name comes again since the last has begun.
func (n *node) repeats(documents bool) (list []repeat) {
	first := make(map[string]int, len(n.members))
	inDocument := map[string]bool{}
	for _, m := range n.members {
		if m.value.kind == brokenKey && m.name == "" { // it is an object or a list
			continue
		}
		begins := documents && inDocument[m.name]
		if at, again := first[m.name]; again {
			list = append(list, repeat{m.name, m.at, at, begins})
		} else {
			first[m.name] = m.at
		}
		if begins {
			clear(inDocument)
		}
		inDocument[m.name] = true
	}
	return list
}

func hasTwoKinds(n *node) bool {
	kinds := 0
	for _, m := range n.members {
		if m.name == "kind" {
			kinds++
		}
	}
	return kinds > 1
}

// mayBeWeirs reports whether a document speaks of plugins and of Weir, whatever
// of it is read.
func mayBeWeirs(root *node) bool {
	plugin, weirs := false, false
	eachNode(root, func(n *node) {
		for _, name := range []string{wasmType, "WasmPlugin", "TrafficExtension", "EnvoyExtensionPolicy"} {
			plugin = plugin || n.kind == text && strings.Contains(n.text, name)
		}
		weirs = weirs || n.kind == text && isWeirs(n.text)
	})
	return plugin && weirs
}

// eachNode calls do for every node of a document once.
func eachNode(root *node, do func(*node)) {
	seen := map[*node]bool{}
	var visit func(*node)
	visit = func(n *node) {
		if seen[n] {
			return
		}
		seen[n] = true
		do(n)
		for _, m := range n.members {
			visit(m.value)
		}
		for _, item := range n.items {
			visit(item)
		}
	}
	visit(root)
}
