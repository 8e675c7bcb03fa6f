package accesslog

import "strings"

// A kind is what a field of a line is.
type kind uint8

const (
	ignored kind = iota
	startTime
	endTime  // when the line was written, as NGINX logs it
	duration // in milliseconds
	seconds  // a duration, as NGINX logs it
	requestLine
	method
	path
	host
	client
	direct // the peer of the connection
	status
	named // first of those that have a name
)

const (
	header kind = named + iota
	responseHeader
	property // its path joined by dots
)

// ofRequest says whether only what is logged of a request has such a field. Its
// value may be null, as all are of a request that could not be parsed.
func (k kind) ofRequest() bool { return requestLine <= k && k <= status }

// A meaning is a kind with the name of a header or property.
type meaning struct {
	kind kind
	name string
}

// An id stands for a meaning in a vocabulary. Those without a name are their
// kind.
type id uint16

// maxMeanings bounds a vocabulary that grows with the names in JSON lines.
const maxMeanings = 1024

// A vocabulary is what the lines of a log have fields for.
type vocabulary struct {
	ids      map[meaning]id
	meanings []meaning // by id
	has      []bool    // by id
	forward  id        // of the header x-forwarded-for; 0 if there is none
}

func newVocabulary() *vocabulary {
	v := &vocabulary{ids: map[meaning]id{}}
	for k := range named {
		v.meanings = append(v.meanings, meaning{kind: k})
	}
	v.has = make([]bool, named)
	return v
}

// learn returns the id of a meaning that lines have; 0 if it is of no interest
// or there are too many.
func (v *vocabulary) learn(m meaning) id {
	if m.kind < named {
		v.has[m.kind] = m.kind != ignored
		return id(m.kind)
	}
	if known, ok := v.ids[m]; ok {
		return known
	}
	if len(v.meanings) == maxMeanings {
		return 0
	}
	next := id(len(v.meanings))
	m.name = strings.Clone(m.name)
	v.ids[m] = next
	v.meanings, v.has = append(v.meanings, m), append(v.has, true)
	if m == (meaning{header, "x-forwarded-for"}) {
		v.forward = next
	}
	return next
}

// find returns the id of a meaning, if lines have it.
func (v *vocabulary) find(m meaning) (id, bool) {
	if m.kind < named {
		return id(m.kind), v.has[m.kind]
	}
	known, ok := v.ids[m]
	return known, ok
}

// clone returns a vocabulary that can learn by itself.
func (v *vocabulary) clone() *vocabulary {
	c := newVocabulary()
	copy(c.has, v.has)
	for _, m := range v.meanings[named:] {
		c.learn(m)
	}
	return c
}

// headerName is the name of a header as policies ask for it.
func headerName(name string) string { return strings.ToLower(name) }
