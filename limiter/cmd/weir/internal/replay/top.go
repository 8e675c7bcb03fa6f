package replay

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// Keys are counted in maxCounted places, and topKeys of them are reported.
const (
	maxCounted = 1000
	topKeys    = 20
)

// top counts the keys that are refused most, in a fixed number of places. A key
// that has none takes the place of the one with the smallest count, and goes on
// from that count, which is the most that it can have had before: so that no
// key which was refused more often than that is ever lost. (Space-Saving, by
// Metwally, Agrawal and El Abbadi, 2005.)
type top struct {
	byKey map[limiter.Fingerprint]*counted
	heap  leastFirst
}

// A counted is one key.
type counted struct {
	key         limiter.Fingerprint
	text        string
	count, over int64 // the truth lies between count-over and count
	place       int   // in the heap
}

func newTop() *top { return &top{byKey: map[limiter.Fingerprint]*counted{}} }

// add counts a refusal of a key. Its text is asked for if it is new.
func (t *top) add(key limiter.Fingerprint, text func() string) {
	c := t.byKey[key]
	switch {
	case c != nil:
	case len(t.heap) < maxCounted:
		c = &counted{key: key, text: text()}
		heap.Push(&t.heap, c)
		t.byKey[key] = c
	default:
		c = t.heap[0]
		delete(t.byKey, c.key)
		c.key, c.text, c.over = key, text(), c.count
		t.byKey[key] = c
	}
	c.count++
	heap.Fix(&t.heap, c.place)
}

// keys returns the first of them, most first.
func (t *top) keys() (keys []report.Key) {
	all := slices.Clone(t.heap)
	slices.SortFunc(all, func(a, b *counted) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.text, b.text))
	})
	for _, c := range all[:min(topKeys, len(all))] {
		keys = append(keys, report.Key{Key: c.text, Refused: c.count - c.over, AtMost: c.count})
	}
	return keys
}

// leastFirst is a heap, as container/heap wants it.
type leastFirst []*counted

func (h leastFirst) Len() int           { return len(h) }
func (h leastFirst) Less(i, j int) bool { return h[i].count < h[j].count }

func (h leastFirst) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *leastFirst) Push(x any) {
	c := x.(*counted)
	c.place = len(*h)
	*h = append(*h, c)
}

// Pop implements heap.Interface. Nothing is ever taken out.
func (h *leastFirst) Pop() any { panic("replay: a counted key is never taken out") }
