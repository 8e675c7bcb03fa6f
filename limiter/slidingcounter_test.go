package limiter

import (
	"testing"
	"time"
)

func TestSlidingCounter(t *testing.T) {
	ten := Limit{Algorithm: SlidingCounter, Requests: 10, Window: 10 * time.Second}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"the window before counts by the share that is still covered", []step{
			{5, 10, true, 0, 0},
			{10, 1, false, 0, 1},
			{11, 1, true, 0, 0},
			{11.5, 1, false, 0, 0.5}, // 1 and 8.5 are used
			{13, 3, false, 2, 1},
			{15, 4, true, 0, 0},
			{20, 5, true, 0, 0},
			{40, 10, true, 0, 0},
		}},
		{"a wait that reaches into the next window", []step{
			{3, 8, true, 2, 0},
			{4, 5, false, 2, 9.75}, // from 13.75 on 8·6.25/10 = 5 are left
			{13.749999, 5, false, 4, 0.000001},
			{13.75, 5, true, 0, 0},
		}},
		{"B30: a clock that steps back far neither mints nor locks out", []step{
			{1000, 10, true, 0, 0},
			{905, 1, false, 0, 6},
			{911, 1, true, 0, 0},
		}},
		{"B30: a clock that steps back by less is taken as the start of the window", []step{
			{1005, 9, true, 1, 0},
			{990, 1, true, 0, 0},
			{990, 1, false, 0, 21},
		}},
		{"B30: a day ahead and back", []step{
			{0, 10, true, 0, 0},
			{86400, 10, true, 0, 0},
			{1, 1, false, 0, 10},
			{11, 1, true, 0, 0},
		}},
	} {
		t.Run(test.name, func(t *testing.T) { newClient(t, ten).run(test.steps) })
	}
}

// TestAStepBackCountsNoMoreThanTheLimit: what is known of a clock that was set
// back is that no estimate was above the limit. That holds for what is recorded
// whatever the limit is, too.
func TestAStepBackCountsNoMoreThanTheLimit(t *testing.T) { // B30
	c := newClient(t, Limit{Algorithm: SlidingCounter, Requests: 10, Window: 10 * time.Second})
	c.take("key", 100*second, 10)
	c.take("key", 115*second, 5)
	if n := c.pending("key", 15*second); n != 10 {
		t.Errorf("%d pending, want 10", n)
	}
	charges := c.charge("key", 1)
	charges[0].Record = true
	if _, err := c.table.Take(15*second, charges); err != nil {
		t.Fatal(err)
	}
	if n := c.pending("key", 15*second); n != 11 {
		t.Errorf("%d pending after one was recorded, want 11", n)
	}
}
