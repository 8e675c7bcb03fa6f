package accesslog

import (
	"cmp"
	"errors"
	"io"
	"slices"
)

// The most that waits to be put in order.
const (
	maxWaitingBytes   = 64 << 20
	maxWaitingRecords = 1 << 20
)

// A Log is a stream of requests.
type Log struct {
	parser  *parser
	blocks  *blocks
	streams []*stream // all files
	queue   []*stream // those that have more, the one read least far first
	order   *order
	current Record
	latest  int64 // time that was returned
	any     bool  // something was returned
	late    int64
	full    bool // some were returned before their time

	maxBytes, maxRecords int
}

// Next returns the next record; it and its strings are valid until the next
// call. At the end it returns io.EOF, or why there was no record at all. A file
// that cannot be read to its end, as one that was cut off, or of which no line
// can be read, does not keep the others from being read: see Unread.
func (l *Log) Next() (*Record, error) {
	l.current.release()
	for {
		if r, ok := l.order.pop(); ok {
			return l.record(r), nil
		}
		if l.order.count >= l.maxRecords || l.blocks.waiting > l.maxBytes && l.order.count > 0 {
			l.order.halve()
			l.full = true
		} else if len(l.queue) > 0 {
			l.read()
		} else if l.order.count > 0 {
			l.order.drain(l.order.count)
		} else {
			return nil, l.finish()
		}
	}
}

// read reads a record of the file that was read least far. It is held back
// until no other file is behind it, so that those in the order are close.
func (l *Log) read() {
	s := l.queue[0]
	if s.held.block != nil {
		if !l.order.add(s.held, s.reached) {
			s.beyond(s.held.time, s.held.block.records[s.held.index].line, l.order.disorder, l.any && s.held.time < l.latest)
		}
		s.held.block = nil
	}
	if s.block == nil {
		if s.end = s.begin(); s.end != nil {
			l.done(s)
			return
		}
	}
	if !s.record() {
		l.done(s)
		return
	}
	index := len(s.block.records) - 1
	s.held = ref{s.block.records[index].time, s, s.block, index}
	l.sink()
}

// done closes a file that has come to its end.
func (l *Log) done(s *stream) {
	if s.end != io.EOF {
		s.failed = s.end
	}
	if s.block != nil {
		l.blocks.retire(s.block)
	}
	l.queue = l.queue[1:]
	if err := s.shut(); err != nil && s.failed == nil {
		s.failed = err
	}
}

// sink puts the first of the queue where it belongs.
func (l *Log) sink() {
	s, others := l.queue[0], l.queue[1:]
	if len(others) == 0 || s.reached < others[0].reached {
		return
	}
	n, _ := slices.BinarySearchFunc(others, s, compareStreams)
	copy(l.queue, others[:n])
	l.queue[n] = s
}

// compareStreams puts first what was read least far.
func compareStreams(a, b *stream) int {
	return cmp.Or(cmp.Compare(a.reached, b.reached), cmp.Compare(a.index, b.index))
}

// record makes a record of what a reference says.
func (l *Log) record(r ref) *Record {
	c := &l.current
	rec := &r.block.records[r.index]
	c.block, c.fields = r.block, r.block.fields[rec.first:rec.first+uint32(rec.count)]
	c.Time, c.End, c.File, c.Line = rec.time, rec.end, r.stream.name, rec.line
	if l.any && c.Time < l.latest {
		c.Time, c.End = l.latest, max(c.End, l.latest)
		l.late++
	}
	l.latest, l.any = c.Time, true
	c.Status = statuses[rec.status]
	return c
}

// Format returns the format that the log is read as.
func (l *Log) Format() *Format { return l.parser.format }

// Close closes the files.
func (l *Log) Close() error {
	var errs []error
	for _, s := range l.streams {
		errs = append(errs, s.shut())
	}
	return errors.Join(errs...)
}
