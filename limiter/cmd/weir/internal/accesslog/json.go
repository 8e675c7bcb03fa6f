package accesslog

import "bytes"

// parseJSON reads a line that is a JSON object. Values that are neither text
// nor number are absent.
func (p *parser) parseJSON(b *block, at, size int, r *record) fault {
	line := b.text[at : at+size]
	s := scanner{b: line}
	if !s.take('{') {
		return fault{why: notJSON, at: s.i}
	}
	p.json.lines++
	var best [named]field // by slot
	request := false      // what a proxy or a service logs of itself has a time too
	for place := 0; ; place++ {
		if place == 0 && s.take('}') {
			break
		}
		name, ok := s.text()
		if !ok || !s.take(':') {
			return fault{why: notJSON, at: s.i}
		}
		value, ok := s.value()
		if !ok {
			return fault{why: notJSON, at: s.i}
		}
		called := line[name.at : name.at+name.size]
		if name.escaped {
			called = decodeIf(bytes.Clone(called), true)
		}
		n := p.json.at(place, called)
		if n != unnamed && n.line == p.json.lines {
			return fault{why: twice, at: int(name.at), size: int(name.size)}
		}
		n.line = p.json.lines
		request = request || n.given || n.meaning.kind.ofRequest()
		p.json.note(b, n, value, at, &best)
		if s.take('}') {
			break
		}
		if !s.take(',') {
			return fault{why: notJSON, at: s.i}
		}
	}
	if s.blank(); s.i != len(line) {
		return fault{why: notJSON, at: s.i}
	}
	if !request {
		return fault{why: noRequest}
	}
	if x := p.jsonTimes(b, at, &best, r); x.why != nothing {
		return x
	}
	if f := &best[status]; f.size > 0 {
		r.status = parseStatus(b.value(f))
	}
	for k := method; k < status; k++ {
		if best[k].size > 0 {
			b.fields = append(b.fields, best[k])
		}
	}
	for i := int(r.first); i < len(b.fields); i++ {
		if f := &b.fields[i]; f.escaped {
			f.size, f.escaped = uint32(decode(b.value(f))), false
		}
	}
	if f := &best[requestLine]; f.size > 0 && best[method].size == 0 && best[path].size == 0 {
		b.addRequestLine(int(f.at), decodeIf(b.value(f), f.escaped))
	}
	return fault{}
}

// decodeIf returns a value as it was before it was escaped.
func decodeIf(value []byte, escaped bool) []byte {
	if escaped {
		return value[:decode(value)]
	}
	return value
}

// note notes a field of a line, which is at some place in a block. Of several
// for the same slot the one that is surest counts.
func (n *jsonNames) note(b *block, name *jsonName, value field, at int, best *[named]field) {
	if name.what == 0 || value.size == 0 || value.size == 1 && b.text[at+int(value.at)] == '-' {
		return
	}
	value.what, value.rank = name.what, name.rank
	value.at += uint32(at)
	if name.meaning.kind >= named {
		b.fields = append(b.fields, value)
		return
	}
	if slot := &best[name.meaning.kind.slot()]; slot.size == 0 || value.rank < slot.rank {
		*slot = value
	}
}

// jsonTimes reads the time and the duration of a line.
func (p *parser) jsonTimes(b *block, at int, best *[named]field, r *record) fault {
	f := &best[startTime]
	if f.size == 0 {
		return fault{why: noTime}
	}
	t := times{atEnd: f.what == id(endTime)}
	when, digits, ok := p.clock.rfc3339(b.value(f))
	if !ok {
		when, digits, ok = epoch(b.value(f))
	}
	if !ok {
		return fault{why: badValue, at: int(f.at) - at, size: int(f.size)}
	}
	if unit := fraction(digits); !p.json.timed || unit < p.format.resolution {
		p.json.timed, p.format.resolution = true, unit
	}
	t.at = when
	if f := &best[duration]; f.size > 0 {
		unit := millisecond
		if f.what == id(seconds) {
			unit = second
		}
		// What is no number, such as a duration with its unit, is none.
		t.duration, _ = decimal(b.value(f), unit)
	}
	t.record(r)
	return fault{}
}
