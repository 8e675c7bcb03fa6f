package traffic

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQueue mixes additions and removals, and holds what comes out to a sorted
// list.
func TestQueue(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		var q queue[int]
		var model [][2]int // time and number
		for n := range 300 {
			if random.IntN(5) < 3 {
				at := random.IntN(20)
				q.add(int64(at), n)
				model = append(model, [2]int{at, n})
				continue
			}
			if len(model) == 0 {
				continue
			}
			slices.SortFunc(model, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
			if got := q.take(); int(got.at) != model[0][0] || got.value != model[0][1] {
				t.Fatalf("seed %d: got %d at %d, want %v", seed, got.value, got.at, model[0])
			}
			model = model[1:]
		}
		if len(q.items) != len(model) {
			t.Fatalf("seed %d: %d are left, want %d", seed, len(q.items), len(model))
		}
	}
}
