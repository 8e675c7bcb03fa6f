package limiter

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A meddler is a Store that lets a test act between a load and a swap.
type meddler struct {
	Store
	beforeSwap func(shard uint32) error
	loads      int
	swaps      int
}

func (m *meddler) Load(shard uint32, buf []byte) ([]byte, uint64, error) {
	m.loads++
	return m.Store.Load(shard, buf)
}

func (m *meddler) Swap(shard uint32, value []byte, version uint64) (bool, error) {
	m.swaps++
	if m.beforeSwap != nil {
		if err := m.beforeSwap(shard); err != nil {
			return false, err
		}
	}
	return m.Store.Swap(shard, value, version)
}

// twoRules returns a table of many shards behind a meddler, and charges for
// two keys that lie in different shards, the second allowing one request.
func twoRules(t *testing.T) (*Table, *meddler, []Charge) {
	t.Helper()
	const keys = 1000
	m := &meddler{Store: NewMemory(Shards(keys))}
	table, err := NewTable(m, TableOptions{MaxKeys: keys})
	if err != nil {
		t.Fatal(err)
	}
	charges := []Charge{
		{Key: table.Fingerprint([]byte("a")), Limits: mustLimits(t, Limit{Requests: 3, Window: time.Minute}), Cost: 1},
		{Key: table.Fingerprint([]byte("b")), Limits: mustLimits(t, Limit{Requests: 1, Window: time.Minute}), Cost: 1},
	}
	if table.shardOf(charges[0].Key) == table.shardOf(charges[1].Key) {
		t.Fatal("the two keys of this test share a shard")
	}
	return table, m, charges
}

func pendingOf(t *testing.T, table *Table, c Charge) int64 {
	t.Helper()
	n, err := table.Pending(0, c.Key, c.Limits, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n[0]
}

func TestSeveralRulesAreChargedAllOrNone(t *testing.T) {
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		table, m, both := twoRules(t)
		charges := []Charge{both[order[0]], both[order[1]]}
		for i, want := range []bool{true, false, false} {
			m.loads, m.swaps = 0, 0
			result, err := table.Take(0, charges)
			if err != nil || result.Admitted != want {
				t.Fatalf("request %d: %+v, %v, want admitted %v", i, result, err, want)
			}
			if wantSwaps := map[bool]int{true: 2, false: 0}[want]; m.loads != 2 || m.swaps != wantSwaps {
				t.Errorf("request %d: %d loads, %d swaps, want 2 and %d", i, m.loads, m.swaps, wantSwaps)
			}
		}
		if n := pendingOf(t, table, both[0]); n != 1 {
			t.Errorf("the rule that admitted was charged %d times, want once", n)
		}
		if d := charges[order[0]].Decision; d.Remaining != 2 {
			t.Errorf("the rule that admitted says %d remain, want 2: it was not charged", d.Remaining)
		}
	}
}

func TestSeveralLimitsAreChargedAllOrNone(t *testing.T) { // B75
	c := newClient(t,
		Limit{Requests: 2, Window: time.Second},
		Limit{Requests: 20, Window: time.Minute},
		Limit{Requests: 40, Window: 24 * time.Hour})
	admitted := 0
	for at := range Instant(30) {
		for range 3 {
			if c.take("key", at*second, 1).Allowed {
				admitted++
			}
		}
		if want := min(20, 2*(int(at)+1)); admitted != want {
			t.Fatalf("after second %d: %d admitted, want %d", at, admitted, want)
		}
	}
	charges := c.charge("key", 1)
	if _, err := c.table.Take(29*second, charges); err != nil {
		t.Fatal(err)
	}
	if d := charges[0].Decision; charges[0].Binding != 1 || d.RetryAfter != 31*time.Second {
		t.Errorf("binding limit %d, retry after %v, want limit 1 and 31s", charges[0].Binding, d.RetryAfter)
	}
}

func TestShadowNeverRefuses(t *testing.T) {
	table, _, charges := twoRules(t)
	charges[1].Shadow = true
	for i, want := range []bool{true, true, true, false} {
		result, err := table.Take(0, charges)
		if err != nil || result.Admitted != want {
			t.Fatalf("request %d: %+v, %v, want admitted %v", i, result, err, want)
		}
		if allowed := charges[1].Decision.Allowed; allowed != (i == 0) {
			t.Errorf("request %d: shadow rule allowed %v", i, allowed)
		}
	}
	if n := pendingOf(t, table, charges[1]); n != 1 {
		t.Errorf("shadow rule counted %d, want 1", n)
	}
}

// TestFirstWriteIsNeverLost is B01: two workers find a fresh key, and each
// would write its first window over the other's.
func TestFirstWriteIsNeverLost(t *testing.T) {
	table, m, charges := twoRules(t)
	other := []Charge{charges[1]}
	m.beforeSwap = func(uint32) error {
		m.beforeSwap = nil
		if result, err := table.Take(0, other); err != nil || !result.Admitted {
			t.Fatal(result, err)
		}
		return nil
	}
	result, err := table.Take(0, charges[1:])
	if err != nil || result.Admitted || result.Conflicts != 1 {
		t.Errorf("the slower of two first requests: %+v, %v, want a refusal after one conflict", result, err)
	}
}

func TestLateRefusalGivesBack(t *testing.T) {
	table, m, charges := twoRules(t)
	first := table.shardOf(charges[0].Key)
	m.beforeSwap = func(shard uint32) error {
		if shard == first {
			return nil
		}
		m.beforeSwap = nil // between the swaps of a and of b, another request takes b
		other := []Charge{{Key: charges[1].Key, Limits: charges[1].Limits, Cost: 1}}
		_, err := table.Take(0, other)
		return err
	}
	result, err := table.Take(0, charges)
	if err != nil || result.Admitted || result.Lost != 0 {
		t.Fatalf("%+v, %v, want a refusal with nothing lost", result, err)
	}
	if n := pendingOf(t, table, charges[0]); n != 0 {
		t.Errorf("%d units of the refused request are still charged", n)
	}
}

func TestFailureGivesBack(t *testing.T) {
	table, m, charges := twoRules(t)
	first, broken := table.shardOf(charges[0].Key), errors.New("broken")
	m.beforeSwap = func(shard uint32) error {
		if shard != first {
			return broken
		}
		return nil
	}
	if result, err := table.Take(0, charges); !errors.Is(err, broken) || result.Admitted {
		t.Fatalf("%+v, %v, want the store's error", result, err)
	}
	if n := pendingOf(t, table, charges[0]); n != 0 {
		t.Errorf("%d units of the failed request are still charged", n)
	}
}

// neverStores answers every swap with a conflict.
type neverStores struct{ Store }

func (neverStores) Swap(uint32, []byte, uint64) (bool, error) { return false, nil }

func TestEndlessConflictIsAnError(t *testing.T) {
	table, err := NewTable(neverStores{NewMemory(1)}, TableOptions{MaxKeys: 1})
	if err != nil {
		t.Fatal(err)
	}
	charges := []Charge{{Key: 1, Limits: mustLimits(t, Limit{Requests: 1, Window: time.Second}), Cost: 1}}
	result, err := table.Take(0, charges)
	if !errors.Is(err, ErrConflict) || result.Admitted || result.Conflicts != attempts {
		t.Errorf("%+v, %v, want ErrConflict after %d attempts", result, err, attempts)
	}
}

// TestConcurrentTake lets many goroutines use up many keys through two tables
// over one store: exactly the limit passes.
func TestConcurrentTake(t *testing.T) {
	const keys, limit, goroutines = 50, 100, 8
	memory := NewMemory(Shards(1000))
	limits := mustLimits(t, Limit{Requests: limit, Window: time.Hour})
	var admitted [keys]atomic.Int64
	var wg sync.WaitGroup
	for g := range goroutines {
		table, err := NewTable(memory, TableOptions{MaxKeys: 1000})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range keys * limit / 4 {
				a, b := r.IntN(keys), r.IntN(keys)
				charges := []Charge{{Key: table.Fingerprint([]byte{byte(a)}), Limits: limits, Cost: 1}}
				if a != b {
					charges = append(charges, Charge{Key: table.Fingerprint([]byte{byte(b)}), Limits: limits, Cost: 1})
				}
				result, err := table.Take(Instant(i), charges)
				if err != nil {
					t.Error(err)
					return
				}
				if result.Admitted {
					admitted[a].Add(1)
					if a != b {
						admitted[b].Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	table, _ := NewTable(memory, TableOptions{MaxKeys: 1000})
	for key := range keys {
		n, _ := table.Pending(0, table.Fingerprint([]byte{byte(key)}), limits, nil)
		if got := admitted[key].Load(); got > limit || got != n[0] {
			t.Errorf("key %d: %d admitted, %d recorded, limit %d", key, got, n[0], limit)
		}
	}
}

func TestTakeDoesNotAllocate(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes sync.Pool forget")
	}
	c := newClient(t, Limit{Requests: 100, Window: time.Second}, Limit{Requests: 1000, Window: time.Hour})
	charges := c.charge("key", 1)
	now := Instant(0)
	if n := testing.AllocsPerRun(1000, func() {
		now += second / 50
		_, _ = c.table.Take(now, charges)
	}); n != 0 {
		t.Errorf("%v allocations per Take", n)
	}
}
