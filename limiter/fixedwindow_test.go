package limiter

import (
	"testing"
	"time"
)

func TestFixedWindow(t *testing.T) {
	for _, test := range []struct {
		name  string
		limit Limit
		steps []step
	}{
		{"B04: a window ends at exactly its end", Limit{Requests: 1, Window: 10 * time.Second}, []step{
			{0, 1, true, 0, 0},
			{9.999999, 1, false, 0, 0.000001},
			{10, 1, true, 0, 0},
		}},
		{"B47: windows are aligned to the origin, not to the first request", Limit{Requests: 3, Window: time.Minute}, []step{
			{642, 1, true, 2, 0},
			{642, 1, true, 1, 0},
			{642, 1, true, 0, 0},
			{642, 1, false, 0, 18},
			{659.5, 1, false, 0, 0.5},
			{660, 1, true, 2, 0},
		}},
		{"B47: the burst at the boundary", Limit{Requests: 5, Window: time.Minute}, []step{
			{59, 5, true, 0, 0},
			{60, 5, true, 0, 0},
			{60, 1, false, 0, 60},
		}},
		{"B30: a clock that steps back far neither mints nor locks out", Limit{Requests: 2, Window: 10 * time.Second}, []step{
			{1000, 1, true, 1, 0},
			{1000, 1, true, 0, 0},
			{900, 1, false, 0, 10},
			{905, 1, false, 0, 5},
			{911, 1, true, 1, 0},
		}},
		{"B30: a clock that steps back by less stays in the window", Limit{Requests: 2, Window: 10 * time.Second}, []step{
			{1005, 1, true, 1, 0},
			{990, 1, true, 0, 0},
			{990, 1, false, 0, 20},
			{1009.999999, 1, false, 0, 0.000001},
			{1010, 2, true, 0, 0},
		}},
		{"B30: a day ahead and back", Limit{Requests: 2, Window: 10 * time.Second}, []step{
			{0, 2, true, 0, 0},
			{86400, 2, true, 0, 0},
			{1, 1, false, 0, 9},
			{10, 1, true, 1, 0},
		}},
		{"before the origin", Limit{Requests: 1, Window: 10 * time.Second}, []step{
			{-15, 1, true, 0, 0},
			{-10.000001, 1, false, 0, 0.000001},
			{-10, 1, true, 0, 0},
		}},
	} {
		test.limit.Algorithm = FixedWindow
		t.Run(test.name, func(t *testing.T) { newClient(t, test.limit).run(test.steps) })
	}
}

func TestResetOfAFixedWindow(t *testing.T) { // B47
	c := newClient(t, Limit{Algorithm: FixedWindow, Requests: 3, Window: time.Minute})
	for i, at := range []Instant{642, 650, 655, 656, 659} {
		d := c.take("key", at*second, 1)
		if want := time.Duration(660-at) * time.Second; d.Allowed != (i < 3) || d.ResetAfter != want || !d.Allowed && d.RetryAfter != want {
			t.Errorf("at %d: %+v, want a reset in %v", at, d, want)
		}
	}
}
