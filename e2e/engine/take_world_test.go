package engine_test

import (
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

	now, latest limiter.Instant
	pipe        redis.Pipeliner
	pending     []step
	seed        uint64
	n           int
}

var algorithms = []limiter.Algorithm{limiter.SlidingLog, limiter.SlidingBuckets, limiter.TokenBucket, limiter.LeakyBucket}

func newWorld(t *testing.T, s script, seed uint64, name string, draw func(*rand.Rand, limiter.Algorithm) limiter.Limit) *world {
	r := rand.New(rand.NewPCG(seed, 77))
	w := &world{t: t, r: r, core: newCore(t), script: s, draw: draw, seen: coverage{}, pipe: s.Pipeline(), seed: seed}
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
		c.record = true
	case 1:
		c.peekOnly = true
	}
	return c
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
// for it at once or at another time. No bucket is refilled more slowly than before:
// the core may have forgotten the key by the old rate.
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
		switch l.Algorithm {
		case limiter.SlidingLog, limiter.SlidingBuckets:
			l.Requests, l.Inclusive = other.Requests, other.Inclusive
		default:
			l.Requests, l.Burst = max(l.Requests, other.Requests), other.Capacity()
		}
		if l.Validate() == nil {
			changed[j] = l
		}
	}
	w.keys[i].limits = changed
	w.seen["limits changed"]++
	follow := w.asked(i)
	follow.peekOnly = false
	if w.r.IntN(2) == 0 {
		w.tick()
	}
	w.do(call{at: at(w.now), charges: []charge{follow}})
}
