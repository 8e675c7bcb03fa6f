package limiter

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// beside returns a client with other limits on the same table, as that of
// another configuration which is in use at the same time.
func (c client) beside(limits ...Limit) client {
	c.t.Helper()
	return client{c.t, c.table, mustLimits(c.t, limits...)}
}

// entry returns what the table holds of "key".
func (c client) entry(now Instant) entry {
	c.t.Helper()
	key := c.table.Fingerprint([]byte("key"))
	value, _, err := c.table.store.Load(c.table.shardOf(key), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	e, _ := find(value, key, now)
	return e
}

// parked returns the number of states that are parked in the entry of "key".
func (c client) parked(now Instant) (n int) {
	for range c.entry(now).parked {
		n++
	}
	return n
}

// use takes one unit at a time until it is refused.
func (c client) use(now Instant) (admitted int64) {
	for c.take("key", now, 1).Allowed {
		admitted++
	}
	return admitted
}

var (
	minute = Limit{Requests: 3, Window: time.Minute}
	hour   = Limit{Requests: 3, Window: time.Hour}
	year   = Limit{Requests: 3, Window: 365 * 24 * time.Hour}
)

// TestOldAndNewTakeTurns: what an old and a new configuration admit in turn is
// what each admits alone; limits that are the same in both are one limit.
func TestOldAndNewTakeTurns(t *testing.T) { // B53
	with := func(a Algorithm) Limit { return Limit{Algorithm: a, Requests: 3, Window: time.Minute} }
	slots := with(SlidingBuckets)
	slots.Buckets = 7
	seven := with(SlidingLog)
	seven.Requests = 7
	for name, test := range map[string]struct {
		old, next []Limit
		want      int
	}{
		"the window":           {[]Limit{minute}, []Limit{{Requests: 3, Window: 61 * time.Second}}, 6},
		"a bucket's window":    {[]Limit{with(TokenBucket)}, []Limit{{Algorithm: TokenBucket, Requests: 3, Window: time.Hour}}, 6},
		"a counter's window":   {[]Limit{with(SlidingCounter)}, []Limit{{Algorithm: SlidingCounter, Requests: 3, Window: time.Hour}}, 6},
		"the slots":            {[]Limit{with(SlidingBuckets)}, []Limit{slots}, 6},
		"log to slots":         {[]Limit{minute}, []Limit{with(SlidingBuckets)}, 6},
		"slots to bucket":      {[]Limit{slots}, []Limit{with(TokenBucket)}, 6},
		"bucket to counter":    {[]Limit{with(TokenBucket)}, []Limit{with(SlidingCounter)}, 6},
		"counter to fixed":     {[]Limit{with(SlidingCounter)}, []Limit{with(FixedWindow)}, 6},
		"a far longer window":  {[]Limit{{Requests: 3, Window: time.Microsecond}}, []Limit{year}, 50 + 3},
		"the requests":         {[]Limit{minute}, []Limit{seven}, 7}, // one window
		"one limit more":       {[]Limit{seven}, []Limit{seven, hour}, 7},
		"one limit less":       {[]Limit{minute, hour}, []Limit{minute}, 3},
		"one of two":           {[]Limit{seven, hour}, []Limit{seven, with(FixedWindow)}, 6},
		"all of two":           {[]Limit{minute, hour}, []Limit{with(FixedWindow), with(TokenBucket)}, 6},
		"the other way round":  {[]Limit{minute, hour}, []Limit{hour, minute}, 3},
		"nothing":              {[]Limit{minute}, []Limit{minute}, 3},
		"another name for it":  {[]Limit{with(TokenBucket)}, []Limit{with(LeakyBucket)}, 6},
		"from many to the one": {fuzzLimits, []Limit{year}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			old := newClient(t, test.old...)
			pair := []client{old, old.beside(test.next...)}
			admitted := 0 // of 50 requests each
			for i := range 100 {
				if pair[i%2].take("key", seconds(0.0001*float64(i)), 1).Allowed {
					admitted++
				}
			}
			if admitted != test.want {
				t.Errorf("%d admitted, want %d", admitted, test.want)
			}
		})
	}
}

// TestEachConfigurationIsExact gives random traffic to two configurations of one
// key, and holds every answer of each against an oracle that knows nothing of
// the other.
func TestEachConfigurationIsExact(t *testing.T) { // B53
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(60)) {
			r := rand.New(rand.NewPCG(seed, 21))
			first := newJudge(t, slowed(r, a))
			second := newJudge(t, slowed(r, everyAlgorithm[r.IntN(len(everyAlgorithm))]))
			if second.limits.ids[0] == first.limits.ids[0] {
				continue
			}
			second.table = first.table
			now := Instant(r.Int64N(1 << 40))
			for range 200 {
				j := first
				if r.IntN(2) == 0 {
					j = second
				}
				traffic := traffic{r, j.limit, now}
				now = traffic.later()
				j.request(now, traffic.cost())
				if r.IntN(10) == 0 {
					if _, err := j.table.Sweep(now, j.table.Shards()); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// slowed is a random limit whose window may be far longer than the spare unit
// of an expiry, so that what is kept for too short a time is missed.
func slowed(r *rand.Rand, a Algorithm) Limit {
	l := randomLimit(r, a)
	l.Window *= time.Duration([]int{1, 1000, 100_000}[r.IntN(3)])
	return l
}

// TestParkedStatesEndOnABusyKey: a key that is never idle is as small as before
// once all that the old configuration admitted has left.
func TestParkedStatesEndOnABusyKey(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		next := newClient(t, Limit{Algorithm: a, Requests: 5, Window: time.Second})
		old := next.beside(hour)
		next.take("key", 0, 1)
		alone := len(next.entry(0).states)
		old.take("key", 0, 1)
		old.take("key", 10*second, 1) // until one hour later
		const spare = 131_072
		for at := 11 * second; at <= 3620*second; at += second {
			next.take("key", at, 1)
			size, parked := len(next.entry(at).states), next.parked(at)
			if at < 3610*second && (parked != 1 || next.entry(at).expiry < 3610*second) {
				t.Fatalf("at %d: %d parked until %d", at, parked, next.entry(at).expiry)
			}
			if _, trace := findState(next.entry(at).states, parkingID); at > 3610*second+spare &&
				(parked != 0 || trace != 0 || size > alone+20 || next.entry(at).expiry > at+3*second) {
				t.Fatalf("at %d: %d parked, %d bytes until %d", at, parked, size, next.entry(at).expiry)
			}
		}
	})
}

// TestTurnsDoNotProlong: an entry that two configurations write in turn, again
// and again, expires when the last of their windows is over, and has the load of
// what they hold now.
func TestTurnsDoNotProlong(t *testing.T) {
	short := newClient(t, Limit{Requests: 10_000, Window: 10 * time.Second})
	long := short.beside(Limit{Requests: 1000, Window: time.Minute})
	long.take("key", 0, 1000)
	for at := Instant(0); at < second; at += 1000 {
		short.take("key", at, 1)
		long.take("key", at, 1)
	}
	if n := short.tracked(60*second + 131_072); n != 0 {
		t.Errorf("tracked until %d, and the last window is over at %d", short.entry(0).expiry, 60*second)
	}
	if load := short.entry(second).load; load != fullLoad {
		t.Errorf("a load of %d beside a limit that is used up", load)
	}
	for _, c := range []client{short, long, short, long} {
		c.take("key", 61*second, 1)
	}
	if load := short.entry(61 * second).load; load != 0 {
		t.Errorf("a load of %d after both windows", load)
	}
}

// TestAtMostSixteenAreParked gives a key to forty configurations in turn. The
// latest sixteen beside the one that comes last have their states.
func TestAtMostSixteenAreParked(t *testing.T) {
	table := newTable(t, 10)
	var all []client
	for i := range 40 {
		all = append(all, client{t, table, mustLimits(t, Limit{Requests: 1, Window: time.Minute + time.Duration(i)*time.Second})})
		if !all[i].take("key", 0, 1).Allowed {
			t.Fatalf("configuration %d is refused", i)
		}
		if got := all[i].parked(0); got != min(i, MaxLimits) {
			t.Errorf("%d parked after %d configurations", got, i+1)
		}
	}
	for i, c := range all {
		if allowed := c.peek("key", 0, 1).Allowed; allowed != (i < 40-1-MaxLimits) {
			t.Errorf("configuration %d: allowed %v", i, allowed)
		}
	}
}

// TestTakeDoesNotAllocateBeside is TestTakeDoesNotAllocate for two in turn.
func TestTakeDoesNotAllocateBeside(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes sync.Pool forget")
	}
	c := newClient(t, Limit{Algorithm: TokenBucket, Requests: 50, Window: time.Second}) // its own state needs little memory
	charges := append(c.charge("key", 1), c.beside(Limit{Algorithm: FixedWindow, Requests: 50, Window: time.Second}).charge("key", 1)...)
	now := Instant(0)
	if n := testing.AllocsPerRun(1000, func() {
		now += second / 50
		_, _ = c.table.Take(now, charges[:1])
		_, _ = c.table.Take(now, charges[1:])
	}); n != 0 {
		t.Errorf("%v allocations per pair of Takes", n)
	}
}

// TestParkedBytesMayBeAnything spoils each byte of a shard with parked states,
// and cuts it off there: nothing that could be read as an answer is out of range,
// and another charge still works.
func TestParkedBytesMayBeAnything(t *testing.T) {
	value := sampleParked(t)
	for i := range value {
		for _, spoil := range []func(b []byte) []byte{
			func(b []byte) []byte { b[i] ^= 0xFF; return b },
			func(b []byte) []byte { b[i]++; return b },
			func(b []byte) []byte { b[i] = 0; return b },
			func(b []byte) []byte { return b[:i] },
			func(b []byte) []byte { return append(b[:i:i], b[i+1:]...) },
		} {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				checkForeignShard(t, spoil(append([]byte(nil), value...)), 3_000_000, 1)
			})
		}
	}
}
