package policy

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// A node is one JSON value with the path that leads to it.
type node struct {
	path    string
	kind    jsontext.Kind
	text    string // of a string, decoded; of any other scalar, as written
	members []member
	items   []node
	secret  bool // errors do not quote it
}

type member struct {
	name  string
	value node
}

// maxDepth is far more than any configuration needs.
const maxDepth = 32

// parse reads one JSON value and nothing else. A UTF-8 byte order mark before
// it is accepted. Names given twice are left to the decoder, which can say more.
func parse(data []byte) (node, error) {
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return node{}, Problems{{Message: "the configuration is empty"}}
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return node{}, Problems{{Message: "the configuration is UTF-16: want UTF-8"}}
	}
	start := int64(len(data) - len(text))
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	n, err := read(d, "", 0)
	if err != nil {
		return node{}, invalid(start, d.InputOffset(), err)
	}
	end := d.InputOffset()
	if _, err := d.ReadToken(); err != io.EOF {
		return node{}, invalid(start, end, errors.New("something follows the configuration"))
	}
	return n, nil
}

// invalid says what is wrong and where in the text that begins at start, which
// jsontext knows better than the caller, but words for programmers.
func invalid(start, at int64, err error) error {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		at, err = syntactic.ByteOffset, syntactic.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the configuration ends too early")
	}
	return &SyntaxError{start + at, err}
}

func read(d *jsontext.Decoder, path string, depth int) (node, error) {
	n := node{path: path}
	if depth > maxDepth {
		return n, brief.Errorf("values are nested more than %d deep", maxDepth)
	}
	token, err := d.ReadToken()
	if err != nil {
		return n, err
	}
	switch n.kind = token.Kind(); n.kind {
	case '{':
		err = n.readMembers(d, depth)
	case '[':
		err = n.readItems(d, depth)
	default:
		n.text = token.String()
	}
	return n, err
}

func (n *node) readMembers(d *jsontext.Decoder, depth int) error {
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		value, err := read(d, join(n.path, name), depth+1)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{name, value})
	}
	_, err := d.ReadToken()
	return err
}

func (n *node) readItems(d *jsontext.Decoder, depth int) error {
	for d.PeekKind() != ']' {
		value, err := read(d, n.path+"["+strconv.Itoa(len(n.items))+"]", depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, value)
	}
	_, err := d.ReadToken()
	return err
}

// join leads from an object to a member. A name that would blur the path, or
// break the line, is quoted.
func join(path, name string) string {
	if q := strconv.Quote(name); name == "" || len(q) > len(name)+2 || strings.ContainsAny(name, " .:;[]") {
		return path + "[" + q + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// String returns the value as an error message quotes it.
func (n node) String() string {
	switch {
	case n.kind == '{':
		return "an object"
	case n.kind == '[':
		return "a list"
	case n.secret:
		return "(hidden)"
	case n.kind == '"':
		return strconv.Quote(n.text)
	default:
		return n.text
	}
}
