package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// furthest is how much of a file is looked at to find its format, in bytes: what
// a proxy logs of its start comes before the first request.
const furthest = 1 << 20

// detect finds the format, by the first file that has lines which some format
// reads.
func (l *Log) detect() (*Format, error) {
	d, faults := newDetector(), []error(nil)
	for _, s := range l.streams {
		if err := s.begin(); err != nil {
			return nil, err
		}
		f := d.search(s)
		if s.end != nil && s.end != io.EOF {
			faults = append(faults, s.end)
		}
		if s.again() {
			if err := s.rewind(); err != nil {
				return nil, err
			}
		}
		if f != nil {
			return f, nil
		}
	}
	switch {
	case d.lines > 0:
		faults = append(faults, d.nothing(l.files()))
	case faults == nil:
		faults = append(faults, l.empty())
	}
	return nil, errors.Join(faults...)
}

// Detect returns the known format that reads most of some lines, the first
// ones of a log. The error shows the known formats, if none reads any.
func Detect(lines []string) (*Format, error) {
	d := newDetector()
	for _, line := range lines {
		d.look([]byte(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")))
	}
	if f := d.best(); f != nil {
		return f, nil
	}
	return nil, d.nothing(nil)
}

// A detector counts how many lines each known format reads.
type detector struct {
	formats []*Format
	parsers []*parser
	read    []int // by format

	lines   int    // looked at
	first   []byte // of them
	scratch block
}

func newDetector() *detector {
	d := &detector{read: make([]int, len(knownFormats))}
	for _, k := range knownFormats {
		f, err := ParseFormat(k.name)
		if err != nil {
			panic(err) // a known format is valid, as a test knows
		}
		p, _ := newParser(f, nil) // fields of JSON could be wrong, and there are none
		d.formats, d.parsers = append(d.formats, f), append(d.parsers, p)
	}
	return d
}

// search looks at the first block of a file, and at more as long as no format
// reads a line of it. What was looked at stays in the file's block.
func (d *detector) search(s *stream) *Format {
	for at := s.next; ; {
		for end, line := range s.whole(at) {
			d.look(line)
			at = end
		}
		f := d.best()
		if f != nil || s.end != nil || len(s.block.text) >= furthest {
			if at == s.next { // within a line
				d.look(s.block.text[at:])
			}
			return f
		}
		at -= s.next
		s.more()
	}
}

// look counts who reads a line.
func (d *detector) look(line []byte) {
	if len(line) == 0 {
		return
	}
	if d.lines++; d.lines == 1 {
		d.first = bytes.Clone(line)
	}
	for i, p := range d.parsers {
		if d.parse(p, line).why == nothing {
			d.read[i]++
		}
	}
}

func (d *detector) parse(p *parser, line []byte) fault {
	d.scratch = block{text: append(d.scratch.text[:0], line...), fields: d.scratch.fields[:0], records: d.scratch.records[:0]}
	return p.parse(&d.scratch, 0, len(line))
}

// best returns the format that reads most; nil if none reads any. A text format
// comes before JSON, since its lines are not taken for those of something else,
// as an object with a time and a host may be.
func (d *detector) best() (f *Format) {
	most := 0
	for i, n := range d.read {
		if n > most && (f == nil || !d.formats[i].isJSON()) {
			f, most = d.formats[i], n
		}
	}
	return f
}

// nothing is the error if no format reads any line of some files.
func (d *detector) nothing(files []string) error {
	wrong := ""
	if i := len(d.parsers) - 1; len(d.first) > 0 && d.first[0] == '{' { // it means to be JSON, the last
		wrong = d.formats[i].describe(d.parse(d.parsers[i], d.first), d.first)
	}
	looked := ""
	if len(files) > 0 {
		looked = fmt.Sprintf(", of %d in the first MiB of %s", d.lines, strings.Join(files, ", "))
	}
	return unreadable(looked, "the first line", d.first, wrong)
}
