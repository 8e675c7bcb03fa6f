package limiter

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLimiterDecidesAsATable holds the two homes of a window to each other, on
// random traffic of several keys, for one limit and for two, small states and
// large.
func TestLimiterDecidesAsATable(t *testing.T) {
	for seed := range uint64(rounds(30)) {
		r := rand.New(rand.NewPCG(seed, 7))
		limits := []Limit{{Requests: 1 + r.Int64N(40), Window: time.Duration(1+r.Int64N(1000)) * time.Millisecond}}
		for _, a := range []Algorithm{SlidingBuckets, SlidingCounter, TokenBucket, FixedWindow} {
			if r.IntN(3) == 0 {
				limits = append(limits, Limit{Algorithm: a, Requests: 1 + r.Int64N(40), Window: time.Duration(1+r.Int64N(5000)) * time.Millisecond})
			}
		}
		l, err := New(1000, limits...)
		if err != nil {
			t.Fatal(err)
		}
		c := newClient(t, limits...)
		s := &traffic{r: r, limit: limits[0]}
		for i := range 2000 {
			now := s.later()
			key, cost := fmt.Sprint(r.IntN(5)), 1+r.Int64N(3)
			at := time.UnixMicro(int64(now))
			peeked := l.PeekN(key, at, cost)
			got, want := l.TakeN(key, at, cost), c.take(key, now, cost)
			if got != want || got.Allowed != peeked.Allowed {
				t.Fatalf("seed %d, request %d: TakeN(%q, %d, %d) = %+v, want %+v", seed, i, key, now, cost, got, want)
			}
			if got, want := l.Pending(key, at)[0], c.pending(key, now); got != want {
				t.Fatalf("seed %d, request %d: Pending(%q, %d) = %d, want %d", seed, i, key, now, got, want)
			}
		}
	}
}

func TestLimiterUnderAFlood(t *testing.T) {
	const bound = 10_000
	l, err := New(bound, Limit{Requests: 3, Window: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(0, 0)
	for range 3 {
		l.Take("blocked", start)
	}
	for i := range rounds(300_000) {
		at := start.Add(time.Duration(i) * time.Microsecond)
		if d := l.Take(fmt.Sprint("key", i), at); !d.Allowed {
			t.Fatalf("key %d: %+v", i, d)
		}
		if i%10_000 == 0 && l.Take("blocked", at).Allowed {
			t.Fatalf("after %d keys the blocked key was let in", i)
		}
	}
	if n := l.Tracked(start.Add(time.Second)); n > bound || n < bound*9/10 {
		t.Errorf("tracked %d, bound %d", n, bound)
	}
	if n := l.Tracked(start.Add(2 * time.Hour)); n != 0 {
		t.Errorf("two hours later %d are tracked", n)
	}
}

// TestLimiterKeepsKeysApart holds the promise of its documentation of how many
// keys are forced out.
func TestLimiterKeepsKeysApart(t *testing.T) {
	const keys = 200_000 // with fewer, chance has a say
	for spare, lost := range map[int]int{keys / 4: keys / 5000, keys / 20: keys / 100} {
		l, err := New(keys+spare, Limit{Requests: 10, Window: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(0, 0)
		for i := range keys {
			l.Take(fmt.Sprint("user-", i), now)
		}
		if tracked := l.Tracked(now); tracked < keys-lost {
			t.Errorf("with room for %d more, %d of %d are tracked", spare, tracked, keys)
		}
	}
}

// TestLimiterFullOfKeysAtTheirLimit: no key at its limit makes way.
func TestLimiterFullOfKeysAtTheirLimit(t *testing.T) {
	const bound = 50
	l, err := New(bound, Limit{Requests: 1, Window: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(0, 0)
	for i := range 10 * bound {
		l.Take(fmt.Sprint(i), start)
	}
	for i := range bound {
		if d := l.Take(fmt.Sprint(i), start); d.Allowed {
			t.Errorf("key %d was forgotten: %+v", i, d)
		}
	}
	later := start.Add(61 * time.Second)
	if l.Take("new", later); l.Take("new", later).Allowed {
		t.Error("expired entries do not make room")
	}
}

// TestLimiterForgetsLargeStates: what does not fit into a cell goes when its
// window is over.
func TestLimiterForgetsLargeStates(t *testing.T) {
	l, err := New(10_000, Limit{Requests: 1000, Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	large := func() (n int) {
		for i := range l.stripes {
			n += len(l.stripes[i].large)
		}
		return n
	}
	start := time.Unix(0, 0)
	for key := range 100 {
		for i := range 100 {
			l.Take(fmt.Sprint("old", key), start.Add(time.Duration(i)*time.Millisecond))
		}
	}
	if n := large(); n < 90 {
		t.Fatalf("%d large states of 100 keys", n)
	}
	for i := range 100_000 {
		l.Take(fmt.Sprint("new", i%100), start.Add(time.Minute+time.Duration(i)*10*time.Millisecond))
	}
	if n := large(); n > 100 {
		t.Errorf("%d large states are left of 200 keys", n)
	}
}

func TestLimiterFromManyGoroutines(t *testing.T) {
	const keys, limit = 20, 100
	l, err := New(1000, Limit{Requests: limit, Window: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var admitted [keys]atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range keys * limit {
				if l.Take(fmt.Sprint(i%keys), time.Unix(0, int64(i))).Allowed {
					admitted[i%keys].Add(1)
				}
			}
		})
	}
	wg.Wait()
	for key := range admitted {
		if n := admitted[key].Load(); n != limit {
			t.Errorf("key %d: %d admitted, want %d", key, n, limit)
		}
	}
}

func TestLimiterDoesNotAllocate(t *testing.T) {
	for _, a := range []Algorithm{SlidingLog, SlidingBuckets, SlidingCounter, TokenBucket, LeakyBucket, FixedWindow} {
		l, err := New(100, Limit{Algorithm: a, Requests: 10, Window: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(0, 0)
		if n := testing.AllocsPerRun(1000, func() {
			now = now.Add(101 * time.Millisecond)
			l.Take("key", now)
		}); n != 0 {
			t.Errorf("%s: %v allocations per Take", a, n)
		}
	}
}

// TestLimiterMemory holds the promise of its documentation: 65 bytes a key,
// whether the table is empty or full of keys with ten requests each.
func TestLimiterMemory(t *testing.T) {
	const keys, room = 100_000, 105_000
	before := heap()
	l, err := New(room, Limit{Requests: 10, Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(0, 0)
	for i := range 10 * keys {
		l.Take(fmt.Sprint("user-", i%keys), start.Add(time.Duration(i/keys)*99*time.Millisecond))
	}
	used := heap() - before
	tracked := l.Tracked(start.Add(999 * time.Millisecond))
	t.Logf("%.1f bytes for each of %d live keys of %d", float64(used)/float64(tracked), tracked, keys)
	if perKey := float64(used) / float64(tracked); perKey > 64*1.1 {
		t.Errorf("%.1f bytes for each of %d live keys, want at most 70.4", perKey, tracked)
	}
	runtime.KeepAlive(l)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
