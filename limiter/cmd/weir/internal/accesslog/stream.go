package accesslog

import (
	"bytes"
	"io"
	"iter"
	"math"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// maxLine is the length of the longest line that is read, in bytes.
const maxLine = 1 << 20

// A stream is the records of a source, in the order of its lines.
type stream struct {
	source
	index  int32 // among the files
	parser *parser
	blocks *blocks

	block *block // that the lines are in
	next  int    // the place of the line to be read next
	end   error  // io.EOF, or why nothing more can be read after the block

	failed error // why the file was not read to its end; nil if it was

	// reached is the latest time in what was read. Before anything is, it is
	// the first time in the file, and if that is not known, any.
	reached int64

	far     int64  // a step of time that is a leap
	leaps   []leap // the last ones
	suspect leap   // one with lines behind it
	stray   *Stray

	held ref // a record that was read, and is not in the order yet

	line          int64 // number of the last line read
	lines, broken int64
	samples       []report.BrokenLine
}

// begin opens the source and reads its first lines.
func (s *stream) begin() error {
	if err := s.open(); err != nil {
		return err
	}
	s.block = s.blocks.get(0)
	s.more()
	if bytes.HasPrefix(s.block.text, []byte("\xef\xbb\xbf")) {
		s.next = 3
	}
	return nil
}

// peek looks for the time of the first record among the lines in the block,
// without reading them.
func (s *stream) peek() {
	s.reached = math.MinInt64
	p, n := *s.parser, int64(0)
	for _, line := range s.whole(s.next) {
		n++
		b := &block{text: bytes.Clone(line)}
		if len(line) > 0 && p.parse(b, 0, len(line)).why == nothing {
			s.leap(n, b.records[0].time)
			s.reached = b.records[0].time
			return
		}
	}
}

// whole yields the whole lines in the block, from some place on, each with the
// place after it.
func (s *stream) whole(at int) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for at < len(s.block.text) {
			line, _, ended := bytes.Cut(s.block.text[at:], []byte("\n"))
			if at += len(line); ended {
				at++
			} else if s.end == nil {
				return
			}
			if !yield(at, bytes.TrimSuffix(line, []byte("\r"))) {
				return
			}
		}
	}
}

// rewind closes the source and forgets it, but for the time that it begins with.
func (s *stream) rewind() error {
	s.blocks.retire(s.block)
	s.block, s.next, s.end = nil, 0, nil
	s.read = 0
	return s.shut()
}

// more reads more of the source into a block, which begins with the part of a
// line that the last one has left.
func (s *stream) more() {
	rest := s.block.text[s.next:]
	if len(rest) > 0 || s.next > 0 {
		b := s.blocks.get(2 * len(rest))
		b.number = s.block.number + 1
		b.text = append(b.text, rest...)
		s.blocks.retire(s.block)
		s.block, s.next = b, 0
	}
	b := s.block
	for s.end == nil && len(b.text) < cap(b.text) {
		var n int
		n, s.end = s.Read(b.text[len(b.text):cap(b.text)])
		b.text = b.text[:len(b.text)+n]
	}
}

// record reads on to the next record, the last of the block's. It returns
// false at the end.
func (s *stream) record() bool {
	for {
		at, size, ok := s.cutLine()
		if !ok {
			return false
		}
		s.line++
		if size > 0 && s.block.text[at+size-1] == '\r' {
			size--
		}
		if size == 0 {
			continue
		}
		s.lines++
		if x := s.parse(at, size); x.why != nothing {
			s.note(x, s.block.text[at:at+size])
			if x.why == tooLong && !s.skip() {
				return false
			}
			continue
		}
		r := &s.block.records[len(s.block.records)-1]
		r.line = s.line
		if r.time > s.reached {
			if r.time-s.reached > s.far {
				s.leap(s.line, r.time)
			}
			s.reached = r.time
		}
		s.block.pinned++
		return true
	}
}

func (s *stream) parse(at, size int) fault {
	if size > maxLine {
		return fault{why: tooLong}
	}
	return s.parser.parse(s.block, at, size)
}

// cutLine returns the place of the next line in the block, without its end. If
// the line is too long it is what there is of it.
func (s *stream) cutLine() (at, size int, ok bool) {
	for {
		rest := s.block.text[s.next:]
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			at, s.next = s.next, s.next+i+1
			return at, i, true
		}
		if len(rest) > maxLine+1 || s.end == io.EOF && len(rest) > 0 {
			at, s.next = s.next, len(s.block.text)
			return at, len(rest), true
		}
		if s.end != nil { // what there is of a line that was cut off is none
			return 0, 0, false
		}
		s.more()
	}
}

// skip skips the rest of a line that is too long, if it was not read to its end.
func (s *stream) skip() bool {
	if s.next > 0 && s.block.text[s.next-1] == '\n' {
		return true
	}
	for {
		if i := bytes.IndexByte(s.block.text[s.next:], '\n'); i >= 0 {
			s.next += i + 1
			return true
		}
		if s.next = len(s.block.text); s.end != nil {
			return false
		}
		s.more()
	}
}

// maxSamples is how many broken lines are shown.
const maxSamples = 5

// note counts a broken line.
func (s *stream) note(x fault, line []byte) {
	if s.broken++; len(s.samples) == maxSamples {
		return
	}
	f := s.parser.format
	s.samples = append(s.samples, report.BrokenLine{File: s.name, Line: s.line, Error: f.describe(x, line), Text: f.sample(line)})
}
