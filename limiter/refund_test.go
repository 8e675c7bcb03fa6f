package limiter

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A cell is one encoded state with its algorithm, without a table around it.
type cell struct {
	algorithm
	state []byte
}

// charge takes and keeps what take returned.
func (c *cell) charge(now Instant, cost int64) outcome {
	state, o := c.take(nil, c.state, now, cost)
	if o.Allowed {
		c.state = state
	}
	return o
}

func (c *cell) peek(now Instant, cost int64) Decision {
	_, o := c.take(nil, c.state, now, cost)
	return o.Decision
}

func newCell(t *testing.T, l Limit) *cell {
	t.Helper()
	a, err := l.algorithm()
	if err != nil {
		t.Fatal(err)
	}
	return &cell{algorithm: a}
}

// TestRefund charges one of two equal cells with something more, gives both
// what the first admits, and then takes the charge back: the first must never
// admit what the second refuses. Unless a bucket has drained in vain without
// the charge, the two must answer alike.
func TestRefund(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		exact := 0
		for seed := range uint64(rounds(1000)) {
			r := rand.New(rand.NewPCG(seed, 8))
			limit := randomLimit(r, a)
			traffic := traffic{r, limit, 0}
			charged, twin := newCell(t, limit), newCell(t, limit)
			for range r.IntN(20) {
				at, cost := traffic.later(), traffic.cost()
				charged.charge(at, cost)
				twin.charge(at, cost)
			}
			at, cost := traffic.later(), 1+r.Int64N(capacityOf(limit))
			o := charged.charge(at, cost)
			if !o.Allowed {
				continue
			}
			held := twin.pending(twin.state, at)
			for range r.IntN(5) {
				if r.IntN(3) == 0 {
					traffic.later()
				}
				both(t, traffic, charged, twin)
			}
			charged.state = charged.refund(nil, charged.state, o.receipt, cost)
			drained := int64(traffic.now-at) * limit.Requests
			if a != TokenBucket && a != LeakyBucket || drained <= (held-1)*limit.Window.Microseconds() {
				exact++
				sameAnswers(t, traffic, charged, twin)
			}
			for range 20 {
				traffic.later()
				both(t, traffic, charged, twin)
			}
		}
		if exact < rounds(1000)/10 {
			t.Errorf("only %d refunds were compared exactly", exact)
		}
	})
}

// both gives a request to one cell and, if that admits it, to the other, which
// then must too.
func both(t *testing.T, traffic traffic, charged, twin *cell) {
	t.Helper()
	cost := traffic.cost()
	if charged.charge(traffic.now, cost).Allowed && !twin.charge(traffic.now, cost).Allowed {
		t.Fatalf("%+v: a refund made room for %d at %d", traffic.limit, cost, traffic.now)
	}
}

func sameAnswers(t *testing.T, traffic traffic, charged, twin *cell) {
	t.Helper()
	for range 10 {
		at, cost := traffic.later(), traffic.cost()
		if got, want := charged.peek(at, cost), twin.peek(at, cost); got != want {
			t.Fatalf("%+v: after a refund, %d at %d is answered %+v, without the charge %+v", traffic.limit, cost, at, got, want)
		}
	}
}

// TestRefundAtOnce is what happens without any time or request in between: the
// state is the very same, whatever it was.
func TestRefundAtOnce(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(200)) {
			r := rand.New(rand.NewPCG(seed, 9))
			limit := randomLimit(r, a)
			traffic := traffic{r, limit, 0}
			c := newCell(t, limit)
			for range 20 {
				at, cost := traffic.later(), traffic.cost()
				settled, _ := c.take(nil, c.state, at, 0)
				state, o := c.take(nil, c.state, at, cost)
				if !o.Allowed {
					continue
				}
				back := c.refund(nil, state, o.receipt, cost)
				if string(back) != string(settled) {
					t.Fatalf("%+v: %x after a charge of %d at %d and its refund, want %x", limit, back, cost, at, settled)
				}
				c.state = state
			}
		}
	})
}

// TestRefundAfterAStepBack refunds a charge from before the clock was set back.
// What it was recorded as cannot be told any more; it may be kept, but nothing
// else may be given back for it.
func TestRefundAfterAStepBack(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		limit := Limit{Algorithm: a, Requests: 10, Window: time.Second}
		charged, twin := newCell(t, limit), newCell(t, limit)
		o := charged.charge(1000*second, 5)
		for _, at := range []Instant{1000*second + 400_000, 0} {
			charged.charge(at, 1)
			twin.charge(at, 1)
		}
		charged.state = charged.refund(nil, charged.state, o.receipt, 5)
		if got, want := charged.peek(0, 1).Remaining, twin.peek(0, 1).Remaining; got > want {
			t.Errorf("%d left after a refund, without the charge %d", got, want)
		}
	})
}
