package traffic

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/weirproxy/weir/limiter"
)

// LogOptions are those of WriteLog.
type LogOptions struct {
	// Format is one of Formats.
	Format string

	// Lines is how many to write; 0: as many as the generator has requests.
	Lines int64

	// Seed decides what else is random in a line.
	Seed uint64
}

// WriteLog writes the requests of a generator, all of them admitted, as the
// access log of a proxy, and returns the number of lines. A proxy writes a line
// when the request ends, and so the lines are in this order. Envoy says in it
// when the request began: these times are out of order by as much as the
// durations. NGINX says when it ended.
func WriteLog(w io.Writer, g *Generator, o LogOptions) (lines int64, err error) {
	form, ok := forms[o.Format]
	if !ok {
		return 0, fmt.Errorf("format %q%s", o.Format, suggestion(o.Format, Formats))
	}
	out := bufio.NewWriterSize(w, 1<<16)
	l := logger{out: out, append: form, line: line{random: rand.New(rand.NewPCG(o.Seed, 1<<63))}}
	for n := int64(0); o.Lines == 0 || n < o.Lines; n++ {
		at, r := g.Next()
		if r == nil {
			break
		}
		l.until(int64(at) - 1) // of the same moment, what ends is written after what begins
		l.open.add(int64(at)+r.duration.Microseconds(), begun{at, *r})
	}
	l.until(1<<63 - 1)
	if l.err == nil {
		l.err = out.Flush()
	}
	return l.lines, l.err
}

// begun is a request under way.
type begun struct {
	at      limiter.Instant
	request Request
}

// A logger writes the lines of requests when they end.
type logger struct {
	out    *bufio.Writer
	append func(b []byte, l *line) []byte
	line   line
	open   queue[begun] // by when they end
	lines  int64
	err    error // of the first write that failed
}

// until writes the requests that end by a time.
func (l *logger) until(end int64) {
	for len(l.open.items) > 0 && l.open.items[0].at <= end && l.err == nil {
		first := l.open.take()
		l.line.begin(first.value)
		b := append(l.append(l.out.AvailableBuffer(), &l.line), '\n')
		_, l.err = l.out.Write(b)
		l.lines++
	}
}

// A line is what a log says of a request.
type line struct {
	Request
	random   *rand.Rand
	start    int64 // microseconds since the Unix epoch
	ms       int64 // the duration
	upstream int64 // how much of it the upstream took
	received int   // bytes of the request's body
	sent     int   // bytes of the response's body
	server   int64 // number of the upstream's host
	clock    clock
}

// begin takes a request, and makes up the rest.
func (l *line) begin(r begun) {
	l.Request = r.request
	l.start = int64(r.at)
	l.ms = r.request.duration.Milliseconds()
	draw := l.random.Uint64()
	l.upstream = max(0, l.ms-int64(draw&1))
	l.server = 1 + int64(draw>>1&3)
	l.received = 0
	if l.method == "POST" || l.method == "PUT" || l.method == "PATCH" {
		l.received = 40 + int(draw>>8&1023)
	}
	switch l.status {
	case "204", "304":
		l.sent = 0
	case "500", "503":
		l.sent = 95
	case "404":
		l.sent = 153
	default:
		l.sent = l.bytes + l.bytes*int(draw>>32&1023)/4096
	}
}
