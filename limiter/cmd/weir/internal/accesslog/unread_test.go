package accesslog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestUnread: a file that is corrupt, or of which no line parses, does not keep
// the others from being read, wherever it stands among them, and is named.
func TestUnread(t *testing.T) {
	gz, zst := zipped(t, someLines(0, 3000)), zstandard(t, someLines(0, 3000))
	good := write(t, "good.log", someLines(5000, 10))
	for _, test := range []struct{ name, data, fault string }{
		{"header.gz", "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00", "gzip: invalid header"},
		{"short.gz", gz[:4], "cut off: its compressed data ends too soon: unexpected EOF"},
		{"corrupt.gz", gz[:40] + strings.Repeat("\xff", 100) + gz[140:], "flate: corrupt input before offset"},
		{"corrupt.zst", zst[:8] + strings.Repeat("\xff", 100) + zst[108:], ""},
		{"short.zst", zst[:len(zst)/2], "cut off: its compressed data ends too soon: unexpected EOF"},
		{"other.log", "\nGET /\nGET /\n", `no line of it could be read: line 2 is "GET /": does not begin with "["`},
		{"nginx.log", knownFormats[2].example + "\n", "no line of it could be read: line 1 is "},
	} {
		bad := write(t, test.name, test.data)
		for _, files := range [][]string{{good, bad}, {bad, good}} {
			if test.name == "nginx.log" && files[0] == bad {
				continue // it would be of its format that the other is not
			}
			l := must[*Log](t)(Open(files, nil, Options{}))
			got := must[[]string](t)(paths(t, l))
			if n := len(got) - 10; n < 0 || !slices.Equal(got[n:], numbered(5000, 10)) {
				t.Errorf("%s: %d paths, want those of the good file", test.name, len(got))
			}
			faults := l.Stats().Faults
			if len(faults) != 1 || faults[0].File != bad || !strings.HasPrefix(faults[0].Error, test.fault) {
				t.Fatalf("%s: faults %v, want one of the bad file that begins with %q", test.name, faults, test.fault)
			}
			want := fmt.Sprintf("not all of the log could be read, and the report is of the rest:\n  %s: %s", bad, faults[0].Error)
			if strings.HasPrefix(test.fault, "no line") {
				want += "\n" + expected()
			}
			if err := l.Unread(); err == nil || err.Error() != want {
				t.Errorf("%s: unread %v\nwant %s", test.name, err, want)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestAllRead: a file without lines is no fault, and broken lines among others
// are none.
func TestAllRead(t *testing.T) {
	l := must[*Log](t)(Open([]string{write(t, "a", "\n"), write(t, "b", "oops\n"+someLines(0, 1)), write(t, "c", "")}, nil, Options{}))
	defer l.Close()
	must[[]string](t)(paths(t, l))
	if err := l.Unread(); err != nil || l.Stats().Faults != nil {
		t.Errorf("unread %v, faults %v; want none", err, l.Stats().Faults)
	}
}

// TestNoRequestAtAll: what is wrong with each file is the error, and there is
// no record.
func TestNoRequestAtAll(t *testing.T) {
	cut, other := write(t, "cut.gz", zipped(t, someLines(0, 3000))[:4]), write(t, "other.log", "GET /\n")
	for _, test := range []struct{ files, want []string }{
		{[]string{cut}, []string{cut + ": cut off"}},
		{[]string{other}, []string{"no line of the log could be read", `line 1 of ` + other + ` is "GET /": does not begin`}},
		{[]string{cut, other}, []string{cut + ": cut off", "no line of the log could be read", `line 1 of ` + other}},
		{[]string{other, cut}, []string{cut + ": cut off", "no line of the log could be read", `line 1 of ` + other}},
	} {
		for _, named := range []bool{true, false} {
			o := Options{}
			if named {
				o.Format = format(t, "envoy")
			}
			l, err := Open(test.files, nil, o)
			if err == nil {
				_, err = l.Next()
				l.Close()
			}
			for _, want := range test.want {
				if !named {
					want = strings.Replace(want, "line 1 of "+other, "the first line", 1)
					want, _, _ = strings.Cut(want, ": does not begin")
				}
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, format named %v: error %v, want one with %q", test.files, named, err, want)
				}
			}
		}
	}
}
