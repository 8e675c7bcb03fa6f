package manifest

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// readJSON returns the one value that a source holds, after a byte order mark.
func readJSON(s source) (*node, error) {
	r := jsonReader{s: s}
	if strings.HasPrefix(s.text, bom) {
		r.start = len(bom)
	}
	r.d = jsontext.NewDecoder(strings.NewReader(s.text[r.start:]), jsontext.AllowDuplicateNames(true))
	n, err := r.value()
	if err != nil {
		return nil, err
	}
	if _, err := r.d.ReadToken(); err != io.EOF {
		return nil, errors.New("something follows the value")
	}
	return n, nil
}

type jsonReader struct {
	s     source
	start int // of the text that d reads
	d     *jsontext.Decoder
}

func (r *jsonReader) value() (*node, error) {
	switch r.d.PeekKind() {
	case '{':
		return r.object()
	case '[':
		return r.list()
	case '"':
		_, n, err := r.text()
		return n, err
	default:
		at, raw, err := r.scalar()
		return &node{kind: literal, at: r.s.offset(at), text: raw}, err
	}
}

// scalar returns the raw text of a value, and where it begins in the source.
func (r *jsonReader) scalar() (int, string, error) {
	raw, err := r.d.ReadValue()
	return r.start + int(r.d.InputOffset()) - len(raw), string(raw), err
}

func (r *jsonReader) text() (string, *node, error) {
	at, raw, err := r.scalar()
	if err != nil {
		return "", nil, err
	}
	decoded, err := jsontext.AppendUnquote(nil, raw)
	n := &node{kind: text, at: r.s.offset(at), text: string(decoded)}
	n.source = func() source { return r.s.cut(mapQuoted(r.s.text, at, n.text)) }
	return n.text, n, err
}

// open reads a bracket and returns where it is in the file.
func (r *jsonReader) open() (int, error) {
	_, err := r.d.ReadToken()
	return r.s.offset(r.start + int(r.d.InputOffset()) - 1), err
}

func (r *jsonReader) object() (*node, error) {
	at, err := r.open()
	n := &node{kind: object, at: at}
	for err == nil && r.d.PeekKind() == '"' {
		var m member
		var name *node
		if m.name, name, err = r.text(); err != nil {
			return nil, err
		}
		m.at = name.at
		m.value, err = r.value()
		n.members = append(n.members, m)
	}
	if err != nil {
		return nil, err
	}
	_, err = r.d.ReadToken()
	return n, err
}

func (r *jsonReader) list() (*node, error) {
	at, err := r.open()
	n := &node{kind: list, at: at}
	for err == nil && r.d.PeekKind() != ']' {
		var item *node
		item, err = r.value()
		n.items = append(n.items, item)
	}
	if err != nil {
		return nil, err
	}
	_, err = r.d.ReadToken()
	return n, err
}
