package limiter

import (
	"testing"
	"time"
)

func TestSlidingLog(t *testing.T) {
	for _, test := range []struct {
		name  string
		limit Limit
		steps []step
	}{
		{"B02: a wait is never rounded down", Limit{Requests: 1, Window: 2 * time.Second}, []step{
			{0, 1, true, 0, 0},
			{0.001, 1, false, 0, 1.999},
			{1.4, 1, false, 0, 0.6},
			{1.999, 1, false, 0, 0.001},
			{2, 1, true, 0, 0},
			{2, 1, false, 0, 2},
		}},
		{"B04: a request has left at exactly the end of its window", Limit{Requests: 1, Window: 10 * time.Second}, []step{
			{0, 1, true, 0, 0},
			{9.999999, 1, false, 0, 0.000001},
			{10, 1, true, 0, 0},
		}},
		{"inclusive: it has left a microsecond later", Limit{Requests: 1, Window: 10 * time.Second, Inclusive: true}, []step{
			{0, 1, true, 0, 0},
			{10, 1, false, 0, 0.000001},
			{10.000001, 1, true, 0, 0},
		}},
		{"B67: remaining counts down to 0 and stays", Limit{Requests: 3, Window: time.Minute}, []step{
			{0, 1, true, 2, 0},
			{0, 1, true, 1, 0},
			{0, 1, true, 0, 0},
			{0, 1, false, 0, 60},
			{1, 1, false, 0, 59},
		}},
		{"B39: a cost above the limit is never admitted, one that fills it is", Limit{Requests: 10, Window: time.Minute}, []step{
			{0, 11, false, 10, -1},
			{0, 10, true, 0, 0},
			{1, 10, false, 0, 59},
			{1, 11, false, 0, -1},
			{60, 10, true, 0, 0},
		}},
		{"a wait is as long as the cost needs", Limit{Requests: 5, Window: 10 * time.Second}, []step{
			{0, 2, true, 3, 0},
			{1, 1, true, 2, 0},
			{2, 2, true, 0, 0},
			{3, 1, false, 0, 7},
			{3, 2, false, 0, 7},
			{3, 3, false, 0, 8},
			{3, 4, false, 0, 9},
			{3, 5, false, 0, 9},
			{11, 3, true, 0, 0},
		}},
		{"B30: a clock that steps back far neither mints nor locks out", Limit{Requests: 2, Window: 10 * time.Second}, []step{
			{1000, 1, true, 1, 0},
			{1000, 1, true, 0, 0},
			{900, 1, false, 0, 10},
			{905, 1, false, 0, 5},
			{911, 1, true, 1, 0},
		}},
		{"B30: a clock that steps back by less is taken as the latest time", Limit{Requests: 2, Window: 10 * time.Second}, []step{
			{100, 1, true, 1, 0},
			{95, 1, true, 0, 0},
			{95, 1, false, 0, 15},
			{109.999999, 1, false, 0, 0.000001},
			{110, 2, true, 0, 0},
		}},
		{"B30: a day ahead and back", Limit{Requests: 2, Window: 10 * time.Second}, []step{
			{0, 1, true, 1, 0},
			{86400, 2, true, 0, 0},
			{1, 1, false, 0, 10},
			{11, 1, true, 1, 0},
		}},
		{"before the origin", Limit{Requests: 1, Window: 10 * time.Second}, []step{
			{-15, 1, true, 0, 0},
			{-6, 1, false, 0, 1},
			{-5, 1, true, 0, 0},
		}},
	} {
		t.Run(test.name, func(t *testing.T) { newClient(t, test.limit).run(test.steps) })
	}
}

func TestTheLargestLog(t *testing.T) { // B36
	c := newClient(t, Limit{Requests: MaxRequests, Window: MaxWindow})
	c.run([]step{
		{0, MaxRequests - 1, true, 1, 0},
		{1, 2, false, 1, MaxWindow.Seconds() - 1},
		{1, 1, true, 0, 0},
		{2, MaxRequests, false, 0, MaxWindow.Seconds() - 1},
		{MaxWindow.Seconds(), 1, true, MaxRequests - 2, 0},
	})
}

func TestAt(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		want Instant
	}{{0, 0}, {999, 0}, {1000, 1}, {1999, 1}, {-1, -1}, {-1000, -1}, {-1001, -2}} {
		if got := At(test.d); got != test.want {
			t.Errorf("At(%d) = %d, want %d", int64(test.d), got, test.want)
		}
	}
}

// TestALateTimeLeavesNothingThatHasLeft: under a limit that was inclusive a unit
// outlived its window by an instant. A late worker that is told otherwise finds
// it gone, as one that is not late does.
func TestALateTimeLeavesNothingThatHasLeft(t *testing.T) { // B30
	limit := Limit{Requests: 2, Window: 10 * time.Second, Inclusive: true}
	c := newClient(t, limit)
	c.take("key", 0, 1)
	c.take("key", 10*second, 1)
	limit.Inclusive = false
	c.limits = mustLimits(t, limit)
	for _, at := range []Instant{10 * second, 10*second - 1, 5 * second} {
		if d := c.peek("key", at, 1); !d.Allowed {
			t.Errorf("peek(%d) = %+v", at, d)
		}
	}
}
