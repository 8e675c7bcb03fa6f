package report

import (
	"math"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	for v, want := range map[int64][2]string{
		0: {"0", "0"}, 999: {"999", "999"}, 1000: {"1 000", "1000"}, 9999: {"9 999", "9999"}, 10_000: {"10 000", "10k"},
		10_049: {"10 049", "10k"}, 999_499: {"999 499", "999k"}, 999_500: {"999 500", "1M"}, 1_203_442: {"1 203 442", "1.2M"},
		9_960_000: {"9 960 000", "10M"}, math.MaxInt64: {"9 223 372 036 854 775 807", "9.2E"}, -1722: {"−1 722", "-1722"},
	} {
		if got := count(v); got != want[0] {
			t.Errorf("count(%d) = %q, want %q", v, got, want[0])
		}
		if got := compact(v); got != want[1] {
			t.Errorf("compact(%d) = %q, want %q", v, got, want[1])
		}
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        string
	}{
		{0, 0, "–"}, {0, 10, "0 %"}, {10, 10, "100 %"}, {1, 100_000, "<0.01 %"}, {1, 10_000, "0.01 %"}, {2113, 1_203_442, "0.18 %"},
		{1, 8, "12.5 %"}, {99_999, 100_000, ">99.9 %"}, {999, 1000, ">99.9 %"}, {998, 1000, "99.8 %"},
	} {
		if got := share(c.part, c.whole); got != c.want {
			t.Errorf("share(%d, %d) = %q, want %q", c.part, c.whole, got, c.want)
		}
	}
	for fraction, want := range map[float64]string{0.001: "0.1 %", 0.01: "1 %", 0.05: "5 %", 0.07: "7 %"} {
		if got := percent(fraction); got != want {
			t.Errorf("percent(%g) = %q, want %q", fraction, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain é水": "plain é水", "a\x00\n\t": `a\x00\n\t`, "\u202eevil\u2066": `\u202eevil\u2066`, "\x1b[2J\u009b": `\x1b[2J\u009b`,
		"\xff\xc3": `\xff\xc3`, "\ufffd": "\ufffd", `'"<`: `'"<`, "\u00ad": `\u00ad`, strings.Repeat("x", 30): strings.Repeat("x", 30),
		strings.Repeat("é", 31): strings.Repeat("é", 30) + "…", strings.Repeat("x", 28) + "\u202e": strings.Repeat("x", 28) + "…",
	} {
		if got := printable(in, 30); got != want {
			t.Errorf("printable(%q) = %s, want %s", in, got, want)
		}
	}
}
