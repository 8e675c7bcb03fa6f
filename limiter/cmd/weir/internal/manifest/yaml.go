package manifest

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// maxMerged is how many members the merge keys of a file may add in all: far
// more than people write, and few enough to be copied in no time.
const maxMerged = 100_000

// A yamlReader turns YAML into nodes. An anchor is read once however many
// aliases it has, which share its node: nothing grows.
type yamlReader struct {
	s      source
	place  place
	done   map[*yaml.Node]*node // of kind 0 while it is being read
	merged int                  // members added by merge keys so far
}

func newYAMLReader(s source) *yamlReader {
	return &yamlReader{s: s, place: place{text: s.text}, done: map[*yaml.Node]*node{}}
}

func (r *yamlReader) read(y *yaml.Node) *node {
	if y.Kind == yaml.DocumentNode {
		return r.read(y.Content[0])
	}
	if y.Kind == yaml.AliasNode {
		n := r.read(y.Alias)
		if n.kind == 0 {
			at := r.s.offset(r.place.offset(y.Line, y.Column))
			return &node{kind: broken, at: at, text: fmt.Sprintf("the anchor %q contains itself", y.Value)}
		}
		return n
	}
	if n := r.done[y]; n != nil {
		return n
	}
	local := r.place.offset(y.Line, y.Column)
	n := &node{at: r.s.offset(local)}
	r.done[y] = n
	switch y.Kind {
	case yaml.MappingNode:
		r.mapping(n, y)
		n.kind = object
	case yaml.SequenceNode:
		for _, item := range y.Content {
			n.items = append(n.items, r.read(item))
		}
		n.kind = list
	default:
		n.kind, n.text = resolve(y)
		n.at = r.s.offset(skipProperties(r.s.text, local))
		n.source = func() source { return r.s.cut(mapScalar(r.s.text, local, y.Value)) }
	}
	return n
}

func (r *yamlReader) mapping(n *node, y *yaml.Node) {
	var merges []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := r.read(y.Content[i]), r.read(y.Content[i+1])
		switch {
		case y.Content[i].Tag == "!!merge":
			if value.kind == list {
				merges = append(merges, value.items...)
			} else {
				merges = append(merges, value)
			}
			n.merges = append(n.merges, key.at)
		case key.kind == text:
			n.members = append(n.members, member{key.text, key.at, value})
		default:
			name := y.Content[i].Value
			message := fmt.Sprintf("the key %q is not a string: write it in quotes", name)
			if key.kind == object || key.kind == list {
				message = fmt.Sprintf("a key is %v: want a string (a template that was not rendered?)", key)
			}
			n.members = append(n.members, member{name, key.at, &node{kind: brokenKey, at: key.at, text: message}})
		}
	}
	if len(merges) > 0 {
		r.merge(n, merges)
	}
}

// merge adds the members that a mapping does not have itself. Of two sources
// that have one, the first wins.
func (r *yamlReader) merge(n *node, sources []*node) {
	has := map[string]bool{}
	for _, m := range n.members {
		has[m.name] = true
	}
	fail := func(at int, message string) {
		n.members = append(n.members, member{"<<", at, &node{kind: broken, at: at, text: message}})
	}
	for i := 0; i < len(sources); i++ {
		s := sources[i]
		r.merged += 1 + len(s.members)
		switch {
		case r.merged > maxMerged:
			fail(s.at, `"<<" merges too many members`)
			return
		case s.kind == object:
			for _, m := range s.members {
				if !has[m.name] {
					n.members = append(n.members, m)
				}
				has[m.name] = true
			}
		default:
			fail(s.at, `"<<" wants an object, or a list of objects`)
		}
	}
}
