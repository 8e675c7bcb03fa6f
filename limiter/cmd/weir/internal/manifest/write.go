package manifest

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// maxJSON is how long the JSON text of a mapping may be, in bytes: more than
// Kubernetes stores of a resource. Aliases of aliases can stand for more than any
// memory holds.
const maxJSON = 2 << 20

// A jsonWriter writes a node as the JSON text that Kubernetes makes of it. Names
// given twice stay, for the policy to report. In place of what JSON cannot say
// there is null, so that the policy can report all else.
type jsonWriter struct {
	root   *node
	text   []byte
	broken []*node        // what could not be written, each once
	untrue map[*node]bool // what is written otherwise than it is meant
	failed bool           // whether text is worth nothing
}

func newJSONWriter(root *node) *jsonWriter {
	return &jsonWriter{root: root, untrue: map[*node]bool{}}
}

func (w *jsonWriter) write(n *node) {
	if w.failed {
		return
	}
	if len(w.text) > maxJSON {
		w.fail(&node{at: w.root.at, text: fmt.Sprintf("the configuration has more than %d bytes with its aliases resolved", maxJSON)})
		return
	}
	switch n.kind {
	case object:
		w.object(n)
	case list:
		w.text = append(w.text, '[')
		for i, item := range n.items {
			w.comma(i)
			w.write(item)
		}
		w.text = append(w.text, ']')
	case text:
		w.quote(n.text)
	case literal:
		w.text = append(w.text, n.text...)
	default:
		w.breaks(n)
		w.text = append(w.text, "null"...)
	}
}

func (w *jsonWriter) object(n *node) {
	w.text = append(w.text, '{')
	written := 0
	for _, m := range n.members {
		if m.value.kind == brokenKey {
			w.breaks(m.value) // no field of Weir's is missing for it
			continue
		}
		if m.value.kind == broken && m.name == "<<" {
			w.breaks(m.value)
			w.untrue[n] = true // what it would have merged is missing
			continue
		}
		w.comma(written)
		written++
		w.quote(m.name)
		w.text = append(w.text, ':')
		w.write(m.value)
	}
	w.text = append(w.text, '}')
}

func (w *jsonWriter) comma(i int) {
	if i > 0 {
		w.text = append(w.text, ',')
	}
}

// quote cannot fail: the YAML is known to be UTF-8, and what would not be is
// replaced.
func (w *jsonWriter) quote(s string) {
	w.text, _ = jsontext.AppendQuote(w.text, s)
}

func (w *jsonWriter) breaks(n *node) {
	if !w.untrue[n] {
		w.broken = append(w.broken, n)
	}
	w.untrue[n] = true
}

func (w *jsonWriter) fail(n *node) {
	w.breaks(n)
	w.failed = true
}
