package accesslog

import (
	"math"
	"slices"
	"time"
)

// A Stray is lines that are far ahead of those that follow, which therefore
// come too late to be put in order.
type Stray struct {
	File  string
	Line  int64 // the first
	Lines int64 // how many
	Ahead time.Duration
}

// Of how many lines at most a stray is, and how many behind it make it one: a
// request that has taken long, in a log of few, is behind the others by itself.
const (
	fewAhead   = 10
	manyBehind = 10
)

// A leap is where the times of a file went on by more than the disorder.
type leap struct {
	line     int64
	from, to int64

	ahead  int64 // lines from the leap to the first that is behind it
	behind int64 // lines that are
	by     int64 // how far the first of them is
	late   bool  // some of them is decided late
}

// spans says whether a time is one that the leap has left out, so that a line of
// it comes too late.
func (l *leap) spans(time, disorder int64) bool {
	return time < l.to-disorder && (l.from == math.MinInt64 || time >= l.from-disorder)
}

// leap notes that the times go on at a line, and forgets what is long past.
func (s *stream) leap(line, to int64) {
	s.leaps = slices.DeleteFunc(s.leaps, func(l leap) bool { return line-l.line > fewAhead })
	s.leaps = append(s.leaps, leap{line: line, from: s.reached, to: to})
}

// beyond notes a record that came too late to be put in order. If none of those
// behind a leap is decided late, since nothing later was before, no harm is done:
// so are requests that have taken long, where a log goes on after a pause.
func (s *stream) beyond(time, line, disorder int64, late bool) {
	if s.stray != nil {
		return
	}
	l := &s.suspect
	if !l.spans(time, disorder) {
		i := slices.IndexFunc(s.leaps, func(l leap) bool { return l.spans(time, disorder) && line-l.line <= fewAhead })
		if i < 0 {
			return
		}
		*l = s.leaps[i]
		l.ahead, l.by = line-l.line, l.to-time
	}
	l.late = l.late || late
	if l.behind++; l.behind >= manyBehind && l.late {
		s.stray = &Stray{File: s.name, Line: l.line, Lines: l.ahead, Ahead: microseconds(l.by)}
	}
}

func microseconds(n int64) time.Duration {
	if n > math.MaxInt64/1000 {
		return math.MaxInt64
	}
	return time.Duration(n) * time.Microsecond
}

// stray returns the stray lines of the first file that has such.
func (l *Log) stray() *Stray {
	for _, s := range l.streams {
		if s.stray != nil {
			return s.stray
		}
	}
	return nil
}
