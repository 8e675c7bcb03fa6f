package replay

import "github.com/weirproxy/weir/limiter"

// A window is one limit of the rule, with the requests by their levels, each
// counted as often as its client stands for.
type window struct {
	limiter.Limit
	levels []int64
	total  int64
}

// until is when a request that is admitted at a time no longer counts. For a
// sliding log, for one of slots and for windows of the clock that follows from
// the time alone, and so levels are exact. For the others it is what a sliding
// log says.
func (w *window) until(at int64) int64 {
	length := w.Window.Microseconds()
	switch w.Algorithm {
	case limiter.FixedWindow:
		return floor(at, length) + length
	case limiter.SlidingBuckets:
		slots := int64(w.Buckets)
		if slots == 0 {
			slots = limiter.DefaultBuckets
		}
		slot := (length + slots - 1) / slots
		return floor(at, slot) + slot - 1 + length // it came at the end of its slot
	}
	if w.Inclusive {
		length++
	}
	return at + length
}
