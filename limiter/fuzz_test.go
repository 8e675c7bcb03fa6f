package limiter

import (
	"testing"
	"time"
)

// fuzzLimits have one limit of every kind, so that one entry holds all states.
var fuzzLimits = []Limit{
	{Requests: 3, Window: time.Second},
	{Requests: 5, Window: time.Hour, Inclusive: true},
	{Algorithm: SlidingBuckets, Requests: 4, Window: time.Second, Buckets: 7},
	{Algorithm: SlidingCounter, Requests: 4, Window: time.Second},
	{Algorithm: TokenBucket, Requests: 3, Window: 7 * time.Second, Burst: 5},
	{Algorithm: LeakyBucket, Requests: 6, Window: time.Second, Burst: 4},
	{Algorithm: FixedWindow, Requests: 5, Window: time.Second},
}

// checkRange checks what holds of any answer, whatever the state was.
func checkRange(t *testing.T, d Decision) {
	t.Helper()
	if d.Remaining < 0 || d.Remaining > d.Limit || d.RetryAfter < 0 || d.ResetAfter < 0 {
		t.Errorf("out of range: %+v", d)
	}
	if d.Allowed == (d.RetryAfter != 0) {
		t.Errorf("allowed %v with a wait of %v", d.Allowed, d.RetryAfter)
	}
}

// FuzzForeignShard puts arbitrary bytes under a shard: whatever they are, the
// table answers, what it answers is in range, and it then works as on a fresh
// shard.
func FuzzForeignShard(f *testing.F) {
	f.Add([]byte{}, int64(0), int64(1))
	f.Add([]byte{0}, int64(1), int64(1))
	f.Add([]byte{1}, int64(1), int64(1))
	f.Add(sampleShard(f), int64(2_000_000), int64(2))
	f.Add(sampleShard(f), int64(2_000_000), int64(5))
	f.Add(sampleShard(f), int64(-1<<62), int64(1))
	f.Add(sampleParked(f), int64(2_000_000), int64(2))
	f.Fuzz(checkForeignShard)
}

func checkForeignShard(t *testing.T, value []byte, at, cost int64) {
	memory := NewMemory(1)
	if _, err := memory.Swap(0, value, 0); err != nil {
		t.Fatal(err)
	}
	table, err := NewTable(memory, TableOptions{MaxKeys: 10})
	if err != nil {
		t.Fatal(err)
	}
	now := Instant(at).clamp()
	charges := []Charge{{Key: 1, Limits: mustLimits(t, fuzzLimits...), Cost: 1 + (cost&MaxRequests)%6}}
	result, err := table.Take(now, charges)
	if err != nil {
		t.Fatal(err)
	}
	checkRange(t, charges[0].Decision)
	for i, d := range charges[0].Each {
		if checkRange(t, d); d.Limit != capacityOf(fuzzLimits[i]) {
			t.Errorf("%+v: %+v", fuzzLimits[i], d)
		}
	}
	if result.Admitted != charges[0].Decision.Allowed {
		t.Errorf("admitted %v: %+v", result.Admitted, charges[0].Decision)
	}
	if _, err := table.Pending(now, 1, charges[0].Limits, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Sweep(now, 1); err != nil {
		t.Fatal(err)
	}
	if n, err := table.Tracked(now); err != nil || n > len(value)/entryFixed+1 {
		t.Errorf("%d tracked in %d bytes, %v", n, len(value), err)
	}
}

// sampleShard is a shard with entries for the key of FuzzForeignShard and
// another.
func sampleShard(t testing.TB) []byte {
	t.Helper()
	table := newTable(t, 10)
	charges := []Charge{
		{Key: 1, Limits: mustLimits(t, fuzzLimits...), Cost: 1},
		{Key: 2, Limits: mustLimits(t, Limit{Requests: 9, Window: time.Minute}), Cost: 2},
	}
	for at := range Instant(3) {
		if _, err := table.Take(at*second, charges); err != nil {
			t.Fatal(err)
		}
	}
	return shardZero(t, table)
}

// sampleParked is sampleShard with the states of other configurations in it.
func sampleParked(t testing.TB) []byte {
	t.Helper()
	table := newTable(t, 10)
	for i, l := range [][]Limit{{{Requests: 9, Window: time.Minute}}, fuzzLimits[:4], {{Requests: 9, Window: 2 * time.Minute}}, fuzzLimits[1:2]} {
		if _, err := table.Take(Instant(i), []Charge{{Key: 1, Limits: mustLimits(t, l...), Cost: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	return shardZero(t, table)
}

func shardZero(t testing.TB, table *Table) []byte {
	t.Helper()
	value, _, err := table.store.Load(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// FuzzForeignState gives arbitrary bytes to one algorithm as a state: what is
// corrupt is as good as empty, and every promise is kept.
func FuzzForeignState(f *testing.F) {
	for i, l := range fuzzLimits {
		a, _ := l.algorithm()
		state, _ := a.take(nil, nil, 300_000, 1)
		f.Add(uint8(i), state, int64(300_000), int64(5))
		state, _ = a.take(nil, state, 900_000, 2)
		f.Add(uint8(i), state, int64(900_001), int64(3))
		f.Add(uint8(i), state, int64(-1<<54), int64(3))
		f.Add(uint8(i), state[:len(state)-1], int64(900_001), int64(3))
	}
	f.Add(uint8(4), []byte("0000000\xa0\x88\xa0\x9e\x0f0"), int64(300_000), int64(73)) // a level that takes 908 years to drain
	const slot = 142_858                                                               // of the buckets in fuzzLimits
	unaligned := events{}
	unaligned.add(2-second, 2)
	unaligned.add(slot, 2)
	f.Add(uint8(2), unaligned.encode(nil), int64(slot-1), int64(0)) // found a wait below 0
	f.Fuzz(func(t *testing.T, which uint8, state []byte, at, cost int64) {
		c := newCell(t, fuzzLimits[int(which)%len(fuzzLimits)])
		fresh := *c
		now := Instant(at).clamp()
		cost = 1 + (cost&MaxRequests)%6
		c.state = state
		o := c.charge(now, cost)
		checkRange(t, o.Decision)
		if o.corrupt && o.Decision != fresh.peek(now, cost) {
			t.Errorf("corrupt, and not as good as empty: %+v", o)
		}
		if n := c.pending(c.state, now); n < 0 {
			t.Errorf("%d pending", n)
		}
		if o.Allowed {
			c.state = c.refund(nil, c.state, o.receipt, cost)
			return
		}
		if o.back > 0 { // which the table keeps
			c.state, _ = c.take(nil, c.state, now, 0)
		}
		if wait := Instant(o.RetryAfter.Microseconds()); wait < maxDraining && !c.peek(now+wait, cost).Allowed {
			t.Errorf("%+v, and then %+v", o, c.peek(now+wait, cost))
		}
	})
}

// FuzzOperations runs an arbitrary sequence of operations on one key against
// the oracle: two bytes each, a step in time and a cost.
func FuzzOperations(f *testing.F) {
	for i := range everyAlgorithm {
		f.Add([]byte{0, 1, 10, 1, 200, 3, 255, 1}, uint8(i), uint8(3), uint16(100), uint8(0))
		f.Add([]byte{0, 1, 0, 1, 100, 1, 0, 1}, uint8(i), uint8(1), uint16(100), uint8(1))
		f.Add([]byte{64, 3, 63, 1, 1, 2, 127, 3, 128, 1, 128, 1, 64, 3}, uint8(i), uint8(6), uint16(60_000), uint8(7))
	}
	f.Fuzz(func(t *testing.T, ops []byte, algorithm, requests uint8, window uint16, option uint8) {
		limit := Limit{
			Algorithm: everyAlgorithm[int(algorithm)%len(everyAlgorithm)],
			Requests:  int64(requests%8) + 1,
			Window:    (time.Duration(window) + 1) * time.Microsecond,
		}
		switch limit.Algorithm {
		case SlidingLog:
			limit.Inclusive = option%2 == 1
		case SlidingBuckets:
			limit.Buckets = int(option)
		case TokenBucket, LeakyBucket:
			limit.Burst = int64(option % 16)
		}
		j := newJudge(t, limit)
		now := Instant(0)
		for ops = ops[:min(len(ops), 200)]; len(ops) >= 2; ops = ops[2:] {
			now += Instant(int8(ops[0])) * (Instant(window) + 1) / 64
			j.request(now, int64(ops[1]%16)+1)
		}
	})
}
