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
// # How a request is decided
//
// Take loads the shard of each key once, lets each limit's algorithm turn the
// encoded state it finds into a decision and a next state, and swaps the
// changed shards only if everything admits: a refusal leaves no trace. If
// somebody else has changed a shard meanwhile it is loaded and decided again;
// should it then refuse, what was charged before is given back.
//
// # Time
//
// An [Instant] is a whole number of microseconds; what is finer is cut off at
// the door, and everything behind is exact. A time that is earlier than the
// latest request of a key, as concurrent workers and unsorted logs have it, is
// taken as the time of that request if it is earlier by no more than the
// window. A greater step back means that the clock was set: the window is then
// moved to the new time with all that is in it, so that nothing is given away
// and the key is usable again within one window.
package limiter
