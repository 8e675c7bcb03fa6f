package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/load"
)

// A bound is what is documented of one limit: so many windows on end hold at
// most each units a window, and once so many more. A refusal is the fault of
// at least limit units that are younger than blame.
type bound struct {
	limit      int
	window     time.Duration
	each, once int
	blame      time.Duration
}

// A span is a request as its client knows it: since the load began, when it was
// sent and when it was answered.
type span struct{ sent, answered time.Duration }

// tick is the resolution of the limiter. It cuts times down, so that two times
// less than a window apart by this much are less than a window apart to it,
// and two that are a window apart may be so by one tick more or less.
const tick = time.Microsecond

// checkBound checks one window, and two, four and so on end to end: in many, a
// few too many in each add up to more than the uncertainty at the two ends.
func checkBound(t *testing.T, admitted []span, b bound) {
	t.Helper()
	from, to := ends(admitted)
	for windows := 1; windows == 1 || time.Duration(windows)*b.window < to-from; windows *= 2 {
		most, bound := mostWithin(admitted, time.Duration(windows)*b.window), windows*b.each+b.once
		if most > bound {
			t.Errorf("%d admitted within %d windows of %v, documented are %d", most, windows, b.window, bound)
		}
		t.Logf("%d windows of %v: at least %d admitted, at most %d are documented", windows, b.window, most, bound)
	}
}

// ends are the first time that something was sent, and the last of an answer.
func ends(spans []span) (from, to time.Duration) {
	for i, s := range spans {
		if i == 0 || s.sent < from {
			from = s.sent
		}
		to = max(to, s.answered)
	}
	return from, to
}

// mostWithin returns the largest number of requests of which it is certain that
// they were decided within less than a window: the last of them was answered
// less than a window after the first was sent.
func mostWithin(spans []span, window time.Duration) (most int) {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return int(a.sent - b.sent) })
	for i, first := range spans {
		last, n := first.sent+window-tick, 0
		for _, s := range spans[i:] {
			if s.sent > last {
				break
			}
			if s.answered <= last {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// needless counts the refusals of which it is certain that no limit was to
// blame: at no time between sending and the answer can the units to blame for
// it have been as many as the limit.
func needless(admitted, refused []span, bounds []bound) (n int) {
	var sent, answered []time.Duration
	for _, s := range admitted {
		sent, answered = append(sent, s.sent), append(answered, s.answered)
	}
	slices.Sort(sent)
	slices.Sort(answered)
	upTo := func(times []time.Duration, t time.Duration) int {
		i, _ := slices.BinarySearch(times, t+1)
		return i
	}
	for _, r := range refused {
		if !slices.ContainsFunc(bounds, func(b bound) bool {
			// What was sent after the answer was not there yet, and what was
			// answered so long before has left.
			return upTo(sent, r.answered+tick)-upTo(answered, r.sent-b.blame-tick) >= b.limit
		}) {
			n++
		}
	}
	return n
}

// latency is the quantile of how long answers took.
func latency(quantile float64, groups ...[]span) time.Duration {
	var all load.Latencies
	for _, spans := range groups {
		for _, s := range spans {
			all = append(all, s.answered-s.sent)
		}
	}
	slices.Sort(all)
	return all.Quantile(quantile).Round(10 * time.Microsecond)
}

// TestHotKeyChecks shows what the checks of [TestHotKey] let pass and what not,
// with a limit of 2 in 10 ms.
func TestHotKeyChecks(t *testing.T) {
	const ms, µs = time.Millisecond, time.Microsecond
	at := func(t time.Duration) span { return span{t, t} }
	for name, test := range map[string]struct {
		admitted, refused []span
		most, needless    int
	}{
		"nothing":                            {},
		"two at once":                        {admitted: []span{at(0), at(0)}, most: 2},
		"three at once":                      {admitted: []span{at(0), at(0), at(0)}, most: 3},
		"a third in the last microsecond":    {admitted: []span{at(5 * ms), at(0), at(10*ms - µs)}, most: 3},
		"a third a window after the first":   {admitted: []span{at(10 * ms), at(0), at(0)}, most: 2},
		"a third that may be as late":        {admitted: []span{at(0), at(0), {9 * ms, 10 * ms}}, most: 2},
		"a third that may be as early":       {admitted: []span{{0, 2 * ms}, at(3 * ms), at(11 * ms)}, most: 2},
		"a third that cannot be so late":     {admitted: []span{{0, 2 * ms}, {3 * ms, 4 * ms}, {5 * ms, 9 * ms}}, most: 3},
		"a third too many in a later window": {admitted: []span{at(0), at(0), at(20 * ms), {21 * ms, 29 * ms}, {22 * ms, 28 * ms}}, most: 3},
		"one that was long on its way":       {admitted: []span{{0, 50 * ms}, at(1 * ms), at(2 * ms)}, most: 2},
		"refused beside two":                 {admitted: []span{at(0), at(0)}, refused: []span{at(9 * ms)}, most: 2},
		"refused beside one":                 {admitted: []span{at(0)}, refused: []span{at(9 * ms)}, most: 1, needless: 1},
		"refused after they have left":       {admitted: []span{at(0), at(0)}, refused: []span{at(10*ms + µs)}, most: 2, needless: 1},
		"refused as they leave":              {admitted: []span{at(0), at(0)}, refused: []span{{10 * ms, 11 * ms}}, most: 2},
		"refused before they came":           {admitted: []span{at(5 * ms), at(5 * ms)}, refused: []span{{1 * ms, 4 * ms}, {1 * ms, 5 * ms}}, most: 2, needless: 1},
		"refused when the second may be in":  {admitted: []span{at(0), {3 * ms, 9 * ms}}, refused: []span{{1 * ms, 4 * ms}}, most: 2},
	} {
		if most := mostWithin(test.admitted, 10*ms); most != test.most {
			t.Errorf("%s: %d within a window, want %d", name, most, test.most)
		}
		n := needless(test.admitted, test.refused, []bound{{2, 10 * ms, 2, 0, 10 * ms}})
		if n != test.needless {
			t.Errorf("%s: %d refused without need, want %d", name, n, test.needless)
		}
	}
	two := []span{at(0), at(0)}
	if n := needless(two, []span{at(1 * ms)}, []bound{{3, 10 * ms, 3, 0, 10 * ms}, {2, 10 * ms, 2, 0, 10 * ms}}); n != 0 {
		t.Error("of two limits only one must be to blame")
	}
}
