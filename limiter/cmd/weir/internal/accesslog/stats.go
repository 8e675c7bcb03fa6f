package accesslog

import "github.com/weirproxy/weir/limiter/cmd/weir/internal/report"

// Stats are what became of the lines so far.
type Stats struct {
	Lines  int64 // that are not empty
	Broken int64 // of them: did not parse, and were left out
	Late   int64 // of them: returned with a later time than they say

	Full  bool   // the disorder was more than there is room for
	Stray *Stray // why lines are late, if a few stray ones are; nil if not

	Faults []report.Fault // of files, some of which were read all the same

	Samples []report.BrokenLine // the first broken lines, at most five

	Read, Size int64 // bytes of the files as they are stored; Size is 0 if it is not known

	NotLogged []report.NotLogged // parts of requests that were asked for and no line has, the most asked first
}

// Stats returns what became of the lines so far.
func (l *Log) Stats() Stats {
	st := Stats{Late: l.late, Full: l.full, Stray: l.stray(), Faults: l.faults(), NotLogged: l.current.notLogged.report(l.parser.format.words)}
	known := true
	for _, s := range l.streams {
		st.Lines += s.lines
		st.Broken += s.broken
		st.Samples = append(st.Samples, s.samples[:min(len(s.samples), maxSamples-len(st.Samples))]...)
		st.Read += s.read
		st.Size += s.size
		known = known && s.again()
	}
	if !known {
		st.Size = 0
	}
	return st
}
