// Package limiter decides whether a request fits into its limits, exactly, and
// keeps what it must remember in a bounded table. It is pure: the time is an
// argument, and nothing here reads a clock, does I/O or starts a goroutine.
//
// A [Limit] says how many units fit into a window. [Limits] are those that one
// key is held to together. A [Table] keeps the windows of many keys, each under
// its [Fingerprint], in a number of shards over a [Store]: the memory of this
// process ([Memory]), or a proxy's shared data. A request is a list of charges:
//
//	table.Take(now, []limiter.Charge{{Key: table.Fingerprint(key), Limits: limits, Cost: 1}})
//
// and either every [Charge] is recorded or none is. Each gets a [Decision],
// whose RetryAfter is a promise: whoever waits that long is admitted, if nobody
// else used the key meanwhile.
//
// A program that limits keys in its own memory needs [New] and nothing else:
//
//	l, err := limiter.New(100_000, limiter.Limit{Requests: 100, Window: time.Minute})
//	d := l.Take(user, time.Now())
//
// A [Limiter] holds all keys to the same limits, and each in a cell of its own
// in this process. A Table has what a proxy needs besides: several keys in one
// request, each with other limits, and windows that others share.
//
// # Which algorithm
//
// They all answer with the same Decision. Space is that of one limit's state,
// without the entry of about 18 bytes around it; n is the number of requests in
// the window, at most the limit.
//
//	algorithm        space           time   at most in a window      refuses without need
//	sliding_log      10 + 3..5·n     O(1)*  limit: exact             never
//	sliding_buckets  10 + 3..5·slots O(1)*  limit                    for up to one slot
//	sliding_counter  9..17 bytes     O(1)   2·limit-1: an estimate   if the traffic was uneven
//	token_bucket     9..19 bytes     O(1)   burst + limit            never, by its own rule
//	leaky_bucket     the same bucket by its other name (GCRA)
//	fixed_window     8..12 bytes     O(1)   2·limit, in a moment     never, by its own rule
//
//	* amortised: each event is dropped once. What is copied when a state is
//	  stored is its space.
//
// Take [SlidingLog] unless its space hurts: it does what people think a limit
// does. Take [SlidingBuckets] for long windows and large limits. Take
// [TokenBucket] where a steady rate matters more than the count in any window.
// [SlidingCounter] and [FixedWindow] are for those who must behave as another
// system does.
//
// # How a request is decided
//
// Take loads the shard of each key once, lets each limit's algorithm turn the
// encoded state it finds into a decision and a next state, and swaps the
// changed shards only if everything admits: a refused request leaves no trace. If
// somebody else has changed a shard meanwhile it is loaded and decided again;
// should it then refuse, what was charged before is given back. [Table.Refund]
// gives back later what a request was charged that others have refused then.
//
// Charges of one key may have other Limits, as those of an old and a new
// configuration have, which serve side by side for a while. Limits that both
// have are one. Each other limit counts what was charged to it: what is admitted
// under either holds its own limits, and both together admit at most the sum. The
// states of Limits that do not come back are dropped once they mean nothing any
// more. At most 16 that the latest charge does not know are kept.
//
// # Time
//
// An [Instant] is a whole number of microseconds; what is finer is cut off at
// the door, and everything behind is exact. A time that is earlier than the
// latest request of a key, as concurrent workers and unsorted logs have it, is
// taken as the time of that request (by slots and aligned windows: as the
// beginning of its slot or window) if it is earlier by no more than the window,
// or than a bucket takes to refill. A step forward is time that has passed.
//
// A greater step back means that the clock was set: the window is then moved to
// the new time with all that is in it, so that the step gives nothing away, and
// the key is usable again soon: within one window, and two slots more or, by a
// sliding counter, one window more. [FixedWindow] alone does not hold what it
// promises then, as its windows are those of the clock: who sets it back to just
// before the end of one has the next at once.
//
// A proxy's clock is steady and cannot be set. There a time that is earlier by
// more than the window is of a worker that was held up after it had read the
// clock, while others went on, and moving the window back to it would give away
// what they have used. A table that is told so by [TableOptions] takes every
// time that is up to an hour earlier as that of the latest request. A
// [Limiter] is given the time of day, which can be set.
//
// Clocks that disagree by more than a window, or a log that is out of order by
// more, therefore cannot be limited exactly by a table without Steady. And a key
// that has been idle for its window is forgotten by the time of whichever
// request or sweep comes next to its shard, which may be 65 ms ahead of others
// and no more: a worker that is later than that and finds its key forgotten is
// admitted at the time that it read.
package limiter
