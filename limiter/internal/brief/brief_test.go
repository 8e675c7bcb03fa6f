package brief

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"
)

func TestErrorfWritesWhatFmtWrites(t *testing.T) {
	for _, test := range []struct {
		format string
		args   []any
	}{
		{"plain", nil},
		{"limit %d is above %d", []any{int64(5), 1<<31 - 1}},
		{"shard %d of %d", []any{uint32(7), 8}},
		{"window %v is above 366 days", []any{time.Hour}},
		{"unknown algorithm %q", []any{"a\n"}},
		{"want %s or %s", []any{"a", "b"}},
		{"limit %d: %v", []any{-1, errors.New("bad")}},
		{"rule %q: %w", []any{"a", io.EOF}},
		{"%d%d", []any{1, 2}},
		{"", nil},
	} {
		want := fmt.Errorf(test.format, test.args...)
		got := Errorf(test.format, test.args...)
		if got.Error() != want.Error() || errors.Is(got, io.EOF) != errors.Is(want, io.EOF) {
			t.Errorf("Errorf(%q, %v) = %q, want %q", test.format, test.args, got, want)
		}
	}
}

func TestWhatDoesNotFitStays(t *testing.T) {
	for format, want := range map[string]string{"%d": "%d", "a%": "a%", "%": "%", "x": "x"} {
		if got := Sprintf(format, struct{}{}); got != want {
			t.Errorf("Sprintf(%q) = %q, want %q", format, got, want)
		}
	}
	if got := Errorf("%w", "no error"); got.Error() != "no error" {
		t.Error(got)
	}
}
