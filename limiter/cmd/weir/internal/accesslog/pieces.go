package accesslog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// An item of a format string is a literal or a field.
type item struct {
	literal string
	name    string // of a field, as the format has it; empty for a literal
	meaning meaning
	layout  *layout // of a time
}

// A piece of a line is a field and the literal that follows it.
type piece struct {
	item
	what  id
	after string

	// The value can have no byte of ends. So the first of them in what follows
	// is the first in after, at lead; that is -1 if it has none, as it may be
	// at the end of the line.
	ends *[256]bool
	lead int
	only bool // ends is a quote
	last bool // the line ends after the literal
}

// newPieces puts together the fields of a format, with the literal that comes
// before the first.
func newPieces(items []item) (before string, pieces []piece, err error) {
	for _, it := range items {
		switch {
		case it.name != "" && len(pieces) > 0 && pieces[len(pieces)-1].after == "":
			return "", nil, fmt.Errorf("nothing tells %s and %s apart", pieces[len(pieces)-1].name, it.name)
		case it.name != "":
			pieces = append(pieces, piece{item: it})
		case len(pieces) == 0:
			before += it.literal
		default:
			pieces[len(pieces)-1].after += it.literal
		}
	}
	if len(pieces) == 0 {
		return "", nil, fmt.Errorf("no field in it")
	}
	pieces[len(pieces)-1].last = true
	quoted := strings.Contains(before, `"`)
	for i := range pieces {
		quoted = quoted || strings.Contains(pieces[i].after, `"`)
	}
	for first := 0; first < len(pieces); {
		end := first + 1
		for end < len(pieces) && !strings.Contains(pieces[end-1].after, `"`) {
			end++
		}
		delimit(pieces[first:end], quoted)
		first = end
	}
	return before, pieces, nil
}

// delimit sets where the fields of a stretch without quotes end. See the
// package comment for why this is so.
func delimit(stretch []piece, quoted bool) {
	ends := new([256]bool)
	ends['"'] = quoted
	blanks := true
	inner := stretch[:len(stretch)-1]
	for i := range inner {
		blanks = blanks && strings.Contains(inner[i].after, " ")
	}
	for i := range inner {
		ends[inner[i].after[0]] = ends[inner[i].after[0]] || !blanks
		ends[' '] = ends[' '] || blanks
	}
	for i := range stretch {
		p := &stretch[i]
		p.ends = ends
		p.only = quoted && len(stretch) == 1
		p.lead = slices.IndexFunc([]byte(p.after), func(c byte) bool { return ends[c] })
	}
}

// cut returns how long the value is with which a part of a line begins. What
// follows it is as it should be. (A time is cut by its layout instead.)
func (p *piece) cut(rest []byte) (size int, ok bool) {
	i := 0
	if p.only {
		if i = bytes.IndexByte(rest, '"'); i < 0 {
			i = len(rest)
		}
	} else {
		for i < len(rest) && !p.ends[rest[i]] {
			i++
		}
	}
	switch {
	case p.lead >= 0 && i < len(rest):
		size = i - p.lead
	case p.lead < 0 && i == len(rest):
		size = i - len(p.after)
	default:
		return 0, false
	}
	return size, size >= 0 && p.follows(rest[size:])
}

// follows says whether what comes after the value is there.
func (p *piece) follows(rest []byte) bool {
	n := len(p.after)
	return len(rest) >= n && (n == 0 || rest[0] == p.after[0]) && (n <= 1 || string(rest[:n]) == p.after) &&
		(!p.last || len(rest) == n)
}
