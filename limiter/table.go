package limiter

import (
	"errors"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// What Take reports besides the errors of its Store. In both cases nothing is
// charged, save that a charge which could not be given back stays charged.
var (
	// ErrConflict says that others changed a shard again and again.
	ErrConflict = errors.New("gave up after too many conflicting updates")

	// ErrFull says that the key is new, that there is no room for it, and that
	// the table is set to refuse such keys.
	ErrFull = errors.New("no room for a new key")
)

// attempts bounds how often one shard is decided anew after conflicts. Each
// attempt is a few microseconds in which no other worker may finish one.
const attempts = 64

// TableOptions are the size of a table and what it does when it is full.
type TableOptions struct {
	// MaxKeys is the largest number of keys that are tracked at a time,
	// 1..MaxMaxKeys. If it is lowered, entries beyond it go as they expire.
	// Keys are spread at random over shards of 16 to 31 keys, and a shard can be
	// full before the table is: give twice the number of keys that you expect to
	// be live, and next to none will be forced out.
	MaxKeys int

	// DenyWhenFull makes Take fail with ErrFull where a new key finds no
	// room; else such a key is admitted and not counted.
	DenyWhenFull bool

	// Steady says that all times are of one clock that never steps, such as
	// that of a proxy. A time that is earlier than the latest of its key is then
	// of a worker that was held up after it had read the clock, for up to an hour,
	// and is taken as that latest time. To move the window back to it, as is done
	// otherwise where it is earlier by more than the window, would make the
	// window pass once more, and give all of the quota away a second time. Where
	// it is earlier by more than an hour, and than the window, that is done here
	// too: the key was not written by this clock.
	Steady bool

	// Seed must be the same for all tables over one Store.
	Seed Seed
}

// MaxMaxKeys is the largest MaxKeys.
const MaxMaxKeys = 1 << 30

func (o TableOptions) validate() error {
	if o.MaxKeys < 1 || o.MaxKeys > MaxMaxKeys {
		return brief.Errorf("max keys %d is not in 1..%d", o.MaxKeys, MaxMaxKeys)
	}
	return nil
}

// A Table keeps the windows of many keys in the shards of a Store. It holds
// no state but a place for the next Sweep, so that any number of tables over
// one Store and with the same options are one table. It is safe for concurrent
// use if its Store is.
//
// A key costs nothing once its quota is whole again: its entry vanishes when
// a new key comes to its shard, or the shard is swept. When a shard is full, a new key takes
// the place of the entry that had used the smallest fraction of its limit when
// it was last charged, but never of one that had reached it. After the clock is
// set back an idle entry, or what other Limits have left in one, stays until the
// clock is where it was.
type Table struct {
	store    Store
	options  TableOptions
	shards   uint32
	shift    int // a fingerprint's shard is what this shift leaves of it
	sweep    atomic.Uint32
	idle     atomic.Pointer[request] // one that is free, for its memory
	requests sync.Pool               // of *request: more of them
}

// NewTable returns a table over a Store.
func NewTable(store Store, options TableOptions) (*Table, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	t := &Table{store: store, options: options, shards: Shards(options.MaxKeys)}
	t.shift = 64 - bits.TrailingZeros32(t.shards)
	t.requests.New = func() any { return new(request) }
	return t, nil
}

// Shards returns the number of shards of a table of at most maxKeys keys: the
// power of two that gives each room for 16 to 31 keys. Within one power of two
// a table can be given another size and keeps all its windows.
func Shards(maxKeys int) uint32 {
	return 1 << max(0, bits.Len(uint(maxKeys))-5)
}

// Shards is the number of shards, which are numbered from 0.
func (t *Table) Shards() uint32 { return t.shards }

// Fingerprint returns the fingerprint of a key under the table's seed.
func (t *Table) Fingerprint(key []byte) Fingerprint { return t.options.Seed.Fingerprint(key) }

func (t *Table) shardOf(key Fingerprint) uint32 { return uint32(key >> t.shift) }

// capacity is the number of keys that a shard may hold. The capacities of all
// shards add up to MaxKeys.
func (t *Table) capacity(shard uint32) int {
	capacity, rest := t.options.MaxKeys/int(t.shards), t.options.MaxKeys%int(t.shards)
	if int(shard) < rest {
		capacity++
	}
	return capacity
}

// A Result is what a request came to.
type Result struct {
	// Admitted says whether the request passes: every charge that is not in
	// shadow allows it, and all that allow it are recorded, save those that
	// the table was too Full for.
	Admitted bool

	// Conflicts counts the times that a shard was changed by others between
	// its load and its swap and was decided anew.
	Conflicts int

	// Corrupt counts the values that could not be decoded, and read as empty.
	Corrupt int

	// Lost counts the charges that were to be given back after a conflict and
	// could not be, because the Store failed or conflicted to the end. Such a
	// key is refused early, never late.
	Lost int
}

// Take decides a request at the given time and, if every charge that is not in
// shadow allows it, records all charges that do; otherwise it records none.
// The answers are in the charges. Without conflicts it costs one Load for each
// shard, and if the request is admitted one Swap.
//
// Two charges in one request can meet another request in the opposite order of
// arrival. Then it may happen that both are refused where one could have been
// admitted; it never happens that a limit is exceeded.
func (t *Table) Take(now Instant, charges []Charge) (Result, error) {
	return t.do(now, charges, true)
}

// Peek answers as Take would, and records nothing.
func (t *Table) Peek(now Instant, charges []Charge) (Result, error) {
	return t.do(now, charges, false)
}

// Refund gives back what the charges of an admitted request have recorded,
// which must not have been given back before: as if it had never come, save for
// what a bucket would have drained in vain (see the package comment). It costs a
// Load and a Swap for each shard. Charges that could not be given back, because
// the Store failed or conflicted to the end, are Lost, and stay charged.
func (t *Table) Refund(now Instant, charges []Charge) Result {
	r := t.request()
	result := r.undo(t, now.clamp(), charges)
	t.release(r)
	return result
}

func (t *Table) do(now Instant, charges []Charge, commit bool) (Result, error) {
	r := t.request()
	result, err := r.do(t, now.clamp(), charges, commit)
	t.release(r)
	return result, err
}

// request returns one with the memory of an earlier one. Where one goroutine
// uses the table that is always the same; the pool is for more of them.
func (t *Table) request() *request {
	if r := t.idle.Swap(nil); r != nil {
		return r
	}
	return t.requests.Get().(*request)
}

// release takes a request back, without what belongs to the caller or the
// Store. One that panicked is not given back.
func (t *Table) release(r *request) {
	r.forget()
	if !t.idle.CompareAndSwap(nil, r) {
		t.requests.Put(r)
	}
}

// Pending appends to dst, for each limit in order, the number of units that
// key has used within the last window: those whose age is less than it. It
// costs one Load and changes nothing.
func (t *Table) Pending(now Instant, key Fingerprint, limits *Limits, dst []int64) ([]int64, error) {
	now = now.clamp()
	value, _, err := t.store.Load(t.shardOf(key), nil)
	if err != nil {
		return dst, err
	}
	e, _ := find(value, key, now)
	for i, a := range limits.algorithms {
		dst = append(dst, a.pending(state(e.states, limits.ids[i]), now))
	}
	return dst, nil
}
