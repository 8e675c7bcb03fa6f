package limiter

import (
	"hash/maphash"
	"math/bits"
	"time"
)

// A Limiter holds many keys to the same limits, in the memory of this process.
// It is the whole of this package behind one call, for programs that need no
// more. It is safe for concurrent use.
//
// Its memory is fixed: 65 bytes for each of maxKeys keys, taken when it is made,
// and besides only states of more than 49 bytes, which a sliding log of more
// than about ten requests has, and which go some time after the key's quota is
// whole again. When there is no room near either of a new key's two places, it takes
// that of the entry nearby that had used the smallest fraction of its limit; an
// entry that has reached it never makes way, and if all nearby have, the new key
// is admitted and not counted. With room for a quarter as many keys again as are
// live, fewer than one in five thousand is forced out; with a twentieth, fewer
// than one in a hundred.
type Limiter struct {
	limits  *Limits
	seed    maphash.Seed
	stripes []stripe
	shift   int // a hash's stripe is what this shift leaves of it
}

// maxStripes leaves goroutines on many processors little to wait for, and the
// stripes in a near cache.
const maxStripes = 64

// New returns a Limiter that tracks at most maxKeys keys at a time,
// 1..MaxMaxKeys.
func New(maxKeys int, limits ...Limit) (*Limiter, error) {
	compiled, err := NewLimits(limits...)
	if err != nil {
		return nil, err
	}
	if err := (TableOptions{MaxKeys: maxKeys}).validate(); err != nil {
		return nil, err
	}
	// A power of two of stripes, each of many neighbourhoods.
	n := min(maxStripes, 1<<max(0, bits.Len(uint(maxKeys))-11))
	l := &Limiter{compiled, maphash.MakeSeed(), make([]stripe, n), 64 - bits.TrailingZeros(uint(n))}
	tags, cells := make([]byte, maxKeys), make([]byte, maxKeys*cellSize) // in one piece, as many would be rounded up
	from := 0
	for i := range l.stripes {
		to := from + (maxKeys+i)/n // the sum is maxKeys
		l.stripes[i].tags, l.stripes[i].cells = tags[from:to], cells[from*cellSize:to*cellSize]
		l.stripes[i].large = map[int][]byte{}
		from = to
	}
	return l, nil
}

// Take decides on a request of the key at the given time and charges it to all
// limits, or, if one of them refuses, to none. It is TakeN with a cost of 1.
func (l *Limiter) Take(key string, now time.Time) Decision { return l.TakeN(key, now, 1) }

// TakeN is Take for a request that weighs cost units. A cost that is not in
// 1..MaxRequests is never admitted.
func (l *Limiter) TakeN(key string, now time.Time, cost int64) Decision {
	return l.do(key, now, cost, true)
}

// Peek answers as Take would, and changes nothing.
func (l *Limiter) Peek(key string, now time.Time) Decision { return l.PeekN(key, now, 1) }

// PeekN answers as TakeN would, and changes nothing.
func (l *Limiter) PeekN(key string, now time.Time, cost int64) Decision {
	return l.do(key, now, cost, false)
}

// Pending returns, for each limit, the units that the key has used within the
// last window; see [Table.Pending].
func (l *Limiter) Pending(key string, now time.Time) []int64 {
	s, hash := l.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := instant(now)
	states := s.find(hash).live(at)
	var pending []int64
	for i, a := range l.limits.algorithms {
		own := states
		if len(l.limits.algorithms) > 1 {
			own = state(states, l.limits.ids[i])
		}
		pending = append(pending, a.pending(own, at))
	}
	return pending
}

// Tracked counts the keys whose quota is not whole at the given time, or has
// been for less than 132 ms. It looks at all of them.
func (l *Limiter) Tracked(now time.Time) (n int) {
	at := instant(now)
	for i := range l.stripes {
		n += l.stripes[i].tracked(at)
	}
	return n
}

func (l *Limiter) stripe(key string) (*stripe, uint64) {
	hash := max(1, maphash.String(l.seed, key))
	return &l.stripes[hash>>l.shift], hash
}

func (l *Limiter) do(key string, now time.Time, cost int64, commit bool) Decision {
	if cost < 1 || cost > MaxRequests {
		return Decision{Limit: l.limits.capacity(), RetryAfter: Never}
	}
	s, hash := l.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.take(l.limits, hash, instant(now), cost, commit)
}

// instant is the door for the time of day. Its resolution is a microsecond, and
// its range 570 years around 1970: the zero time is out of it.
func instant(t time.Time) Instant { return Instant(t.UnixMicro()).clamp() }
