package limiter

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// newSteadyClient is newClient for a table whose clock never steps.
func newSteadyClient(t testing.TB, limits ...Limit) client {
	t.Helper()
	c := newClient(t, limits...)
	c.table.options.Steady = true
	return c
}

// A stall is a request of a worker that read the clock, was held up, and decided
// later. The table sees the time that was read.
type stall struct {
	read, decided Instant
	cost          int64
	admitted      bool
}

// stalls are random requests in the order of their decisions. Of some the worker
// was held up for up to five windows.
func stalls(r *rand.Rand, limit Limit) []stall {
	traffic := saturating(r, limit)
	all := make([]stall, 500)
	for i := range all {
		s := &all[i]
		s.read, s.cost = traffic.later(), traffic.cost()
		if s.decided = s.read; r.IntN(8) == 0 {
			s.decided += Instant(r.Int64N(5 * limit.Window.Microseconds()))
		}
	}
	slices.SortStableFunc(all, func(a, b stall) int { return cmp.Compare(a.decided, b.decided) })
	return all
}

// most returns the largest number of admitted units of which it is certain that
// they came within one half-open window, whether a request comes when the clock
// is read or when it is decided.
func most(all []stall, window Instant) (most int64) {
	for _, first := range all {
		n := int64(0)
		for _, s := range all {
			if s.admitted && s.read >= first.read && s.decided < first.read+window {
				n += s.cost
			}
		}
		most = max(most, n)
	}
	return most
}

// TestAStalledWorkerMintsNothing holds workers up for longer than the window. A
// table took their old times for a clock that was set back, moved the window to
// them, and gave all of it away again to whoever came next.
func TestAStalledWorkerMintsNothing(t *testing.T) { // B30
	forEvery(t, func(t *testing.T, a Algorithm) {
		minted := 0 // by a table that is not told that the clock is steady
		for seed := range uint64(rounds(100)) {
			r := rand.New(rand.NewPCG(seed, 11))
			limit := randomLimit(r, a)
			all := stalls(r, limit)
			c, other := newSteadyClient(t, limit), newClient(t, limit)
			unsteady := slices.Clone(all)
			whole := max(wholeAfter(limit), span(int64((&traffic{limit: limit}).refill()))) + time.Microsecond
			for i, s := range all {
				peeked := c.peek("key", s.read, s.cost)
				d := c.take("key", s.read, s.cost)
				if d != peeked || d.RetryAfter != Never && d.RetryAfter > 2*whole {
					t.Fatalf("seed %d, %+v: take(%d, %d) = %+v, peeked %+v", seed, limit, s.read, s.cost, d, peeked)
				}
				all[i].admitted = d.Allowed
				unsteady[i].admitted = other.take("key", s.read, s.cost).Allowed
			}
			window := Instant(limit.Window.Microseconds())
			if n := most(all, window); n > mostIn(limit) {
				t.Fatalf("seed %d, %+v: %d in one window, documented are %d", seed, limit, n, mostIn(limit))
			}
			if most(unsteady, window) > mostIn(limit) {
				minted++
			}
		}
		if minted == 0 {
			t.Error("the stalls are harmless, and the test shows nothing")
		}
	})
}

// TestALateTimeIsTheLatest asks a table for a key at times that are earlier than
// its latest by more than all of its windows. If the clock is steady it answers
// as at the latest time, whatever is asked. Otherwise the clock was set back, and the key
// is usable again soon after the time that it was set to.
func TestALateTimeIsTheLatest(t *testing.T) { // B30
	const at, late = 3000 * second, 1000 * second // where windows and slots begin
	forEvery(t, func(t *testing.T, a Algorithm) {
		limits := []Limit{{Algorithm: a, Requests: 10, Window: 10 * time.Second}, {Algorithm: FixedWindow, Requests: 100, Window: 20 * time.Second}}
		for used := int64(1); used <= 10; used++ {
			c, want, set := newSteadyClient(t, limits...), newClient(t, limits...), newClient(t, limits...)
			for _, c := range []client{c, want, set} {
				c.take("key", at, used)
			}
			if got, want := c.pending("key", late), want.pending("key", at); got != want {
				t.Errorf("%d used: %d pending, want %d", used, got, want)
			}
			for _, cost := range []int64{1, 10, 11, 1, 1} {
				if got, want := c.take("key", late, cost), want.take("key", at, cost); got != want {
					t.Errorf("%d used: take(late, %d) = %+v, want %+v", used, cost, got, want)
				}
				set.take("key", late, cost)
			}
			if got, want := c.peek("key", at, 1), want.peek("key", at, 1); got != want {
				t.Errorf("%d used: a late worker left %+v, want %+v", used, got, want)
			}
			soon := late + Instant(2*wholeAfter(limits[0]).Microseconds())
			if d := set.take("key", soon, 10); !d.Allowed {
				t.Errorf("%d used, and a clock set back: %+v", used, d)
			}
			if d := c.peek("key", soon, 10); d.Allowed {
				t.Errorf("%d used: a late worker has %+v", used, d)
			}
		}
	})
}

// TestALateWorkerMendsAndRecords: what is kept of a refusal because the limit was
// lowered, what is recorded come what may, and what is given back after a
// conflict leave the time of the entry as it is, however late they come.
func TestALateWorkerMendsAndRecords(t *testing.T) { // B30
	const at, late = 3000 * second, 1000 * second
	forEvery(t, func(t *testing.T, a Algorithm) {
		limit := Limit{Algorithm: a, Requests: 10, Window: 10 * time.Second}
		for _, table := range []func() client{
			func() client { return newSteadyClient(t, limit) },
			func() client { c := newSteadyClient(t, limit); c.table.store = plain{c.table.store}; return c },
		} {
			c := table()
			c.take("key", at, 8)
			lowered := limit
			lowered.Requests = 5
			low := client{t, c.table, mustLimits(t, lowered)}
			if d := low.take("key", late, 1); d.Allowed {
				t.Fatalf("a lowered limit: %+v", d)
			}
			record := c.charge("key", 1)
			record[0].Record = true
			if _, err := c.table.Take(late, record); err != nil {
				t.Fatal(err)
			}
			if d := c.take("key", at, 1); !d.Allowed || d.Remaining != 0 {
				t.Errorf("the tenth unit: %+v", d)
			}
			if d := c.take("key", at, 1); d.Allowed {
				t.Errorf("the eleventh unit: %+v", d)
			}
		}
	})
}

// plain hides that a Store is a Memory, for which there is a way of its own.
type plain struct{ Store }

// TestNoWorkerIsHeldUpForAnHour: a state that is ahead by up to an hour waits for
// a worker that is late; one that is further ahead was written by another clock,
// and must not keep the key out until this one is there.
func TestNoWorkerIsHeldUpForAnHour(t *testing.T) { // B30
	const at, hour = 7200 * second, 3600 * second // where windows and slots begin
	forEvery(t, func(t *testing.T, a Algorithm) {
		limit := Limit{Algorithm: a, Requests: 10, Window: 6 * time.Second}
		for late, want := range map[Instant]Instant{at - hour: at, at - hour - 1: at - hour - 1} {
			for _, record := range []bool{false, true} {
				c, other := newSteadyClient(t, limit), newClient(t, limit)
				for _, c := range []client{c, other} {
					c.take("key", at, 7)
				}
				late, want, got := late, want, c.charge("key", 1)
				got[0].Record = record
				wanted := other.charge("key", 1)
				wanted[0].Record = record
				for range 5 {
					_, _ = c.table.Take(late, got)
					_, _ = other.table.Take(want, wanted)
					if got[0].Decision != wanted[0].Decision {
						t.Errorf("at %d: %+v, want %+v", late, got[0].Decision, wanted[0].Decision)
					}
				}
				soon := late + Instant(2*wholeAfter(limit).Microseconds())
				if d := c.peek("key", soon, 10); d.Allowed != (want == late) {
					t.Errorf("at %d, after a request at %d: %+v", soon, late, d)
				}
			}
		}
	})
}
