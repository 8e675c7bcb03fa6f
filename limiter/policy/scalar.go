package policy

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/weirproxy/weir/limiter/internal/brief"
	"github.com/weirproxy/weir/limiter/internal/spelling"
)

// maxWhole is 2^53: up to there a number that has been through a double, as
// every number of a protobuf Struct has, is still itself.
const maxWhole = 1 << 53

// whole returns the value of a JSON number that is written 1000, 1e3 or
// 1000.0; not ok for fractions and for anything above 2^53.
func whole(text string) (value int64, ok bool) {
	digits, exponent := strings.TrimPrefix(text, "-"), 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		n, err := strconv.Atoi(digits[i+1:])
		if err != nil || n > 400 || n < -400 {
			return 0, false
		}
		digits, exponent = digits[:i], n
	}
	if i := strings.IndexByte(digits, '.'); i >= 0 {
		exponent -= len(digits) - i - 1
		digits = digits[:i] + digits[i+1:]
	}
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	trimmed = strings.TrimLeft(trimmed, "0")
	if trimmed == "" {
		return 0, true
	}
	if exponent < 0 || len(trimmed)+exponent > 16 {
		return 0, false
	}
	value, err := strconv.ParseInt(trimmed+strings.Repeat("0", exponent), 10, 64)
	if text[0] == '-' {
		value = -value
	}
	return value, err == nil && -maxWhole <= value && value <= maxWhole
}

// durations says what duration reads.
const durations = `numbers with units, such as "500ms", "1m", "1h30m" or "1d"`

// duration reads numbers with units, largest first: "500ms", "1h30m", "1d".
// A day is 24 hours.
func duration(text string) (time.Duration, error) {
	notOne := errors.New("not a duration: want " + durations)
	rest, sum := text, time.Duration(0)
	if days, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, notOne
		}
		rest, sum = after, time.Duration(n)*24*time.Hour
		if rest == "" {
			return sum, nil
		}
	}
	if rest == "" || rest[0] == '+' || rest[0] == '-' && sum != 0 {
		return 0, notOne
	}
	d, err := time.ParseDuration(rest)
	if err != nil || rest == "0" {
		return 0, notOne
	}
	return sum + d, nil
}

// suggestion names the known field that a misspelt one is closest to.
func suggestion(name string, known fields) string {
	best := spelling.Closest(name, maps.Keys(known))
	if best == "" {
		return ", want " + list(known)
	}
	return brief.Sprintf(", did you mean %q?", best)
}
