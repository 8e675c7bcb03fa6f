package replay

import (
	"math/rand/v2"
	"testing"
)

// admit is the oracle: a log of one limit, which says what it refuses.
type admit struct {
	limit  int
	window int64
	log    []int64
}

func (a *admit) take(now int64) bool {
	for len(a.log) > 0 && now-a.log[0] >= a.window {
		a.log = a.log[1:]
	}
	if len(a.log) >= a.limit {
		return false
	}
	a.log = append(a.log, now)
	return true
}

// TestLevels compares with a log for each limit: a request is admitted by
// exactly the limits from its level on.
func TestLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		const window, most = 1000, 40
		var l levels
		logs := make([]admit, most)
		for i := range logs {
			logs[i] = admit{limit: i + 1, window: window}
		}
		now, rate := int64(0), 1+rng.Int64N(100)
		for step := range 500 {
			now += rng.Int64N(rate) // often 0, or right at a boundary
			if rng.IntN(20) == 0 {
				now += window
			}
			level := l.take(now, now+window)
			for i := range logs {
				if admitted := logs[i].take(now); admitted != (i+1 >= level) {
					t.Fatalf("round %d, step %d, time %d: a limit of %d says %v, and the level is %d", round, step, now, i+1, admitted, level)
				}
			}
		}
	}
}

// TestLevelsEnd beyond the highest that is told.
func TestLevelsEnd(t *testing.T) {
	var l levels
	for want := 1; want <= maxLevel; want++ {
		if got := l.take(0, 10); got != want {
			t.Fatalf("level %d, want %d", got, want)
		}
	}
	if got := l.take(9, 19); got != maxLevel+1 {
		t.Errorf("level %d, want one more than the highest", got)
	}
	if got := l.take(10, 20); got != 1 {
		t.Errorf("level %d after the window, want 1", got)
	}
}
