package accesslog

import (
	"strings"

	"github.com/weirproxy/weir/limiter/policy"
)

// A Record is a request in a log. It is a [policy.Request], whose errors are
// always nil. It is valid, with all its strings, until the next is read.
type Record struct {
	// Time is when the request came, and End is when its response had been
	// sent, in microseconds since the Unix epoch. They are the same if the log
	// has no duration.
	Time, End int64

	File string // that its line is in
	Line int64  // its number, from 1, empty and broken lines counted

	Status string // of the response; empty if it is not logged

	log         *Log
	block       *block
	fields      []field
	trustedHops int
	notLogged   notLogged
	dotted      map[string]string // properties by their paths
}

var _ policy.Request = (*Record)(nil)

// release gives back what the record is made of.
func (r *Record) release() {
	if r.block != nil {
		r.log.blocks.unpin(r.block)
		r.block, r.fields = nil, nil
	}
}

// value returns the first field of a meaning.
func (r *Record) value(what id) (string, bool) {
	for i := range r.fields {
		if r.fields[i].what == what {
			return text(r.block.value(&r.fields[i])), true
		}
	}
	return "", false
}

// ask returns a field, and counts if lines have none such.
func (r *Record) ask(m meaning) (string, error) {
	what, ok := r.log.parser.format.words.find(m)
	if !ok {
		r.notLogged.count(m)
		return "", nil
	}
	value, _ := r.value(what)
	return value, nil
}

// Method implements [policy.Request].
func (r *Record) Method() (string, error) { return r.ask(meaning{kind: method}) }

// Path implements [policy.Request].
func (r *Record) Path() (string, error) { return r.ask(meaning{kind: path}) }

// Host implements [policy.Request].
func (r *Record) Host() (string, error) { return r.ask(meaning{kind: host}) }

// Header implements [policy.Request]; X-Forwarded-For is the whole field.
func (r *Record) Header(name string) (string, error) { return r.ask(pseudoHeader(name)) }

// ClientAddress implements [policy.Request]; see the package comment.
func (r *Record) ClientAddress() (string, error) {
	words := r.log.parser.format.words
	switch {
	case words.has[client]:
		value, _ := r.value(id(client))
		return value, nil
	case words.forward != 0:
		list, _ := r.value(words.forward)
		return hop(list, r.trustedHops), nil
	default:
		return r.ask(meaning{kind: direct})
	}
}

// hop returns the entry of a list that is some number from the right.
func hop(list string, fromRight int) string {
	for ; fromRight > 0; fromRight-- {
		i := strings.LastIndexByte(list, ',')
		if i < 0 {
			return ""
		}
		list = list[:i]
	}
	return strings.Trim(list[strings.LastIndexByte(list, ',')+1:], " \t")
}

// Property implements [policy.Request].
func (r *Record) Property(path string) (string, error) {
	name, ok := r.dotted[path]
	if !ok {
		name = strings.ReplaceAll(path, "\x00", ".")
		r.dotted[strings.Clone(path)] = name
	}
	if of, ok := strings.CutPrefix(name, "request.headers."); ok {
		return r.Header(of)
	}
	switch name {
	case "request.method":
		return r.Method()
	case "request.path":
		return r.Path()
	case "request.host":
		return r.Host()
	case "source.address":
		return r.ClientAddress()
	}
	value, err := r.ask(meaning{property, name})
	if name == uriSAN || name == dnsSAN {
		value, _, _ = strings.Cut(value, ",")
	}
	return value, err
}

// Response returns what the log says of the response: a copy, which stays valid.
func (r *Record) Response() policy.Response {
	resp := &response{status: r.Status}
	words := r.log.parser.format.words
	for i := range r.fields {
		if m := words.meanings[r.fields[i].what]; m.kind == responseHeader {
			resp.headers = append(resp.headers, [2]string{m.name, string(r.block.value(&r.fields[i]))})
		}
	}
	return resp
}

// A response is a [policy.Response].
type response struct {
	status  string
	headers [][2]string
}

// Status implements [policy.Response].
func (r *response) Status() (string, error) { return r.status, nil }

// Header implements [policy.Response].
func (r *response) Header(name string) (string, error) {
	for _, h := range r.headers {
		if h[0] == name {
			return h[1], nil
		}
	}
	return "", nil
}
