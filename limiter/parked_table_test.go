package limiter

import (
	"fmt"
	"testing"
	"time"
)

// TestAParkedLimitProtectsItsEntry: neither time nor other keys may make a table
// forget a key that is at a limit of another configuration.
func TestAParkedLimitProtectsItsEntry(t *testing.T) {
	old := client{t, oneShard(t, 3), mustLimits(t, hour)}
	next := old.beside(Limit{Requests: 100, Window: time.Second})
	old.use(0)
	next.take("key", second, 1)
	for i := range 20 {
		next.take(fmt.Sprint(i), second, 50)
	}
	if _, err := old.table.Sweep(100*second, 1); err != nil {
		t.Fatal(err)
	}
	if d := old.take("key", 100*second, 1); d.Allowed || d.RetryAfter != 3500*time.Second {
		t.Errorf("a key at its limit: %+v", d)
	}
	next.take("key", 3601*second, 1) // the hour is over
	if load := next.entry(3601 * second).load; load > 10 {
		t.Errorf("a load of %d when nothing is used up", load)
	}
}

// TestAParkedLoadDoesNotProtectTheOther: a limit that is used up gives its load to
// its own state alone, which ends with that.
func TestAParkedLoadDoesNotProtectTheOther(t *testing.T) {
	short := newClient(t, Limit{Requests: 3, Window: time.Second})
	long := short.beside(Limit{Requests: 100, Window: time.Hour})
	long.take("key", 0, 10)
	short.use(0)
	for at := Instant(0); at < 10*second; at += second {
		long.take("key", at, 1)
		short.take("key", at, 1)
	}
	long.take("key", 12*second, 1)
	if load := long.entry(12 * second).load; load > fullLoad/2 { // of the short one's one unit, until it is over
		t.Errorf("a load of %d", load)
	}
}

// TestRefusalsInTurnOnlyLoad: a refusal writes nothing, whose states ever are
// parked.
func TestRefusalsInTurnOnlyLoad(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		m := &meddler{Store: NewMemory(1)}
		table, err := NewTable(m, TableOptions{MaxKeys: 10})
		if err != nil {
			t.Fatal(err)
		}
		old := client{t, table, mustLimits(t, Limit{Algorithm: a, Requests: 3, Window: time.Minute})}
		next := old.beside(hour)
		old.use(0)
		next.take("key", 0, 1)
		m.swaps = 0
		for range 10 {
			if old.take("key", 0, 1).Allowed || next.take("key", 0, 5).Allowed {
				t.Fatal("admitted")
			}
		}
		if m.swaps != 0 {
			t.Errorf("%d swaps", m.swaps)
		}
	})
}

// TestALoweredLimitIsKeptWhileParked is TestALoweredRateOutlivesTheOldExpiry
// and TestALoweredLimitProtectsAgainstAFlood for a state that another
// configuration has parked with an earlier end, or a smaller load.
func TestALoweredLimitIsKeptWhileParked(t *testing.T) {
	for _, a := range []Algorithm{TokenBucket, LeakyBucket} {
		old := newClient(t, Limit{Algorithm: a, Requests: 60, Window: time.Minute, Burst: 10})
		next := old.beside(hour)
		old.take("key", 0, 10) // whole after 10 s
		next.take("key", 0, 1)
		lowered := old.beside(Limit{Algorithm: a, Requests: 1, Window: time.Minute, Burst: 10})
		lowered.run([]step{{1, 1, false, 0, 59}})
		next.take("key", 30*second, 1) // parks it anew
		lowered.run([]step{{31, 1, false, 0, 29}, {60, 1, true, 0, 0}})
	}
	old := client{t, oneShard(t, 2), mustLimits(t, Limit{Requests: 100, Window: time.Hour})}
	next := old.beside(minute)
	old.take("key", 0, 10)
	next.use(0) // the entry is at a limit, for a minute
	lowered := old.beside(Limit{Requests: 5, Window: time.Hour})
	lowered.take("key", 0, 1)
	next.take("key", 120*second, 1)
	for i := range 20 {
		next.take(fmt.Sprint(i), 120*second, 2)
	}
	if d := lowered.take("key", 120*second, 1); d.Allowed {
		t.Errorf("a flood made the table forget a lowered limit: %+v", d)
	}
}

// TestAParkedChargeIsGivenBack: another configuration writes between a charge and
// its refund. Each has its own then, and the other is as it was.
func TestAParkedChargeIsGivenBack(t *testing.T) {
	table, m, charges := twoRules(t)
	second := table.shardOf(charges[1].Key)
	other := []Charge{{Key: charges[0].Key, Limits: mustLimits(t, Limit{Requests: 9, Window: time.Hour}), Cost: 2}}
	m.beforeSwap = func(shard uint32) error {
		if shard != second {
			return nil
		}
		m.beforeSwap = nil
		if _, err := table.Take(0, other); err != nil {
			return err
		}
		_, err := table.Take(0, []Charge{{Key: charges[1].Key, Limits: charges[1].Limits, Cost: 1}})
		return err
	}
	if result, err := table.Take(0, charges); err != nil || result.Admitted || result.Lost != 0 {
		t.Fatalf("%+v, %v, want a refusal with nothing lost", result, err)
	}
	if n := pendingOf(t, table, charges[0]); n != 0 {
		t.Errorf("%d units of the refused request are still charged", n)
	}
	if n := pendingOf(t, table, other[0]); n != 2 {
		t.Errorf("%d units of the other configuration, want 2", n)
	}
}

// TestMendingKeepsWhatIsParked mends an entry after a clock that was set back,
// records in it, and settles it under a lowered limit.
func TestMendingKeepsWhatIsParked(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		limit := Limit{Algorithm: a, Requests: 10, Window: 10 * time.Second}
		old, lowered := newClient(t, year), limit
		lowered.Requests = 2
		next, low := old.beside(limit), old.beside(lowered)
		old.use(3000 * second)
		next.take("key", 3000*second, 5)
		low.take("key", 3000*second, 1)
		next.take("key", 1000*second, 10) // refused and re-anchored
		record := next.charge("key", 1)
		record[0].Record = true
		if _, err := old.table.Take(1000*second, record); err != nil {
			t.Fatal(err)
		}
		if n := next.pending("key", 1000*second); n != 6 {
			t.Errorf("%d pending, want 6", n)
		}
		if n := old.pending("key", 1000*second); n != 3 {
			t.Errorf("%d pending under the old configuration, want 3", n)
		}
	})
}

// TestAParkedEndIsNoLaterThanTheEntrys: bytes that say otherwise do not make an
// expiry overflow, by which the entry would be forgotten at once.
func TestAParkedEndIsNoLaterThanTheEntrys(t *testing.T) {
	c := client{t, oneShard(t, 10), mustLimits(t, minute)}
	foreign := sealState(append(openState(nil, 7), 1), 0)
	states := append(openState(nil, parkingID), 0)
	states = sealState(parkedState{until: 2*maxInstant - 1, state: foreign}.append(states), 0)
	e := entry{key: c.table.Fingerprint([]byte("key")), expiry: second, states: states}
	if _, err := c.table.store.Swap(0, appendEntry([]byte{layout}, e), 0); err != nil {
		t.Fatal(err)
	}
	c.run([]step{{0, 1, true, 2, 0}, {0, 1, true, 1, 0}, {0, 1, true, 0, 0}, {0, 1, false, 0, 60}})
	if n := c.parked(0); n != 1 {
		t.Errorf("%d parked", n)
	}
	c.run([]step{{2, 1, false, 0, 58}, {60, 1, true, 2, 0}})
	if n := c.parked(60 * second); n != 0 {
		t.Errorf("%d parked after their end", n)
	}
}

// TestKnownStatesAreCountedAnew: what tells that an entry has other states is of
// the latest that was done with it, and finds none where there are none.
func TestKnownStatesAreCountedAnew(t *testing.T) {
	c := newClient(t, minute, hour)
	c.take("key", 0, 1)
	states := c.entry(0).states
	charge := &c.charge("key", 1)[0]
	for name, do := range map[string]func(){
		"answer": func() { charge.answer(nil, states, 0) },
		"settle": func() { charge.settle(nil, states, 0) },
		"refund": func() { charge.refund(nil, states) },
	} {
		charge.answer(nil, states, 0)
		if do(); charge.known != len(states) {
			t.Errorf("%s: %d bytes known of %d", name, charge.known, len(states))
		}
	}
}
