package accesslog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// Options say how a log is read.
type Options struct {
	// Format is that of all files; nil detects it from the first lines.
	Format *Format

	// Disorder is by how much lines may be out of order, 0 or more.
	Disorder time.Duration

	// TrustedHops is how many entries of X-Forwarded-For, from the right, are
	// those of trusted proxies: 0 takes the last as the client's address. It
	// counts only if the format has no address of the downstream.
	TrustedHops int

	// Fields says what fields of JSON are, by their names, if that is not what
	// their names say: "header:x-user-id", "response:x-cost",
	// "property:connection.mtls", "time" (of the start), "end_time", "duration"
	// (in milliseconds), "seconds" (the same in seconds), "method", "path",
	// "host", "client", "status", "ignore".
	Fields map[string]string
}

// Open opens a log of one or more files, "-" being standard input. They may be
// compressed by gzip or zstd. The error names a file that is not there, or
// shows what is expected if the format cannot be detected.
func Open(files []string, stdin io.Reader, o Options) (l *Log, err error) {
	switch {
	case o.Disorder < 0:
		return nil, fmt.Errorf("disorder %q: want 0s or more", o.Disorder)
	case o.TrustedHops < 0:
		return nil, fmt.Errorf("trusted hops %d: want 0 or more", o.TrustedHops)
	}
	l = &Log{parser: &parser{}, blocks: &blocks{}, order: newOrder(o.Disorder.Microseconds()), maxBytes: maxWaitingBytes, maxRecords: maxWaitingRecords}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
			l = nil
		}
	}()
	far := l.order.disorder
	if far == 0 { // nothing is put in order, and nothing too late for that
		far = math.MaxInt64
	}
	for i, name := range files {
		if name == "-" && slices.Contains(files[:i], name) {
			return l, errors.New("standard input can be read once only")
		}
		src, err := newSource(name, stdin)
		if err != nil {
			return l, err
		}
		for _, s := range l.streams {
			if src.again() && os.SameFile(src.info, s.info) {
				return l, fmt.Errorf("%s: it is given twice, first as %q", name, s.name)
			}
		}
		l.streams = append(l.streams, &stream{source: *src, index: int32(i), parser: l.parser, blocks: l.blocks, far: far})
	}
	if o.Format == nil {
		if o.Format, err = l.detect(); err != nil {
			return l, err
		}
	}
	if l.parser, err = newParser(o.Format, o.Fields); err != nil {
		return l, err
	}
	l.current = Record{log: l, trustedHops: o.TrustedHops, notLogged: notLogged{}, dotted: map[string]string{}}
	return l, l.first()
}

// newParser returns a parser, with the meanings that a user gives to names in
// JSON.
func newParser(f *Format, fields map[string]string) (p *parser, err error) {
	if !f.isJSON() {
		if len(fields) > 0 {
			return nil, errors.New("only the fields of JSON logs have names: a text format says by itself what its fields are")
		}
		return &parser{format: f}, nil
	}
	own := *f
	own.words = f.words.clone()
	names, err := newJSONNames(own.words, fields)
	return &parser{format: &own, json: names}, err
}

// empty is the error of a log without lines.
func (l *Log) empty() error {
	return fmt.Errorf("the log is empty: no line in %s", strings.Join(l.files(), ", "))
}

func (l *Log) files() (names []string) {
	for _, s := range l.streams {
		names = append(names, s.name)
	}
	return names
}

// first looks at the first time in each file, and puts the files in order.
func (l *Log) first() error {
	for _, s := range l.streams {
		s.parser = l.parser
		if s.block == nil {
			if err := s.begin(); err != nil {
				return err
			}
		}
		s.peek()
		if s.again() && len(l.streams) > 1 {
			if err := s.rewind(); err != nil {
				return err
			}
		}
	}
	l.queue = slices.SortedFunc(slices.Values(l.streams), compareStreams)
	return nil
}
