package limiter

// SlidingBuckets cuts the window into a number of slots and remembers one
// count for each that was used. A slot counts until all of it has left, so
// that no window ever holds more than the limit; a unit is given back up to
// one slot late.
//
// Time: O(1) amortised. Space: at most Buckets+1 counts, whatever the traffic:
// a window that does not begin where a slot does touches one more.
const SlidingBuckets Algorithm = "sliding_buckets"

// DefaultBuckets and MaxBuckets bound the slots of one window.
const (
	DefaultBuckets = 60
	MaxBuckets     = 10_000
)

// newSlidingBuckets returns a sliding log with slots of a share of the window,
// rounded up.
func newSlidingBuckets(l Limit) *slidingLog {
	buckets := int64(l.Buckets)
	if buckets == 0 {
		buckets = DefaultBuckets
	}
	a := newSlidingLog(Limit{Requests: l.Requests, Window: l.Window})
	a.slot = (a.window + buckets - 1) / buckets
	return a
}
