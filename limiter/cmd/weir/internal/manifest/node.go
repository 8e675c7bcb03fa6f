package manifest

import (
	"slices"
	"strings"
)

// A node is one value of a document, JSON or YAML.
type node struct {
	kind kind
	at   int    // where it begins in the file
	text string // of a text, decoded; of a literal, in JSON; of what is broken, why

	// source returns the source of a text, which few are asked for.
	source func() source

	members []member // of an object; a name may come twice
	merges  []int    // where its merge keys begin, of which YAML allows one
	items   []*node  // of a list
}

type member struct {
	name  string
	at    int // where the name begins in the file
	value *node
}

type kind byte

const (
	object    kind = '{'
	list      kind = '['
	text      kind = '"'
	literal   kind = '0' // a number, true, false or null
	broken    kind = '!' // what JSON cannot say
	brokenKey kind = '?' // the value of a member whose name JSON cannot say
)

// get follows names, which are in snake_case or as they are, from object to
// object; protobuf's JSON may have them in lowerCamelCase. Of a name that comes
// twice the last is taken, as Envoy and Kubernetes do. It returns nil if one is
// not there. A nil node has nothing.
func (n *node) get(names ...string) *node {
	for _, name := range names {
		n = n.member(name)
	}
	return n
}

func (n *node) member(name string) *node {
	if n == nil || n.kind != object {
		return nil
	}
	camel := lowerCamel(name)
	for _, m := range slices.Backward(n.members) {
		if m.name == name || m.name == camel {
			return m.value
		}
	}
	return nil
}

// str is the text at names, or empty.
func (n *node) str(names ...string) string {
	if n = n.get(names...); n == nil || n.kind != text {
		return ""
	}
	return n.text
}

func lowerCamel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// String returns the value as a message names it.
func (n *node) String() string {
	switch n.kind {
	case object:
		return "an object"
	case list:
		return "a list"
	case literal:
		return n.text
	default:
		return "a text"
	}
}
