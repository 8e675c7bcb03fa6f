package limiter

import "time"

// A Limiter holds many keys to the same limits, in the memory of this process.
// It is the whole of this package behind one call, for programs that need no
// more. It is safe for concurrent use, and bounded: see [Table] for what happens
// when more keys come than it tracks.
type Limiter struct {
	table  *Table
	limits *Limits
}

// New returns a Limiter that tracks at most maxKeys keys at a time.
func New(maxKeys int, limits ...Limit) (*Limiter, error) {
	compiled, err := NewLimits(limits...)
	if err != nil {
		return nil, err
	}
	options := TableOptions{MaxKeys: maxKeys, Seed: NewSeed()}
	if err := options.validate(); err != nil {
		return nil, err
	}
	table, err := NewTable(NewMemory(Shards(maxKeys)), options)
	return &Limiter{table, compiled}, err
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
	pending, _ := l.table.Pending(instant(now), l.table.options.Seed.fingerprint(key), l.limits, nil)
	return pending // the error would be of a store that can fail
}

// Tracked counts the keys whose quota is not whole at the given time.
func (l *Limiter) Tracked(now time.Time) int {
	tracked, _ := l.table.Tracked(instant(now))
	return tracked
}

// sweepEvery is how many requests go by until one also sweeps a shard: often
// enough that idle keys are gone long before the table has seen as many new.
const sweepEvery = 16

func (l *Limiter) do(key string, now time.Time, cost int64, commit bool) Decision {
	r := l.table.requests.Get().(*request)
	defer l.table.requests.Put(r)
	c := &r.single[0]
	c.Key, c.Limits, c.Cost = l.table.options.Seed.fingerprint(key), l.limits, cost
	at := instant(now)
	if _, err := r.do(l.table, at, r.single[:], commit); err != nil {
		return Decision{Limit: l.limits.capacity(), RetryAfter: Never} // a cost out of range
	}
	if r.turn++; commit && r.turn%sweepEvery == 0 {
		_, _ = r.sweep(l.table, at, 1)
	}
	return c.Decision
}

// instant is the door for the time of day. Its resolution is a microsecond.
func instant(t time.Time) Instant { return Instant(t.UnixMicro()).clamp() }
