package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Duration is written as configurations write it: "500ms", "1m", "1h30m",
// "1d12h". A day is 24 hours.
type Duration time.Duration

const day = 24 * time.Hour

// String returns the shortest spelling; no duration is "0s".
func (d Duration) String() string {
	days, rest := time.Duration(d)/day, time.Duration(d)%day
	if days <= 0 { // of a negative one hours are the largest unit
		return short(time.Duration(d))
	}
	text := strconv.FormatInt(int64(days), 10) + "d"
	if rest > 0 {
		text += short(rest)
	}
	return text
}

// short drops the units that are 0 from the end.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// MarshalText returns what String does. The error is nil.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes, and all that configurations may
// say for a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	rest, sum := string(text), time.Duration(0)
	notOne := fmt.Errorf("%q: not a duration: want numbers with units, such as \"500ms\", \"1m\", \"1h30m\" or \"1d\"", rest)
	if days, after, ok := strings.Cut(rest, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 64)
		if err != nil || n > uint64(math.MaxInt64/day) {
			return notOne
		}
		sum, rest = time.Duration(n)*day, after
	}
	if rest != "" || sum == 0 && !strings.HasSuffix(string(text), "d") {
		part, err := time.ParseDuration(rest)
		signed := strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, "-") && sum > 0
		if err != nil || rest == "0" || signed || part > math.MaxInt64-sum {
			return notOne
		}
		sum += part
	}
	*d = Duration(sum)
	return nil
}
