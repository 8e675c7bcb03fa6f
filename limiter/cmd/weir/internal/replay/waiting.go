package replay

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// maxWaiting is how many requests can wait for their responses. Beyond that the
// one that is due next is settled at once.
const maxWaiting = 1 << 20

// waiting are the charges that wait for the responses to their requests, in the
// order in which these come.
type waiting struct {
	heap firstDue
	made int64
}

// A wait is for one response.
type wait struct {
	until    limiter.Instant
	number   int64 // in the order of the requests
	deferred []policy.Deferred
	response policy.Response
}

// add keeps charges, whose memory is the caller's, until a time.
func (w *waiting) add(until limiter.Instant, deferred []policy.Deferred, response policy.Response) {
	w.made++
	heap.Push(&w.heap, wait{until, w.made, slices.Clone(deferred), response})
}

// due returns the next wait that is over by a time, or is one too many.
func (w *waiting) due(now limiter.Instant) (wait, bool) {
	if len(w.heap) == 0 || w.heap[0].until > now && len(w.heap) <= maxWaiting {
		return wait{}, false
	}
	return heap.Pop(&w.heap).(wait), true
}

// firstDue is a heap, as container/heap wants it.
type firstDue []wait

func (h firstDue) Len() int      { return len(h) }
func (h firstDue) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h firstDue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].until, h[j].until), cmp.Compare(h[i].number, h[j].number)) < 0
}

// Push implements heap.Interface.
func (h *firstDue) Push(x any) { *h = append(*h, x.(wait)) }

// Pop implements heap.Interface.
func (h *firstDue) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = wait{}
	*h = (*h)[:last]
	return x
}
