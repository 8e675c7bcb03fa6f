package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

// startup returns so many bytes of what a proxy logs of its start.
func startup(format string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

const (
	istioStart = "2026-01-01T00:00:00.123456Z\tinfo\txdsproxy\tconnected to delta upstream XDS server\tid=%d"
	jsonStart  = `{"level":"info","time":"2026-01-01T00:00:00.123456Z","scope":"xdsproxy","msg":"x %d"}`
	hostStart  = `{"level":"info","time":"2026-01-01T00:00:00.123456Z","host":"node-1","msg":"x %d"}`
)

// TestDetectAfterStart: what a proxy logs of its start is looked over, be it
// longer than a block, and be it JSON with a time.
func TestDetectAfterStart(t *testing.T) {
	for _, test := range []struct{ name, log, want string }{
		{"a hundred lines of text", startup(istioStart, 20<<10) + someLines(0, 10), "envoy"},
		{"a block of text", startup(istioStart, blockSize) + someLines(0, 10), "envoy"},
		{"900 KiB of text", startup(istioStart, 900<<10) + someLines(0, 10), "envoy"},
		{"JSON", startup(jsonStart, 20<<10) + someLines(0, 10), "envoy"},
		{"blocks of JSON", startup(jsonStart, 3*blockSize) + someLines(0, 10), "envoy"},
		{"JSON with a host", startup(hostStart, 20<<10) + someLines(0, 10), "envoy"},
		{"text before JSON", startup(istioStart, 100<<10) + knownFormats[4].example + "\n", "json"},
		{"JSON before JSON", startup(jsonStart, 100<<10) + knownFormats[4].example + "\n", "json"},
		{"a line longer than a block", strings.Repeat("x", 3*blockSize) + "\n" + someLines(0, 10), "envoy"},
		{"a byte order mark", "\xef\xbb\xbf" + startup(istioStart, 100<<10) + someLines(0, 10), "envoy"},
	} {
		requests := 10
		if test.want == "json" {
			requests = 1
		}
		for _, files := range [][]string{{"-"}, {write(t, "access.log", test.log)}, {write(t, "access.log.gz", zipped(t, test.log))}} {
			l := must[*Log](t)(Open(files, strings.NewReader(test.log), Options{}))
			got := must[[]string](t)(paths(t, l))
			if l.Format().String() != test.want || len(got) != requests {
				t.Errorf("%s: %d requests as %v, want %d as %s", test.name, len(got), l.Format(), requests, test.want)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestDetectGivesUp: no more is looked at than a MiB, and the error says so, and
// what to do.
func TestDetectGivesUp(t *testing.T) {
	log := startup(istioStart, furthest+blockSize)
	name := write(t, "access.log", log+someLines(0, 10))
	_, err := Open([]string{name}, nil, Options{})
	lines := strings.Count(log[:furthest], "\n")
	want := fmt.Sprintf("no line of the log could be read, of %d in the first MiB of %s; "+
		"expected one of these formats (--format names one, or takes a format string of Envoy or NGINX):\n  envoy ", lines, name)
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v\nwant one that begins with %s", err, want)
	}
	l := must[*Log](t)(Open([]string{name}, nil, Options{Format: format(t, "envoy")}))
	defer l.Close()
	if got, err := paths(t, l); err != nil || len(got) != 10 {
		t.Errorf("with the format named: %d requests, %v; want 10", len(got), err)
	}
}

// TestDetectHoldsLittle: what was looked at is in a block of a MiB at most, and
// that of standard input is read from there.
func TestDetectHoldsLittle(t *testing.T) {
	in := strings.NewReader(startup(istioStart, 900<<10) + someLines(0, 5000))
	l := must[*Log](t)(Open([]string{"-"}, iotest.HalfReader(in), Options{}))
	defer l.Close()
	if n := cap(l.streams[0].block.text); n > furthest {
		t.Errorf("%d bytes are held, want at most %d", n, furthest)
	}
	if got, err := paths(t, l); err != nil || len(got) != 5000 {
		t.Errorf("%d requests, %v; want 5000", len(got), err)
	}
}

// TestDetectOneEndlessLine is told from an empty log.
func TestDetectOneEndlessLine(t *testing.T) {
	_, err := Open([]string{"-"}, strings.NewReader(strings.Repeat("x", 3*furthest)), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "no line of the log could be read, of 1 in the first MiB of -; expected") {
		t.Errorf("error %v", err)
	}
}

// TestDetectWrapped: the error of a log that docker has wrapped says what to do.
func TestDetectWrapped(t *testing.T) {
	_, err := Detect([]string{`{"log":"[2026-03-01T12:00:00.123Z] \"GET / HTTP/1.1\"","stream":"stdout","time":"2026-03-01T12:00:00.012345678Z"}`})
	if err == nil || !strings.HasSuffix(err.Error(), ": no request in it: docker has wrapped the lines; undo that with jq -j .log") {
		t.Errorf("Detect = %v", err)
	}
}
