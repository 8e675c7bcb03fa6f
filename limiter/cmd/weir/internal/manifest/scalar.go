package manifest

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions here read a scalar of YAML or JSON once more from its raw text,
// to learn where each byte of its value comes from. The value is known: what
// they read otherwise, because YAML is larger than they are, is mapped to the
// scalar's beginning instead. So a place may be coarse, and is never wrong.

// mapScalar returns the value of a YAML scalar, whose anchor or tag begins at
// offset at of raw, with its places.
func mapScalar(raw string, at int, value string) mapped {
	at = skipProperties(raw, at)
	if at == len(raw) {
		return mappedTo(value, min(at, len(raw)))
	}
	switch raw[at] {
	case '"', '\'':
		return mapQuoted(raw, at, value)
	case '|', '>':
		if m, ok := block(raw, at, value); ok {
			return m
		}
	default:
		if strings.HasPrefix(raw[at:], value) {
			var m mapped
			m.copy(value, at)
			m.at = append(m.at, at+len(value))
			return m
		}
	}
	return mappedTo(value, at)
}

// mapQuoted is mapScalar of a scalar in quotes, of YAML or JSON.
func mapQuoted(raw string, at int, value string) mapped {
	q := unquoter{raw: raw, quote: raw[at], i: at + 1}
	if m, ok := q.read(); ok && string(m.text) == value {
		return m
	}
	return mappedTo(value, at)
}

// skipProperties returns where the scalar begins that may have a tag and an
// anchor, and after them comments, before it.
func skipProperties(raw string, at int) int {
	for at < len(raw) && (raw[at] == '!' || raw[at] == '&') {
		for at < len(raw) && !strings.ContainsRune(" \t\r\n", rune(raw[at])) {
			at++
		}
		for at < len(raw) && strings.ContainsRune(" \t\r\n#", rune(raw[at])) {
			if raw[at] == '#' {
				at += max(0, strings.IndexByte(raw[at:]+"\n", '\n')-1)
			}
			at++
		}
	}
	return min(at, len(raw))
}

// An unquoter reads a scalar in single or double quotes, whose lines YAML folds.
type unquoter struct {
	raw   string
	quote byte
	i     int
	m     mapped
}

func (q *unquoter) read() (mapped, bool) {
	for q.i < len(q.raw) {
		c := q.raw[q.i]
		switch {
		case c == '\'' && q.quote == '\'' && strings.HasPrefix(q.raw[q.i:], "''"):
			q.m.add("'", q.i)
			q.i += 2
		case c == q.quote:
			q.m.at = append(q.m.at, q.i)
			return q.m, true
		case c == '\\' && q.quote == '"':
			if !q.escape() {
				return q.m, false
			}
		case strings.IndexByte(" \t\r\n", c) >= 0:
			q.blanks(1)
		default:
			q.m.copy(q.raw[q.i:q.i+1], q.i)
			q.i++
		}
	}
	return q.m, false
}

// blanks reads white space. Within a line it stands for itself; of its line
// breaks one, or as many as folded says, are folded away, to a blank if
// it was the only one.
func (q *unquoter) blanks(folded int) {
	from, breaks := q.i, []int{}
	for ; q.i < len(q.raw) && strings.IndexByte(" \t\r\n", q.raw[q.i]) >= 0; q.i++ {
		if c := q.raw[q.i]; c == '\n' || c == '\r' && !strings.HasPrefix(q.raw[q.i:], "\r\n") {
			breaks = append(breaks, q.i)
		}
	}
	switch {
	case len(breaks) == 0 && folded == 1:
		q.m.copy(q.raw[from:q.i], from)
	case len(breaks) == 1 && folded == 1:
		q.m.add(" ", breaks[0])
	default:
		for _, at := range breaks[:max(0, len(breaks)-folded)] {
			q.m.add("\n", at)
		}
	}
}

// escapes are those of YAML, and the slash of JSON.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '\'': "'", '\\': `\`, '/': "/", 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

func (q *unquoter) escape() bool {
	at := q.i
	if q.i+1 >= len(q.raw) {
		return false
	}
	c := q.raw[q.i+1]
	q.i += 2
	if text, ok := escapes[c]; ok {
		q.m.add(text, at)
		return true
	}
	switch c {
	case '\r', '\n':
		if c == '\r' && strings.HasPrefix(q.raw[q.i:], "\n") {
			q.i++
		}
		q.blanks(0)
		return true
	case 'x':
		return q.code(at, 2)
	case 'u':
		return q.code(at, 4)
	case 'U':
		return q.code(at, 8)
	}
	return false
}

// code reads the digits of a character, or of half of one as JSON has it.
func (q *unquoter) code(at, digits int) bool {
	c, ok := q.hex(digits)
	if ok && utf16.IsSurrogate(c) && strings.HasPrefix(q.raw[q.i:], `\u`) {
		q.i += 2
		var low rune
		low, ok = q.hex(4)
		c = utf16.DecodeRune(c, low)
	}
	q.m.add(string(utf8.AppendRune(nil, c)), at)
	return ok
}

func (q *unquoter) hex(digits int) (rune, bool) {
	if len(q.raw)-q.i < digits {
		return 0, false
	}
	c, err := strconv.ParseUint(q.raw[q.i:q.i+digits], 16, 31)
	q.i += digits
	return rune(c), err == nil
}
