package limiter

import (
	"testing"
	"time"
)

func TestSlidingBuckets(t *testing.T) {
	for _, test := range []struct {
		name  string
		limit Limit
		steps []step
	}{
		{"a slot counts until all of it has left", Limit{Requests: 3, Window: 10 * time.Second, Buckets: 10}, []step{
			{0, 1, true, 2, 0},
			{0.999999, 1, true, 1, 0},
			{1, 1, true, 0, 0},
			{10.999998, 1, false, 0, 0.000001},
			{10.999999, 3, false, 2, 1},
			{11.999999, 3, true, 0, 0},
		}},
		{"slots are a share rounded up", Limit{Requests: 1, Window: 10 * time.Second, Buckets: 3}, []step{
			{3.333333, 1, true, 0, 0}, // the last microsecond of a slot of 3.333334
			{13.333332, 1, false, 0, 0.000001},
			{13.333333, 1, true, 0, 0},
		}},
		{"one slot", Limit{Requests: 1, Window: 10 * time.Second, Buckets: 1}, []step{
			{0, 1, true, 0, 0},
			{10, 1, false, 0, 9.999999},
			{19.999999, 1, true, 0, 0},
		}},
		{"slots of a microsecond are the sliding log", Limit{Requests: 1, Window: 50 * time.Microsecond, Buckets: 60}, []step{
			{0, 1, true, 0, 0},
			{0.000049, 1, false, 0, 0.000001},
			{0.00005, 1, true, 0, 0},
		}},
		{"B30: a clock that steps back far neither mints nor locks out", Limit{Requests: 2, Window: 10 * time.Second, Buckets: 10}, []step{
			{1000, 1, true, 1, 0},
			{1000, 1, true, 0, 0},
			{900, 1, false, 0, 10.999999},
			{905, 1, false, 0, 5.999999},
			{911, 1, true, 1, 0},
		}},
		{"B30: a clock that steps back by less is taken as the latest slot", Limit{Requests: 2, Window: 10 * time.Second, Buckets: 10}, []step{
			{100.5, 1, true, 1, 0},
			{95, 1, true, 0, 0},
			{95, 1, false, 0, 15.999999},
			{110.999999, 2, true, 0, 0},
		}},
	} {
		test.limit.Algorithm = SlidingBuckets
		t.Run(test.name, func(t *testing.T) { newClient(t, test.limit).run(test.steps) })
	}
}

// TestSlotsBoundTheSpace fills every slot that a window can touch.
func TestSlotsBoundTheSpace(t *testing.T) {
	const buckets = 10
	c := newCell(t, Limit{Algorithm: SlidingBuckets, Requests: MaxRequests, Window: time.Second, Buckets: buckets})
	for at := Instant(0); at < 3*second; at += 500 {
		if !c.charge(at, 1000).Allowed {
			t.Fatal("refused at", at)
		}
		slots := 0
		for l, _ := decodeEvents(c.state); l.used > 0; l.drop() {
			slots++
		}
		if slots > buckets+1 {
			t.Fatalf("%d slots at %d", slots, at)
		}
	}
}
