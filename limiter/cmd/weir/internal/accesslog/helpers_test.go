package accesslog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// must returns a value that comes without an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// format parses a format.
func format(t testing.TB, text string) *Format {
	t.Helper()
	return must[*Format](t)(ParseFormat(text))
}

// openText opens a log that comes from standard input.
func openText(t testing.TB, log string, o Options) *Log {
	t.Helper()
	l := must[*Log](t)(Open([]string{"-"}, strings.NewReader(log), o))
	t.Cleanup(func() { l.Close() })
	return l
}

// say shows a record: when, what and from where.
func say(r *Record) string {
	m, _ := r.Method()
	p, _ := r.Path()
	h, _ := r.Host()
	c, _ := r.ClientAddress()
	return fmt.Sprintf("%s +%s %s %s host=%s client=%s status=%s", time.UnixMicro(r.Time).UTC().Format("15:04:05.999999"),
		time.Duration(r.End-r.Time)*time.Microsecond, m, p, h, c, r.Status)
}

// paths reads all of a log, and returns the paths in the order in which they
// came.
func paths(t testing.TB, l *Log) (all []string, err error) {
	t.Helper()
	for {
		r, err := l.Next()
		if errors.Is(err, io.EOF) && err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		p, _ := r.Path()
		all = append(all, strings.Clone(p))
	}
}

// line is a line in Envoy's default format, at some milliseconds of a day.
func line(at int, path string) string {
	return fmt.Sprintf("[%s] \"GET %s HTTP/1.1\" 200 - 0 5 3 2 \"203.0.113.7\" \"curl/8\" \"id\" \"a.example\" \"10.0.0.5:80\"\n",
		time.UnixMilli(int64(at)).UTC().Format("2006-01-02T15:04:05.000Z"), path)
}

// write writes a file into a directory of the test, and returns its name.
func write(t testing.TB, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
