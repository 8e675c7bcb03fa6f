package limiter

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestFloodCannotResetAKeyAtItsLimit(t *testing.T) {
	const bound = 10_000
	flood := 1_000_000
	if testing.Short() {
		flood = 100_000
	}
	memory := NewMemory(Shards(bound))
	table, err := NewTable(memory, TableOptions{MaxKeys: bound, Seed: NewSeed()})
	if err != nil {
		t.Fatal(err)
	}
	c := client{t, table, mustLimits(t, Limit{Requests: 3, Window: time.Hour})}
	for range 3 {
		c.take("blocked", 0, 1)
	}
	var largest, evicted int
	charges := c.charge("", 1)
	for i := range flood {
		charges[0].Key = table.Fingerprint(fmt.Append(nil, i))
		if result, err := table.Take(Instant(i), charges); err != nil || !result.Admitted {
			t.Fatal(i, result, err)
		}
		if charges[0].Evicted {
			evicted++
		}
		if i%50_000 == 0 {
			largest = max(largest, c.tracked(Instant(i)))
			if c.take("blocked", Instant(i), 1).Allowed {
				t.Fatalf("after %d keys the blocked key was let in", i)
			}
		}
	}
	tracked := c.tracked(Instant(flood))
	if tracked > bound || largest > bound {
		t.Errorf("tracked %d, at most %d, bound %d", tracked, largest, bound)
	}
	if evicted+tracked != flood+1 {
		t.Errorf("%d evicted and %d tracked of %d", evicted, tracked, flood+1)
	}
	if size := memory.size(); size > 80*bound {
		t.Errorf("%d bytes for %d keys", size, bound)
	}
}

// size is the memory that the values take.
func (m *Memory) size() (n int) {
	for i := range m.shards {
		n += cap(m.shards[i].value)
	}
	return n
}

func TestFullOfKeysAtTheirLimit(t *testing.T) {
	for _, deny := range []bool{false, true} {
		table, err := NewTable(NewMemory(1), TableOptions{MaxKeys: 4, DenyWhenFull: deny})
		if err != nil {
			t.Fatal(err)
		}
		c := client{t, table, mustLimits(t, Limit{Requests: 1, Window: time.Minute})}
		for i := range 4 {
			c.take(fmt.Sprint(i), 0, 1)
		}
		charges := c.charge("new", 1)
		result, err := table.Take(0, charges)
		if result.Admitted == deny || errors.Is(err, ErrFull) != deny || !charges[0].Full {
			t.Errorf("deny %v: %+v, %v, full %v", deny, result, err, charges[0].Full)
		}
		if d := c.take("2", 0, 1); d.Allowed {
			t.Errorf("deny %v: a known key is %+v", deny, d)
		}
		if d := c.take("new", 61*second, 1); !d.Allowed || c.tracked(61*second) != 1 {
			t.Errorf("deny %v: expired entries do not make room: %+v", deny, d)
		}
	}
}

func TestTheLeastUsedMakesWay(t *testing.T) {
	table, err := NewTable(NewMemory(1), TableOptions{MaxKeys: 3})
	if err != nil {
		t.Fatal(err)
	}
	c := client{t, table, mustLimits(t, Limit{Requests: 10, Window: time.Minute})}
	c.take("much", 0, 7)
	c.take("little", 0, 2)
	c.take("all", 0, 10)
	c.take("new", 0, 5)
	for key, want := range map[string]int64{"much": 7, "little": 0, "all": 10, "new": 5} {
		if n := c.pending(key, 0); n != want {
			t.Errorf("%q has %d, want %d", key, n, want)
		}
	}
}

func TestPeekAndRefusalsLeaveNoTrace(t *testing.T) {
	m := &meddler{Store: NewMemory(1)}
	table, err := NewTable(m, TableOptions{MaxKeys: 10})
	if err != nil {
		t.Fatal(err)
	}
	c := client{t, table, mustLimits(t, Limit{Requests: 1, Window: time.Minute})}
	c.peek("nobody", 0, 1)
	c.take("nobody", 0, 2)
	if m.swaps != 0 || c.tracked(0) != 0 {
		t.Errorf("%d swaps, %d tracked", m.swaps, c.tracked(0))
	}
}
