package limiter

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// refunds are a table from which requests are taken back, and one that never sees
// those.
type refunds struct {
	t           *testing.T
	random      *rand.Rand
	now         Instant
	charged     *Table
	twin        *Table
	limits      [2]*Limits // of the two keys of a request
	outstanding [][]Charge // that will be taken back
	memory      [2]Charge  // which every request uses again, as a proxy does
}

// TestTableRefund takes requests of two keys back, some time after they were
// admitted and with others in between. What is still charged must never admit what
// the table without those would refuse; and when all are taken back the two
// must answer alike. (Buckets that have drained in vain are TestRefund's.)
func TestTableRefund(t *testing.T) {
	for _, a := range []Algorithm{SlidingLog, SlidingBuckets, SlidingCounter, FixedWindow} {
		t.Run(string(a), func(t *testing.T) {
			r := newRefunds(t, a)
			exact, taken := 0, 0
			for range rounds(20_000) {
				switch {
				case len(r.outstanding) > 0 && r.random.IntN(3) == 0:
					r.takeBack(r.random.IntN(len(r.outstanding)))
					taken++
				case r.random.IntN(2) == 0:
					r.now += Instant(r.random.IntN(200_000))
				default:
					r.request()
				}
				if len(r.outstanding) == 0 {
					exact++
					r.compare()
				}
			}
			if exact < rounds(20_000)/20 || taken < rounds(20_000)/20 {
				t.Errorf("%d comparisons of %d refunds", exact, taken)
			}
		})
	}
}

func newRefunds(t *testing.T, a Algorithm) *refunds {
	table := func() *Table {
		table, err := NewTable(NewMemory(Shards(200)), TableOptions{MaxKeys: 200, Steady: true})
		if err != nil || table.Shards() < 8 {
			t.Fatal("too few shards", err)
		}
		return table
	}
	return &refunds{t: t, random: rand.New(rand.NewPCG(7, 7)), charged: table(), twin: table(), limits: [2]*Limits{
		mustLimits(t, Limit{Requests: 6, Window: time.Second, Algorithm: a}, Limit{Requests: 50, Window: time.Minute, Algorithm: a}),
		mustLimits(t, Limit{Requests: 14, Window: 2 * time.Second, Algorithm: a}),
	}}
}

// charges are those of a request of two keys, which lie in one shard or in two.
func (r *refunds) charges() []Charge {
	key := func() Fingerprint { return Fingerprint(r.random.IntN(3))<<62 | Fingerprint(1+r.random.IntN(3)) }
	first, second := key(), key()+8
	cost := 1 + r.random.Int64N(2)
	return []Charge{{Key: first, Limits: r.limits[0], Cost: cost}, {Key: second, Limits: r.limits[1], Cost: cost, Shadow: r.random.IntN(4) == 0}}
}

// request gives one to both tables, or to the first alone, to be taken back.
func (r *refunds) request() {
	r.t.Helper()
	charges := r.memory[:]
	for i, c := range r.charges() {
		charges[i].Key, charges[i].Limits, charges[i].Cost, charges[i].Shadow = c.Key, c.Limits, c.Cost, c.Shadow
	}
	result, err := r.charged.Take(r.now, charges)
	if err != nil {
		r.t.Fatal(err)
	}
	if !result.Admitted {
		return
	}
	kept := []Charge{charges[0].Keep(), charges[1].Keep()}
	if shadowed := !charges[1].Decision.Allowed; r.random.IntN(2) == 0 || shadowed { // which the twin might record
		r.outstanding = append(r.outstanding, kept)
		return
	}
	if result, err := r.twin.Take(r.now, charges); err != nil || !result.Admitted {
		r.t.Fatalf("at %d: admitted only with what is to be taken back: %+v, %v", r.now, result, err)
	}
}

func (r *refunds) takeBack(i int) {
	r.t.Helper()
	if result := r.charged.Refund(r.now, r.outstanding[i]); result.Lost != 0 || result.Corrupt != 0 {
		r.t.Fatalf("at %d: %+v", r.now, result)
	}
	r.outstanding = slices.Delete(r.outstanding, i, i+1)
}

// compare asks both tables the same, now and later.
func (r *refunds) compare() {
	r.t.Helper()
	at := r.now + Instant(r.random.IntN(3_000_000))
	got, want := r.charges(), []Charge(nil)
	want = append(want, got...)
	if _, err := r.charged.Peek(at, got); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.twin.Peek(at, want); err != nil {
		r.t.Fatal(err)
	}
	for i := range got {
		if !slices.Equal(got[i].Each, want[i].Each) {
			r.t.Fatalf("at %d: after refunds %+v, without the charges %+v", at, got[i].Each, want[i].Each)
		}
		n, _ := r.charged.Pending(r.now, got[i].Key, got[i].Limits, nil)
		if m, _ := r.twin.Pending(r.now, got[i].Key, got[i].Limits, nil); !slices.Equal(n, m) {
			r.t.Fatalf("at %d: pending %v, without the charges %v", r.now, n, m)
		}
	}
}

// TestRefundOfBuckets at once gives back all of it.
func TestRefundOfBuckets(t *testing.T) {
	for _, a := range []Algorithm{TokenBucket, LeakyBucket} {
		c := newClient(t, Limit{Algorithm: a, Requests: 10, Window: time.Second, Burst: 20})
		before := c.take("key", 0, 7)
		charges := c.charge("key", 9)
		if result, err := c.table.Take(1000, charges); err != nil || !result.Admitted {
			t.Fatal(result, err)
		}
		c.take("key", 1000, 2)
		if result := c.table.Refund(1000, charges); result.Lost != 0 {
			t.Errorf("%s: %+v", a, result)
		}
		if left := c.peek("key", 1000, 1).Remaining; left != before.Remaining-2-1 {
			t.Errorf("%s: %d left after a refund, want %d", a, left, before.Remaining-2-1)
		}
	}
}

// TestRefundOfWhatWasNotRecorded gives nothing back: of a charge that only peeked,
// was refused in shadow, or found no room.
func TestRefundOfWhatWasNotRecorded(t *testing.T) {
	c := newClient(t, Limit{Requests: 3, Window: time.Second})
	c.take("key", 0, 2)
	for what, charge := range map[string]Charge{"peek": {Cost: 1, PeekOnly: true}, "shadow": {Cost: 2, Shadow: true}} {
		charge.Key, charge.Limits = c.table.Fingerprint([]byte("key")), c.limits
		charges := []Charge{charge}
		if result, err := c.table.Take(0, charges); err != nil || !result.Admitted {
			t.Fatal(what, result, err)
		}
		if result := c.table.Refund(0, charges); result.Lost != 0 || c.pending("key", 0) != 2 {
			t.Errorf("%s: %+v, %d pending, want 2", what, result, c.pending("key", 0))
		}
	}
}

// TestRefundAfterTheWindow finds nothing, and takes nothing from others.
func TestRefundAfterTheWindow(t *testing.T) {
	c := newClient(t, Limit{Requests: 3, Window: time.Second})
	charges := c.charge("key", 2)
	if result, err := c.table.Take(0, charges); err != nil || !result.Admitted {
		t.Fatal(result, err)
	}
	c.take("key", second, 1)
	if result := c.table.Refund(second, charges); result.Lost != 0 || c.pending("key", second) != 1 {
		t.Errorf("%+v, %d pending, want the one of later", result, c.pending("key", second))
	}
}

// a moody store fails, or conflicts to the end, in one shard while it is told to.
type moody struct {
	Store
	shard     uint32
	load      error
	conflicts bool
}

func (s *moody) Load(shard uint32, b []byte) ([]byte, uint64, error) {
	if shard == s.shard && s.load != nil {
		return nil, 0, s.load
	}
	return s.Store.Load(shard, b)
}

func (s *moody) Swap(shard uint32, value []byte, version uint64) (bool, error) {
	if shard == s.shard && s.conflicts {
		return false, nil
	}
	return s.Store.Swap(shard, value, version)
}

// TestRefundCountsTheLost: of three charges in two shards, those of the one that
// does not take them back, once each. The other shard's is given back.
func TestRefundCountsTheLost(t *testing.T) {
	for what, fail := range map[string]func(*moody){
		"failure":   func(s *moody) { s.load = errors.New("gone") },
		"conflicts": func(s *moody) { s.conflicts = true },
	} {
		store := &moody{Store: NewMemory(Shards(100))}
		table, err := NewTable(store, TableOptions{MaxKeys: 100})
		if err != nil {
			t.Fatal(err)
		}
		limits := mustLimits(t, Limit{Requests: 5, Window: time.Second})
		charges := []Charge{{Key: 1, Limits: limits, Cost: 1}, {Key: 2, Limits: limits, Cost: 1}, {Key: 1 << 63, Limits: limits, Cost: 1}}
		if result, err := table.Take(0, charges); err != nil || !result.Admitted {
			t.Fatal(result, err)
		}
		fail(store)
		if result := table.Refund(0, charges); result.Lost != 2 || what == "conflicts" && result.Conflicts != attempts {
			t.Errorf("%s: %+v, want two lost", what, result)
		}
		store.load, store.conflicts = nil, false
		for i, want := range []int64{1, 1, 0} {
			if n, err := table.Pending(0, charges[i].Key, limits, nil); err != nil || n[0] != want {
				t.Errorf("%s: charge %d: %v pending, %v, want %d", what, i, n, err, want)
			}
		}
		if result := table.Refund(0, charges[:2]); result.Lost != 0 {
			t.Errorf("%s: %+v, want none lost", what, result)
		}
		if n, _ := table.Pending(0, 1, limits, nil); n[0] != 0 {
			t.Errorf("%s: %v pending after all", what, n)
		}
	}
}
