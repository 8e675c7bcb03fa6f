package report

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0s": 0, "500ms": 500 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "10s": 10 * time.Second,
		"1m": time.Minute, "1m30s": 90 * time.Second, "1h": time.Hour, "1h30m": 90 * time.Minute, "1h0m10s": time.Hour + 10*time.Second,
		"1d": day, "1d12h": 36 * time.Hour, "366d": 366 * day, "1d1ns": day + 1, "-1h": -time.Hour, "-48h": -2 * day,
	} {
		if got := Duration(want).String(); got != text {
			t.Errorf("%d is written %q, want %q", want, got, text)
		}
		var got Duration
		if err := got.UnmarshalText([]byte(text)); err != nil || got != Duration(want) {
			t.Errorf("%q is read as %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestDurationReadsBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 10_000 {
		want := Duration(random.Uint64() >> (i % 64))
		switch i {
		case 0:
			want = math.MaxInt64
		case 1:
			want = math.MinInt64
		}
		var got Duration
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Fatalf("%d is written %q and read as %d, %v", want, want, got, err)
		}
	}
}

func TestDurationErrors(t *testing.T) {
	for _, text := range []string{"", "0", "5", "5x", "d", "1d5", "-1d", "1d-1h", "+1h", "1d0", "1h1d", "106752d", "106751d24h", "99999999999999999999d"} {
		d := Duration(7)
		err := d.UnmarshalText([]byte(text))
		if err == nil || d != 7 {
			t.Errorf("%q is read as %v", text, d)
			continue
		}
		want := `"` + text + `": not a duration: want numbers with units, such as "500ms", "1m", "1h30m" or "1d"`
		if err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
