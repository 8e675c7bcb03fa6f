package accesslog

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	w := must[*zstd.Encoder](t)(zstd.NewWriter(nil))
	return string(w.EncodeAll([]byte(text), nil))
}

// someLines returns lines of so many different seconds.
func someLines(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		b.WriteString(line(i*1000, fmt.Sprintf("/%d", i)))
	}
	return b.String()
}

func numbered(first, n int) (want []string) {
	for i := first; i < first+n; i++ {
		want = append(want, fmt.Sprintf("/%d", i))
	}
	return want
}

// TestCompressed: what is compressed is told by what is in it, not by its name.
func TestCompressed(t *testing.T) {
	files := []string{
		write(t, "access.log", someLines(3000, 1000)), // in the wrong order
		write(t, "access.log.1", zipped(t, someLines(1000, 500))+zipped(t, someLines(1500, 500))),
		write(t, "access.log.2.gz", zstandard(t, someLines(0, 1000))),
		"-",
	}
	l := must[*Log](t)(Open(files, strings.NewReader(zstandard(t, someLines(2000, 1000))), Options{}))
	defer l.Close()
	got, err := paths(t, l)
	if err != nil || !slices.Equal(got, numbered(0, 4000)) {
		t.Errorf("got %d paths, %v; want 4000 in order", len(got), err)
	}
	st := l.Stats()
	if st.Lines != 4000 || st.Late != 0 || st.Size != 0 {
		t.Errorf("stats %+v, want 4000 lines, none late, and no size for standard input", st)
	}
}

func TestSize(t *testing.T) {
	a, b := write(t, "a", someLines(0, 5000)), write(t, "b", zipped(t, someLines(5000, 5000)))
	l := must[*Log](t)(Open([]string{a, b}, nil, Options{}))
	defer l.Close()
	var size int64
	for _, name := range []string{a, b} {
		size += must[os.FileInfo](t)(os.Stat(name)).Size()
	}
	if st := l.Stats(); st.Size != size || st.Read >= size/2 {
		t.Errorf("at first %d of %d bytes are read, want few of %d", st.Read, st.Size, size)
	}
	if _, err := paths(t, l); err != nil {
		t.Fatal(err)
	}
	if st := l.Stats(); st.Read != size {
		t.Errorf("at the end %d bytes are read, want %d", st.Read, size)
	}
}

// TestTruncated: what comes before the cut is read, a line that it cuts is not,
// and the other files are read too.
func TestTruncated(t *testing.T) {
	whole := zipped(t, someLines(0, 3000))
	cut := write(t, "cut.gz", whole[:len(whole)*2/3])
	l := must[*Log](t)(Open([]string{cut, write(t, "after", someLines(3000, 10))}, nil, Options{}))
	defer l.Close()
	got := must[[]string](t)(paths(t, l))
	if want := []report.Fault{{File: cut, Error: "cut off: its compressed data ends too soon: unexpected EOF"}}; !slices.Equal(l.Stats().Faults, want) {
		t.Errorf("faults %v, want %v", l.Stats().Faults, want)
	}
	n := len(got) - 10
	if n < 1000 || n > 2500 || !slices.Equal(got, append(numbered(0, n), numbered(3000, 10)...)) {
		t.Errorf("%d paths before the cut, want about 2000 and then those of the other file", n)
	}
	if broken := l.Stats().Broken; broken != 0 {
		t.Errorf("%d lines are broken, want none", broken)
	}
}

// TestNamedPipe: a file that can be read once only is read once.
func TestNamedPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(name, []byte(someLines(1000, 2000)), 0) }()
	l := must[*Log](t)(Open([]string{name, write(t, "a", someLines(0, 1000))}, nil, Options{}))
	defer l.Close()
	if got, err := paths(t, l); err != nil || !slices.Equal(got, numbered(0, 3000)) {
		t.Errorf("got %d paths, %v; want 3000 in order", len(got), err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

// TestOpenWhenItsTurnComes: of many rotated files few are open.
func TestOpenWhenItsTurnComes(t *testing.T) {
	var files []string
	for i := range 50 {
		files = append(files, write(t, fmt.Sprint(i), someLines((49-i)*100, 100)))
	}
	l := must[*Log](t)(Open(files, nil, Options{Disorder: 5 * time.Second}))
	defer l.Close()
	for n := 0; ; n++ {
		if _, err := l.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		open := 0
		for _, s := range l.streams {
			if s.file != nil {
				open++
			}
		}
		if open > 2 {
			t.Fatalf("%d files are open at record %d, want at most 2", open, n)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	short := write(t, "short.gz", "\x1f\x8b")
	for _, test := range []struct {
		files  []string
		o      Options
		errors string
	}{
		{[]string{missing}, Options{}, "stat " + missing + ": no such file or directory"},
		{[]string{dir}, Options{}, dir + ": is a directory, not a log"},
		{[]string{"-", "-"}, Options{}, "standard input can be read once only"},
		{[]string{short}, Options{}, short + ": cut off: its compressed data ends too soon: unexpected EOF"},
		{[]string{"-"}, Options{}, "the log is empty: no line in -"},
		{[]string{"-"}, Options{Disorder: -1}, `disorder "-1ns": want 0s or more`},
		{[]string{"-"}, Options{Format: format(t, "json"), Fields: map[string]string{"u": "headr:x"}}, `field "u": "headr:x" is none of header:NAME, response:NAME, property:NAME, time, end_time, duration (in ms), seconds, method, path, host, client, status and ignore`},
		{[]string{"-"}, Options{Format: format(t, "envoy"), Fields: map[string]string{"u": "host"}}, "only the fields of JSON logs have names: a text format says by itself what its fields are"},
	} {
		if _, err := Open(test.files, strings.NewReader("\n\r\n"), test.o); err == nil || err.Error() != test.errors {
			t.Errorf("%v: error %v, want %s", test.files, err, test.errors)
		}
	}
}

// TestLinesAcrossBlocks: lines of all lengths are read, wherever they lie.
func TestLinesAcrossBlocks(t *testing.T) {
	var b strings.Builder
	var want []string
	for i, size := range []int{1, blockSize / 2, blockSize, blockSize - 200, 3 * blockSize, maxLine - 1000, 1, 2 * maxLine, 5, 4 * blockSize, 3 * maxLine} {
		p := "/" + strings.Repeat("x", size)
		b.WriteString(line(i*1000, p))
		if size < maxLine {
			want = append(want, p)
		}
	}
	for _, text := range []string{b.String(), strings.TrimSuffix(b.String(), "\n")} {
		l := openText(t, text, Options{Disorder: time.Minute})
		got, err := paths(t, l)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d paths, %v; want %d", len(got), err, len(want))
		}
		if st := l.Stats(); st.Broken != 2 || st.Lines != 11 {
			t.Errorf("%d of %d lines are broken, want 2 of 11", st.Broken, st.Lines)
		}
	}
}
