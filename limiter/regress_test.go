package limiter

import (
	"errors"
	"math"
	"testing"
	"time"
)

// Faults that a review of the first version proved. Each test is named for
// what must hold.

// oneShard returns a table of one shard that tracks so many keys.
func oneShard(t *testing.T, maxKeys int) *Table {
	t.Helper()
	table, err := NewTable(NewMemory(1), TableOptions{MaxKeys: maxKeys})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func mustTake(t *testing.T, table *Table, at Instant, charges ...Charge) (Result, []Charge) {
	t.Helper()
	result, err := table.Take(at, charges)
	if err != nil {
		t.Fatal(err)
	}
	return result, charges
}

func TestKeysOfOneRequestDoNotEvictEachOther(t *testing.T) {
	for _, maxKeys := range []int{1, 2, 3} {
		table := oneShard(t, maxKeys)
		ten := mustLimits(t, Limit{Requests: 10, Window: time.Hour})
		mustTake(t, table, 0, Charge{Key: 99, Limits: ten, Cost: 1})
		admitted := 0
		for i := range Instant(100) {
			result, charges := mustTake(t, table, i, Charge{Key: 11, Limits: ten, Cost: 1}, Charge{Key: 22, Limits: ten, Cost: 1})
			if result.Admitted {
				admitted++
			}
			if room := maxKeys > 1; charges[1].Full == room {
				t.Fatalf("max keys %d: full %v", maxKeys, charges[1].Full)
			}
		}
		if admitted != 10 {
			t.Errorf("max keys %d: %d admitted, limit 10", maxKeys, admitted)
		}
	}
}

func TestALoweredLimitProtectsAgainstAFlood(t *testing.T) {
	table := oneShard(t, 4)
	hundred := mustLimits(t, Limit{Requests: 100, Window: time.Hour})
	ten := mustLimits(t, Limit{Requests: 10, Window: time.Hour})
	mustTake(t, table, 0, Charge{Key: 1, Limits: hundred, Cost: 50})
	for i := range 20 {
		if result, _ := mustTake(t, table, 0, Charge{Key: 1, Limits: ten, Cost: 1}); result.Admitted {
			t.Fatalf("admitted beyond the lowered limit after %d other keys", i)
		}
		mustTake(t, table, 0, Charge{Key: Fingerprint(1000 + i), Limits: ten, Cost: 6})
	}
}

func TestCostsOutOfRangeAreRefused(t *testing.T) {
	c := newClient(t, Limit{Requests: 10, Window: time.Second})
	c.take("k", 0, 10)
	for _, cost := range []int64{-5, 0, MaxRequests + 1, math.MaxInt64} {
		if result, err := c.table.Take(0, c.charge("k", cost)); err == nil || result.Admitted {
			t.Errorf("cost %d: %+v, %v", cost, result, err)
		}
		if d := c.take("k", 0, 1); d.Allowed {
			t.Errorf("after a cost of %d: %+v", cost, d)
		}
	}
}

func TestAnotherKeysLaterTimeForgetsNothingYet(t *testing.T) {
	const window, late = 1 << 20, 65_000
	one := mustLimits(t, Limit{Requests: 1, Window: window * time.Microsecond})
	for name, pass := range map[string]func(*Table) error{
		"a new key": func(table *Table) error {
			mustTake(t, table, window-1+late, Charge{Key: 2, Limits: one, Cost: 1})
			return nil
		},
		"a sweep": func(table *Table) error { _, err := table.Sweep(window-1+late, 1); return err },
	} {
		table := oneShard(t, 10)
		mustTake(t, table, 0, Charge{Key: 1, Limits: one, Cost: 1})
		if err := pass(table); err != nil {
			t.Fatal(err)
		}
		if result, _ := mustTake(t, table, window-1, Charge{Key: 1, Limits: one, Cost: 1}); result.Admitted {
			t.Errorf("%s %d µs ahead made the table forget a unit that still counts", name, late)
		}
	}
}

func TestEvictedIsNotSaidOfARefusedRequest(t *testing.T) {
	table := oneShard(t, 2)
	one := mustLimits(t, Limit{Requests: 1, Window: time.Hour})
	ten := mustLimits(t, Limit{Requests: 10, Window: time.Hour})
	mustTake(t, table, 0, Charge{Key: 1, Limits: one, Cost: 1})
	mustTake(t, table, 0, Charge{Key: 2, Limits: ten, Cost: 1})
	result, charges := mustTake(t, table, 0, Charge{Key: 3, Limits: ten, Cost: 1}, Charge{Key: 1, Limits: one, Cost: 1})
	if result.Admitted || charges[0].Evicted {
		t.Errorf("admitted %v, evicted %v", result.Admitted, charges[0].Evicted)
	}
}

func TestARefusalIsNotInAnyDecision(t *testing.T) {
	table := oneShard(t, 10)
	one := mustLimits(t, Limit{Requests: 1, Window: time.Hour})
	ten := mustLimits(t, Limit{Requests: 10, Window: time.Hour})
	mustTake(t, table, 0, Charge{Key: 1, Limits: one, Cost: 1})
	_, charges := mustTake(t, table, 0, Charge{Key: 3, Limits: ten, Cost: 1}, Charge{Key: 1, Limits: one, Cost: 1})
	if d := charges[0].Decision; d.ResetAfter != 0 || d.Remaining != 10 {
		t.Errorf("an unused key beside a refusal: %+v", d)
	}
	both := mustLimits(t, Limit{Requests: 1, Window: 10 * time.Second}, Limit{Requests: 10, Window: time.Hour})
	mustTake(t, table, 0, Charge{Key: 5, Limits: both, Cost: 1})
	_, charges = mustTake(t, table, second, Charge{Key: 5, Limits: both, Cost: 1})
	if d := charges[0].Each[1]; d.ResetAfter != time.Hour-time.Second || d.Remaining != 9 {
		t.Errorf("an unused limit beside a refusal: %+v", d)
	}
}

func TestMendingWritesWhatItLoaded(t *testing.T) {
	table := oneShard(t, 10)
	one := mustLimits(t, Limit{Requests: 1, Window: time.Second})
	two := mustLimits(t, Limit{Requests: 2, Window: time.Second})
	mustTake(t, table, 1000*second, Charge{Key: 1, Limits: two, Cost: 1})
	mustTake(t, table, 0, Charge{Key: 2, Limits: one, Cost: 1})
	mustTake(t, table, 0, Charge{Key: 1, Limits: two, Cost: 1}, Charge{Key: 2, Limits: one, Cost: 1})
	value, _, err := table.store.Load(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := find(value, 1, 0); e.load == fullLoad || e.expiry < second || e.expiry > 2*second {
		t.Errorf("a re-anchored key with 1 of 2 used has load %d and expiry %d", e.load, e.expiry)
	}
}

func TestAKeyTwiceInAForeignShardIsStillLimited(t *testing.T) {
	table := oneShard(t, 10)
	two := mustLimits(t, Limit{Requests: 2, Window: time.Hour})
	mustTake(t, table, 0, Charge{Key: 7, Limits: two, Cost: 1})
	value, version, _ := table.store.Load(0, nil)
	if _, err := table.store.Swap(0, append(value, value[1:]...), version); err != nil {
		t.Fatal(err)
	}
	admitted := 0
	for range 50 {
		if result, _ := mustTake(t, table, 0, Charge{Key: 7, Limits: two, Cost: 1}); result.Admitted {
			admitted++
		}
	}
	if admitted != 1 {
		t.Errorf("%d admitted beside a duplicate, want 1", admitted)
	}
}

func TestLostCountsCharges(t *testing.T) {
	table, m, charges := twoRules(t)
	near := charges[0]
	near.Key++ // in the same shard
	charges = []Charge{charges[0], near, charges[1]}
	swaps := 0
	m.beforeSwap = func(uint32) error {
		if swaps++; swaps > 1 {
			return errors.New("broken")
		}
		return nil
	}
	if result, err := table.Take(0, charges); err == nil || result.Lost != 2 {
		t.Errorf("%+v, %v, want 2 charges lost", result, err)
	}
}

func TestOrdinaryWindowsHaveTheirOwnStates(t *testing.T) {
	type key struct {
		algorithm Algorithm
		id        stateID
	}
	seen := map[key]time.Duration{}
	for unit, n := range map[time.Duration]int{time.Millisecond: 999, time.Second: 120, time.Minute: 120, time.Hour: 48, 24 * time.Hour: 366} {
		for i := range n {
			window := time.Duration(i+1) * unit
			for _, l := range []Limit{
				{Algorithm: SlidingLog, Window: window}, {Algorithm: SlidingBuckets, Window: window}, {Algorithm: SlidingCounter, Window: window},
				{Algorithm: TokenBucket, Window: window}, {Algorithm: LeakyBucket, Window: window}, {Algorithm: FixedWindow, Window: window},
			} {
				l.Requests = 1
				a, err := l.algorithm()
				if err != nil {
					t.Fatal(err)
				}
				k := key{l.Algorithm, newStateID(l.Algorithm, a.shape())}
				if other, ok := seen[k]; ok && other != window {
					t.Errorf("%s: %v and %v share their states", l.Algorithm, other, window)
				}
				seen[k] = window
			}
		}
	}
}

func TestAPeekOfANewKeyKnowsThatThereIsNoRoom(t *testing.T) {
	table, err := NewTable(NewMemory(1), TableOptions{MaxKeys: 1, DenyWhenFull: true})
	if err != nil {
		t.Fatal(err)
	}
	one := mustLimits(t, Limit{Requests: 1, Window: time.Minute})
	mustTake(t, table, 0, Charge{Key: 1, Limits: one, Cost: 1})
	charges := []Charge{{Key: 2, Limits: one, Cost: 1, PeekOnly: true}}
	if result, err := table.Take(0, charges); !errors.Is(err, ErrFull) || result.Admitted || !charges[0].Full {
		t.Errorf("%+v, %v, full %v", result, err, charges[0].Full)
	}
}

func TestAPeekKeepsTheReanchoring(t *testing.T) {
	table := oneShard(t, 10)
	ten := mustLimits(t, Limit{Requests: 10, Window: time.Minute})
	mustTake(t, table, 1000*second, Charge{Key: 1, Limits: ten, Cost: 9})
	for _, at := range []Instant{0, 30 * second} {
		_, charges := mustTake(t, table, at, Charge{Key: 1, Limits: ten, Cost: 1, PeekOnly: true})
		if d := charges[0].Decision; d.Remaining != 1 {
			t.Errorf("at %d: %d left, want 1", at, d.Remaining)
		}
	}
	_, charges := mustTake(t, table, 91*second, Charge{Key: 1, Limits: ten, Cost: 1, PeekOnly: true})
	if d := charges[0].Decision; d.Remaining != 10 {
		t.Errorf("a window after the clock was set back %d are left, want 10", d.Remaining)
	}
}
