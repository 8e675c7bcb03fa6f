package accesslog

import "bytes"

// A parser reads lines of a format. It is for one log.
type parser struct {
	format *Format
	clock  clock
	json   *jsonNames
}

// parse appends the record of a line, which is at some place in a block, to
// the block; not if there is something wrong with it.
func (p *parser) parse(b *block, at, size int) fault {
	r := record{first: uint32(len(b.fields)), status: noStatus}
	var x fault
	if p.json != nil {
		x = p.parseJSON(b, at, size, &r)
	} else {
		x = p.parseText(b, at, size, &r)
	}
	if x.why != nothing {
		b.fields = b.fields[:r.first]
		return x
	}
	r.count = uint16(len(b.fields) - int(r.first))
	b.records = append(b.records, r)
	return fault{}
}

// times are those of a line, in microseconds; the durations may be missing.
type times struct {
	at, duration int64
	atEnd        bool // at is the end
}

// record sets the times of a record.
func (t *times) record(r *record) {
	if r.time, r.end = t.at, t.at+t.duration; t.atEnd {
		r.time, r.end = t.at-t.duration, t.at
	}
}

func (p *parser) parseText(b *block, at, size int, r *record) fault {
	line := b.text[at : at+size]
	before := p.format.before
	if len(line) < len(before) || string(line[:len(before)]) != before {
		return fault{why: badBegin}
	}
	var t times
	next := len(before)
	pieces := p.format.pieces
	for i := range pieces {
		piece := &pieces[i]
		rest := line[next:]
		var size int
		if piece.layout != nil {
			when, n := piece.layout.parse(&p.clock, rest)
			if n == 0 {
				return fault{badValue, i, next, len(rest)}
			}
			size, t.at, t.atEnd = n, when, piece.meaning.kind == endTime
			if !piece.follows(rest[n:]) {
				return fault{badEnd, i, next, len(rest)}
			}
		} else {
			var ok bool
			if size, ok = piece.cut(rest); !ok {
				return fault{badEnd, i, next, len(rest)}
			}
			if piece.what != 0 && !p.keep(b, piece, at+next, size, &t, r) {
				return fault{badValue, i, next, size}
			}
		}
		next += size + len(piece.after)
	}
	t.record(r)
	if p.format.escapes {
		b.unescape(int(r.first))
	}
	return fault{}
}

// keep keeps the value of a field, which is at some place in a block, and says
// whether it is good.
func (p *parser) keep(b *block, piece *piece, at, size int, t *times, r *record) (ok bool) {
	value := b.text[at : at+size]
	if size == 0 || size == 1 && value[0] == '-' {
		return true
	}
	switch piece.meaning.kind {
	case duration:
		t.duration, ok = decimal(value, millisecond)
		return ok
	case seconds:
		t.duration, ok = decimal(value, second)
		return ok
	case status:
		r.status = parseStatus(value)
		return r.status != noStatus
	case requestLine:
		b.addRequestLine(at, value)
		return true
	}
	b.add(piece.what, at, size)
	return true
}

// add adds a field to the last line of a block; an empty value is none.
func (b *block) add(what id, at, size int) {
	if size > 0 {
		b.fields = append(b.fields, field{what: what, at: uint32(at), size: uint32(size)})
	}
}

// addRequestLine adds the method and the path of a request line, which is at
// some place in the block.
func (b *block) addRequestLine(at int, line []byte) {
	m, begin, end := cutRequestLine(line)
	b.add(id(method), at, m)
	b.add(id(path), at+begin, end-begin)
}

// unescape decodes the values of the last line, as NGINX escapes them.
func (b *block) unescape(first int) {
	for i := first; i < len(b.fields); i++ {
		f := &b.fields[i]
		if value := b.value(f); bytes.IndexByte(value, '\\') >= 0 {
			f.size = uint32(unescape(value))
		}
	}
}
