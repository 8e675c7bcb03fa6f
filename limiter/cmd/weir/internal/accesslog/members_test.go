package accesslog

import (
	"slices"
	"strings"
	"testing"
)

// TestGzipMembers: members follow each other, and zeros after them are no error,
// wherever they fill a block; what else follows is one, after all that was read.
func TestGzipMembers(t *testing.T) {
	a, b, none := zipped(t, someLines(0, 1000)), zipped(t, someLines(1000, 1000)), zipped(t, "")
	zeros := strings.Repeat("\x00", 512)
	for _, test := range []struct {
		name, data string
		lines      int
		fault      string
	}{
		{"one", a, 1000, ""},
		{"two", a + b, 2000, ""},
		{"an empty one", none + a + none + b + none, 2000, ""},
		{"zeros", a + zeros, 1000, ""},
		{"one zero", a + zeros[:1], 1000, ""},
		{"more zeros than are read at once", a + strings.Repeat(zeros, 1000), 1000, ""},
		{"zeros between", a + zeros + b + zeros, 2000, ""},
		{"garbage", a + "\x00garbage!!!", 1000, "gzip: invalid header"},
		{"cut off in a header", a + b[:5], 1000, "cut off: its compressed data ends too soon: unexpected EOF"},
		{"cut off in a checksum", a + b[:len(b)-2], 2000, "cut off: its compressed data ends too soon: unexpected EOF"},
	} {
		l := openText(t, test.data, Options{})
		got, err := paths(t, l)
		if err != nil || !slices.Equal(got, numbered(0, test.lines)) {
			t.Errorf("%s: got %d paths, %v; want %d in order", test.name, len(got), err, test.lines)
		}
		fault := ""
		for _, f := range l.Stats().Faults {
			fault += f.Error
		}
		if fault != test.fault {
			t.Errorf("%s: fault %q, want %q", test.name, fault, test.fault)
		}
	}
}
