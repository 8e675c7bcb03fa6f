package engine_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirproxy/weir/limiter"
)

// A world is some keys, each with limits of its own, and what asks for them.
type world struct {
	t      *testing.T
	r      *rand.Rand
	core   core
	script script
	keys   []charge
	draw   func(*rand.Rand, limiter.Algorithm) limiter.Limit
	seen   coverage
	least  map[time.Duration]int64 // Requests of the buckets with a window, at first

	now, latest limiter.Instant
	pipe        redis.Pipeliner
	pending     []step
	seed        uint64
	n           int
}

// A step is one call under way.
type step struct {
	call          call
	want          reply
	got           *redis.Cmd
	before, after []*redis.StringCmd // dumps of its keys, which must not change
}

var algorithms = []limiter.Algorithm{limiter.SlidingLog, limiter.SlidingBuckets, limiter.TokenBucket, limiter.LeakyBucket}

func newWorld(t *testing.T, s script, seed uint64, name string, draw func(*rand.Rand, limiter.Algorithm) limiter.Limit) *world {
	r := rand.New(rand.NewPCG(seed, 77))
	w := &world{t: t, r: r, core: newCore(t), script: s, draw: draw, seen: coverage{}, least: map[time.Duration]int64{}, pipe: s.Pipeline(), seed: seed}
	w.now = limiter.Instant(r.Int64N(1 << 50))
	for i := range 3 {
		w.keys = append(w.keys, charge{name: fmt.Sprint(name, i), limits: w.limits()})
	}
	return w
}

// limits draws one to three limits, of other windows than each other.
func (w *world) limits() (limits []limiter.Limit) {
	for range 1 + w.r.IntN(3) {
		l := w.draw(w.r, algorithms[w.r.IntN(len(algorithms))])
		if _, err := limiter.NewLimits(append(limits, l)...); err == nil {
			limits = append(limits, l)
			w.least[l.Window] = min(l.Requests, cmp.Or(w.least[l.Window], l.Requests))
		}
	}
	return limits
}

// step makes one random call, and now and then some that follow from it.
func (w *world) step() {
	w.tick()
	c := call{at: at(w.now), peek: w.r.IntN(10) == 0}
	for _, i := range w.r.Perm(len(w.keys))[:1+w.r.IntN(len(w.keys))] {
		c.charges = append(c.charges, w.asked(i))
	}
	want := w.do(c)
	switch {
	case !want.admitted && w.r.IntN(2) == 0:
		w.promises(c, want)
	case want.admitted && !c.peek && w.r.IntN(8) == 0:
		w.change(c, want)
	}
}

// asked is a random charge to one of the keys.
func (w *world) asked(i int) charge {
	c := w.keys[i]
	c.cost = w.cost(c.limits[w.r.IntN(len(c.limits))])
	c.shadow = w.r.IntN(8) == 0
	switch w.r.IntN(12) {
	case 0:
		c.record = !slices.ContainsFunc(c.limits, func(l limiter.Limit) bool { return !w.drains(l, c.cost) })
	case 1:
		c.peekOnly = true
	}
	return c
}

// drains says whether a bucket with so many units is empty again within 35 years,
// at the least rate that is drawn for its window. Above 285 years the core holds
// its wait to that, and so to a later time at each refusal; it then notes anew how
// long it must keep the key, and drops what has left the other windows of it.
func (w *world) drains(l limiter.Limit, units int64) bool {
	bucket := l.Algorithm == limiter.TokenBucket || l.Algorithm == limiter.LeakyBucket
	return !bucket || float64(units)*float64(l.Window.Microseconds()) < float64(w.least[l.Window])*(1<<50)
}

// cost is one unit, or anything up to one more than can ever fit.
func (w *world) cost(l limiter.Limit) int64 {
	switch w.r.IntN(9) {
	case 0, 1:
		return 1 + w.r.Int64N(min(l.Capacity()+1, limiter.MaxRequests))
	case 2:
		return 1 + w.r.Int64N(1+l.Capacity()/4)
	case 3:
		return 1 + w.r.Int64N(limiter.MaxRequests)
	default:
		return 1
	}
}

// tick moves the clock: mostly a little later, but also not at all, around the
// ends of windows and slots, long after, or back.
func (w *world) tick() {
	limits := w.keys[w.r.IntN(len(w.keys))].limits
	l := limits[w.r.IntN(len(limits))]
	window, near := l.Window.Microseconds(), w.r.Int64N(3)-1
	slot := max(1, (window+option(l)-1)/max(1, option(l)))
	by := w.r.Int64N(1 + 2*window/l.Requests)
	switch w.r.IntN(20) {
	case 0:
		by = window
	case 1:
		by = window + near
	case 2:
		by = slot - int64(w.now)%slot + near
	case 3:
		by = w.r.Int64N(10 * window)
	case 4:
		by = -w.r.Int64N(window + 1)
	case 5:
		by = -w.r.Int64N(5 * window)
	case 6:
		by = -window*l.Capacity()/l.Requests + near // what a bucket takes to refill
		if l.Capacity() > 1<<17 {
			by = -window + near
		}
	case 7, 8:
		by = 0
	case 9:
		by = w.r.Int64N(2_000_000)
	}
	w.now += limiter.Instant(by)
	if w.now > 1<<51 || w.now < -1<<51 {
		w.now = limiter.Instant(w.r.Int64N(1 << 50))
	}
}

// promises keeps what a refusal says of the longest wait, and what it says of
// a microsecond less.
func (w *world) promises(c call, refused reply) {
	wait := time.Duration(0)
	for _, d := range refused.each {
		wait = max(wait, d.RetryAfter)
	}
	if wait > 4*limiter.MaxWindow {
		return
	}
	w.seen["promises"]++
	then := *c.at + limiter.Instant(wait.Microseconds())
	w.now = then - 1
	c.at = at(w.now)
	if w.do(c); w.r.IntN(2) == 0 {
		w.now = then
		c.at = at(w.now)
		w.do(c)
	}
}

// change lowers or raises the limits of a key that was charged just now, and asks
// for it at once. At another time the core would drop from a window, on a refusal,
// what has left it: its table must note by how much the limit is used.
func (w *world) change(c call, admitted reply) {
	first := c.charges[0]
	refused := slices.ContainsFunc(admitted.each[:len(first.limits)], func(d limiter.Decision) bool { return !d.Allowed })
	if first.peekOnly || refused { // in shadow
		return
	}
	i := slices.IndexFunc(w.keys, func(k charge) bool { return k.name == first.name })
	changed := slices.Clone(w.keys[i].limits)
	for j, l := range changed {
		other := w.draw(w.r, l.Algorithm)
		l.Requests, l.Burst, l.Inclusive = other.Requests, other.Burst, other.Inclusive
		if l.Validate() == nil && l.Requests >= w.least[l.Window] && w.drains(l, l.Capacity()) {
			changed[j] = l
		}
	}
	w.keys[i].limits = changed
	w.seen["limits changed"]++
	follow := w.asked(i)
	follow.peekOnly = false
	w.do(call{at: c.at, charges: []charge{follow}})
}

// do asks the core and queues the call for the script.
func (w *world) do(c call) (want reply) {
	w.t.Helper()
	want = w.core.do(c)
	st := step{call: c, want: want}
	forward := w.now >= w.latest
	traceless := c.peek || !want.admitted && forward
	if traceless {
		st.before = w.dumps(c)
	}
	st.got = w.script.queue(w.pipe, c)
	if traceless {
		st.after = w.dumps(c)
	}
	w.count(c, want, forward, traceless)
	w.latest = max(w.latest, w.now)
	if w.pending = append(w.pending, st); len(w.pending) == 200 {
		w.compare()
	}
	return want
}

func (w *world) dumps(c call) (dumps []*redis.StringCmd) {
	for _, key := range c.keys() {
		dumps = append(dumps, w.pipe.Dump(w.t.Context(), key))
	}
	return dumps
}

func (w *world) count(c call, want reply, forward, traceless bool) {
	w.seen["steps"]++
	w.seen.mark("admitted", want.admitted)
	w.seen.mark("refused", !want.admitted)
	w.seen.mark("peeked", c.peek)
	w.seen.mark("back", !forward)
	w.seen.mark("no trace", traceless)
	for _, charge := range c.charges {
		w.seen.mark("recorded", charge.record)
		w.seen.mark("in shadow", charge.shadow)
		w.seen.mark("peek only", charge.peekOnly)
	}
	w.seen.mark("never", slices.ContainsFunc(want.each, func(d limiter.Decision) bool { return d.RetryAfter == limiter.Never }))
}

// compare runs what is queued.
func (w *world) compare() {
	w.t.Helper()
	// A key that is not there makes its dump an error, and with it all of Exec.
	if _, err := w.pipe.Exec(w.t.Context()); err != nil && err != redis.Nil {
		w.t.Fatal(err)
	}
	for _, st := range w.pending {
		now, got := parse(w.t, st.got)
		if now != *st.call.at || !equal(got, st.want) {
			w.t.Fatalf("seed %d, call %d: %+v at %d\ngot %v, at %d\nwant %v", w.seed, w.n, st.call.charges, *st.call.at, got, now, st.want)
		}
		for i, before := range st.before {
			if before.Val() != st.after[i].Val() {
				w.t.Fatalf("seed %d, call %d: %+v at %d, %v: left a trace in %s", w.seed, w.n, st.call.charges, *st.call.at, got, st.call.keys()[i])
			}
		}
		w.n++
	}
	w.pending = w.pending[:0]
}

// clear deletes the world's keys.
func (w *world) clear() {
	w.t.Helper()
	if err := w.script.FlushDB(w.t.Context()).Err(); err != nil {
		w.t.Fatal(err)
	}
}
