package accesslog

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// fault says why a file was not read as it should be; nil if it was.
func (s *stream) fault() error {
	switch {
	case s.failed != nil:
		return s.failed
	case s.broken > 0 && s.broken == s.lines:
		x := s.samples[0]
		return fmt.Errorf("%s: no line of it could be read: line %d is %q: %s", s.name, x.Line, x.Text, x.Error)
	}
	return nil
}

// faults are those of the files so far, for the report.
func (l *Log) faults() (all []report.Fault) {
	for _, s := range l.streams {
		if err := s.fault(); err != nil {
			all = append(all, report.Fault{File: s.name, Error: strings.TrimPrefix(err.Error(), s.name+": ")})
		}
	}
	return all
}

// Unread is the error of files that could not be read to their ends, or of
// which no line could be read, while there are requests in others; nil if there
// is none such.
func (l *Log) Unread() error {
	var b strings.Builder
	formats := ""
	for _, s := range l.streams {
		if err := s.fault(); err != nil {
			fmt.Fprintf(&b, "\n  %v", err)
			if s.failed == nil {
				formats = "\n" + expected()
			}
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return errors.New("not all of the log could be read, and the report is of the rest:" + b.String() + formats)
}

// finish returns what Next does at the end of the log.
func (l *Log) finish() error {
	if l.any {
		return io.EOF
	}
	var errs []error
	for _, s := range l.streams {
		errs = append(errs, s.failed)
	}
	if st := l.Stats(); st.Broken > 0 {
		x := st.Samples[0]
		errs = append(errs, unreadable("", fmt.Sprintf("line %d of %s", x.Line, x.File), []byte(x.Text), x.Error))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return l.empty()
}
