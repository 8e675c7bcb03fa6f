package limiter

import (
	"testing"
	"time"
)

func TestTokenBucket(t *testing.T) {
	perTen := Limit{Requests: 1, Window: 10 * time.Second}
	threeSeconds := Limit{Requests: 1, Window: time.Second, Burst: 3}
	tests := []struct {
		name  string
		limit Limit
		steps []step
	}{
		{"B04: a token is there at exactly the instant of its refill", perTen, []step{
			{0, 1, true, 0, 0},
			{9.999999, 1, false, 0, 0.000001},
			{10, 1, true, 0, 0},
		}},
		{"B34: the fraction of a token is kept, and a wait is rounded up", Limit{Requests: 3, Window: 7 * time.Second}, []step{
			{0, 3, true, 0, 0},
			{1, 1, false, 0, 1.333334},
			{2.333333, 1, false, 0, 0.000001},
			{2.333334, 1, true, 0, 0},
			{4.666666, 1, false, 0, 0.000001}, // not another third of a microsecond later
			{4.666667, 1, true, 0, 0},
			{7, 1, true, 0, 0},
		}},
		{"B30: a clock that steps back far neither mints nor locks out", threeSeconds, []step{
			{1000, 1, true, 2, 0},
			{900, 1, true, 1, 0},
			{900, 1, true, 0, 0},
			{900, 1, false, 0, 1},
			{901, 1, true, 0, 0},
		}},
		{"B30: a refusal after the step back is enough to mend it", threeSeconds, []step{
			{1000, 3, true, 0, 0},
			{900, 1, false, 0, 1},
			{900.5, 1, false, 0, 0.5},
			{901, 1, true, 0, 0},
		}},
		{"B30: a clock that steps back by less than the refill waits for the old time", threeSeconds, []step{
			{1000, 3, true, 0, 0},
			{997, 1, false, 0, 4},
			{1000, 1, false, 0, 1},
			{1001, 1, true, 0, 0},
		}},
		{"B30: a day ahead and back", threeSeconds, []step{
			{0, 3, true, 0, 0},
			{86400, 3, true, 0, 0},
			{0, 1, false, 0, 1},
			{1, 1, true, 0, 0},
		}},
		{"B49: a burst below the rate", Limit{Requests: 10, Window: 10 * time.Second, Burst: 2}, []step{
			{0, 3, false, 2, -1},
			{0, 2, true, 0, 0},
			{0, 1, false, 0, 1},
			{1, 1, true, 0, 0},
			{100, 1, true, 1, 0}, // idle time saves up no more than the burst
		}},
		{"B49: a burst above the rate", Limit{Requests: 1, Window: 10 * time.Second, Burst: 5}, []step{
			{0, 5, true, 0, 0},
			{0, 5, false, 0, 50},
			{9.999999, 1, false, 0, 0.000001},
			{10, 1, true, 0, 0},
			{30, 3, false, 2, 10},
			{40, 3, true, 0, 0},
			{1000, 5, true, 0, 0},
		}},
	}
	for _, a := range []Algorithm{TokenBucket, LeakyBucket} {
		for _, test := range tests {
			test.limit.Algorithm = a
			t.Run(string(a)+"/"+test.name, func(t *testing.T) { newClient(t, test.limit).run(test.steps) })
		}
	}
}

// poll makes a request every so often, the first at once, and counts what is
// admitted.
func (c *cell) poll(every Instant, times int) (admitted int) {
	for i := range Instant(times) {
		if c.charge(i*every, 1).Allowed {
			admitted++
		}
	}
	return admitted
}

func TestPollingLosesNoFraction(t *testing.T) { // B34
	for _, a := range []Algorithm{TokenBucket, LeakyBucket} {
		c := newCell(t, Limit{Algorithm: a, Requests: 10, Window: time.Second})
		if n := c.poll(1000, 10_001); n != 110 {
			t.Errorf("%s: admitted %d in 10 s of 10 per second, want 110", a, n)
		}
		polls := rounds(1_000_000)
		c = newCell(t, Limit{Algorithm: a, Requests: 3, Window: 7 * time.Second})
		if n, want := c.poll(1000, polls), 3+3*(polls-1)/7000; n != want {
			t.Errorf("%s: admitted %d in %d polls, want %d", a, n, polls, want)
		}
	}
}

func TestBurstIsNotOneMore(t *testing.T) { // B50
	c := newCell(t, Limit{Algorithm: LeakyBucket, Requests: 10, Window: time.Minute, Burst: 10})
	first := 0
	for range 15 {
		d := c.charge(0, 1)
		if d.Allowed {
			first++
		}
		if d.Limit != 10 {
			t.Fatalf("limit %d, want the burst", d.Limit)
		}
	}
	// The poll begins at 0 again, where all is used up.
	if then := c.poll(second, 61); first != 10 || then != 10 {
		t.Errorf("admitted %d at once and %d more in a minute, want 10 and 10", first, then)
	}
}
