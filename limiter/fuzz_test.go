package limiter

import (
	"testing"
	"time"
)

// FuzzForeignShard puts arbitrary bytes under a shard: whatever they are, the
// table answers, what it answers is in range, and it then works as on a fresh
// shard.
func FuzzForeignShard(f *testing.F) {
	f.Add([]byte{}, int64(0), int64(1))
	f.Add([]byte{0}, int64(1), int64(1))
	f.Add([]byte{1}, int64(1), int64(1))
	f.Add(sampleShard(f), int64(2_000_000), int64(2))
	f.Fuzz(func(t *testing.T, value []byte, at, cost int64) {
		memory := NewMemory(1)
		if _, err := memory.Swap(0, value, 0); err != nil {
			t.Fatal(err)
		}
		table, err := NewTable(memory, TableOptions{MaxKeys: 10})
		if err != nil {
			t.Fatal(err)
		}
		now := Instant(at).clamp()
		limits := mustLimits(t, Limit{Requests: 3, Window: time.Second}, Limit{Requests: 5, Window: time.Hour, Inclusive: true})
		charges := []Charge{{Key: 1, Limits: limits, Cost: 1 + (cost&MaxRequests)%6}}
		result, err := table.Take(now, charges)
		if err != nil {
			t.Fatal(err)
		}
		d := charges[0].Decision
		if d.Remaining < 0 || d.Remaining > d.Limit || d.RetryAfter < 0 || d.ResetAfter < 0 {
			t.Errorf("out of range: %+v", d)
		}
		if result.Admitted == (d.RetryAfter != 0) {
			t.Errorf("admitted %v with a wait of %v", result.Admitted, d.RetryAfter)
		}
		if _, err := table.Sweep(now, 1); err != nil {
			t.Fatal(err)
		}
		if n, err := table.Tracked(now); err != nil || n > len(value)/entryFixed+1 {
			t.Errorf("%d tracked in %d bytes, %v", n, len(value), err)
		}
	})
}

// sampleShard is a shard with entries for the key of FuzzForeignShard and
// another.
func sampleShard(t testing.TB) []byte {
	t.Helper()
	table := newTable(t, 10)
	charges := []Charge{
		{Key: 1, Limits: mustLimits(t, Limit{Requests: 3, Window: time.Second}, Limit{Requests: 5, Window: time.Hour}), Cost: 1},
		{Key: 2, Limits: mustLimits(t, Limit{Requests: 3, Window: time.Minute}), Cost: 2},
	}
	for at := range Instant(3) {
		if _, err := table.Take(at*second, charges); err != nil {
			t.Fatal(err)
		}
	}
	value, _, err := table.store.Load(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// FuzzOperations runs an arbitrary sequence of operations on one key against
// the oracle: two bytes each, a step in time and a cost.
func FuzzOperations(f *testing.F) {
	f.Add([]byte{0, 1, 10, 1, 200, 3, 255, 1}, uint8(3), uint16(100), false)
	f.Add([]byte{0, 1, 0, 1, 100, 1, 0, 1}, uint8(1), uint16(100), true)
	f.Fuzz(func(t *testing.T, ops []byte, requests uint8, window uint16, inclusive bool) {
		limit := Limit{Requests: int64(requests%8) + 1, Window: time.Duration(window+1) * time.Microsecond, Inclusive: inclusive}
		c := newClient(t, limit)
		oracle := &logOracle{limit: limit.Requests, window: limit.Window, incl: inclusive}
		now := time.Duration(0)
		for ; len(ops) >= 2; ops = ops[2:] {
			now += time.Duration(int8(ops[0])) * limit.Window / 64
			now = now.Truncate(time.Microsecond)
			cost := int64(ops[1]%4) + 1
			if got, want := c.take("key", At(now), cost), oracle.take(now, cost); got != want {
				t.Fatalf("take(%v, %d) of %+v = %+v, want %+v", now, cost, limit, got, want)
			}
		}
	})
}
