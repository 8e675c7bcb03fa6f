package traffic

import (
	"math/rand/v2"
	"time"
)

// A retry is a closed loop: each client sends a request, waits for the answer,
// and does next what the answer says.
type retry struct {
	source  *Source
	gap     int64         // between the requests that a client wants, in microseconds
	waiting queue[client] // by when they send next
	at      int64
	current client // whose answer is awaited
}

// A client of a closed loop.
type client struct {
	index int64
	tries int64 // of the request that it is at
}

// newRetry lets the clients begin at random within their first gap, as they
// would not be in step.
func newRetry(s *Source, random *rand.Rand) *retry {
	r := &retry{source: s, gap: max(1, int64(1e6/s.rate))}
	for i := range s.clients {
		r.waiting.add(random.Int64N(r.gap), client{index: i})
	}
	return r
}

func (r *retry) next() (at, index int64, ok bool) {
	first := r.waiting.take()
	r.at, r.current = first.at, first.value
	return r.at, r.current.index, true
}

func (r *retry) answer(a answer) {
	c, wait := r.current, r.gap
	c.tries++
	switch {
	case a.refused && c.tries != r.source.tries:
		wait = r.source.after.Microseconds()
		if r.source.obey && a.wait > 0 {
			wait = a.wait.Microseconds()
		}
	case a.refused:
		c.tries = 0
	default:
		c.tries = 0
		wait = max(wait, a.took.Microseconds())
	}
	r.waiting.add(r.at+max(wait, time.Microsecond.Microseconds()), c)
}
