package report

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestWriteTextGolden(t *testing.T) {
	for name, r := range fixtures() {
		var b bytes.Buffer
		must(t, r.WriteText(&b))
		golden(t, name+".txt", b.Bytes())
	}
}

// golden compares with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; see with go test -update and git diff:\n%s", file, got)
	}
}

func TestWriteTextFitsTerminals(t *testing.T) {
	for name, r := range fixtures() {
		var b bytes.Buffer
		must(t, r.WriteText(&b))
		prints(t, b.String())
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > textWidth {
				t.Errorf("%s: a line of %d characters: %s", name, n, line)
			}
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%s: blanks at the end: %q", name, line)
			}
		}
	}
}

// prints fails if a text has anything that a terminal would obey.
func prints(t *testing.T, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && (!strconv.IsPrint(r) || r == utf8.RuneError) && !strings.HasPrefix(text[i:], "\ufffd") {
			t.Errorf("%q does not print", r)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "  \n"}, {"one two", "  one two\n"}, {"one two three", "  one two\n  three\n"}, {"one two abc", "  one two\n  abc\n"}, {"1\u00a0000 5 %", "  1 000 5 %\n"},
		{"aaaa 1\u00a0000\u00a0000", "  aaaa\n  1 000 000\n"}, {"abcdefghijklmn op", "  abcdefghij\n  klmn op\n"},
	} {
		if got := wrap(c.in, "  ", 12); got != c.want {
			t.Errorf("wrap(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestBars(t *testing.T) {
	if got := strings.Join(bars([]int64{0, 1, 500, 1000, 1 << 62}), "|"); got != " |▁|▁|▁|█" {
		t.Error(got)
	}
	if got := strings.Join(bars([]int64{0, 0}), "|"); got != " | " {
		t.Error(got)
	}
	if got := fold([]int64{1, 2, 3, 4, 5}, 2); len(got) != 2 || got[0] != 6 || got[1] != 9 {
		t.Error(got)
	}
}

// TestAnswerOfOneRule is the sentence that people quote.
func TestAnswerOfOneRule(t *testing.T) {
	rule := Rule{Name: "r", EnforcePercent: 100, Clients: 8021, RefusedClients: 17, Sampled: 1}
	r := Report{Runs: []Run{{Requests: 1_203_442, Refused: 2113, Rules: []Rule{rule}}}}
	got := strings.ReplaceAll(sentence(r.answer(0)), unbroken, " ")
	if want := "Of 1 203 442 requests 2 113 (0.18 %) would have been refused, of 17 of 8 021 clients."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	r.Runs[0].Rules[0].EnforcePercent = 50
	got = strings.ReplaceAll(sentence(r.answer(0)), unbroken, " ")
	if want := "Of 1 203 442 requests 2 113 (0.18 %) would have been refused. r would refuse 17 of 8 021 clients if it were enforced for all."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	r.Runs[0].Refused, r.Runs[0].Rules[0].RefusedClients = 0, 0
	if got, want := strings.ReplaceAll(sentence(r.answer(0)), unbroken, " "), "Of 1 203 442 requests none would have been refused."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestRankingOfEqualRuns keeps the columns that people look for.
func TestRankingOfEqualRuns(t *testing.T) {
	var b bytes.Buffer
	x := day1("limits.json", 1)
	must(t, (&Report{Runs: []Run{x, x, x}}).WriteText(&b))
	if !regexp.MustCompile(`(?m)^  rule per-user +refused  clients refused  refused most often$`).MatchString(b.String()) {
		t.Error(b.String())
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	r := one()
	for name, err := range map[string]error{"text": r.WriteText(full{}), "JSON": r.WriteJSON(full{}), "HTML": r.WriteHTML(full{})} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
