package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
)

// A series holds what one contender's requests cost with so many keys and
// goroutines, one cost for each round, and what they cost beside Weir's
// default algorithm in the same round.
type series struct {
	costs  []cost
	ratios []float64
}

// A cell of the speed table.
type cell struct {
	peer             string
	keys, goroutines int
}

// speed measures every contender in every round, in an order that is random in
// each: whatever else the machine does falls on all of them. One contender is
// in memory at a time, so that none pays for the garbage of another.
func speed(plan plan, progress func(string)) (map[cell]*series, error) {
	all := contenders()
	found := map[cell]*series{}
	for _, n := range plan.keys {
		keys, err := newKeys(n)
		if err != nil {
			return nil, err
		}
		for round := range plan.rounds {
			progress(fmt.Sprintf("speed: %d keys, round %d of %d", n, round+1, plan.rounds))
			for _, i := range rand.Perm(len(all)) {
				if err := measure(all[i], keys, plan.requests, found); err != nil {
					return nil, fmt.Errorf("%s, %d keys: %w", all[i].name, n, err)
				}
			}
			compare(found, n, all)
		}
	}
	return found, nil
}

// measure adds one cost of one contender: alone, and from as many goroutines
// as there are processors.
func measure(p peer, keys []string, requests int, found map[cell]*series) error {
	w, err := newWorkload(p, keys)
	if err != nil {
		return err
	}
	defer done(w.taker)
	for _, goroutines := range goroutineCounts() {
		runtime.GC()
		c, err := w.run(requests, goroutines)
		if err != nil {
			return err
		}
		at := cell{p.name, len(keys), goroutines}
		if found[at] == nil {
			found[at] = &series{}
		}
		found[at].costs = append(found[at].costs, c)
	}
	return nil
}

func goroutineCounts() []int { return []int{1, runtime.GOMAXPROCS(0)} }

// compare adds the ratios of the round that was measured last.
func compare(found map[cell]*series, keys int, all []peer) {
	for _, goroutines := range goroutineCounts() {
		weir := found[cell{all[0].name, keys, goroutines}].last()
		for _, p := range all {
			s := found[cell{p.name, keys, goroutines}]
			s.ratios = append(s.ratios, s.last()/weir)
		}
	}
}

func (s *series) last() float64 { return s.costs[len(s.costs)-1].ns }

// ns returns the nanoseconds of all rounds.
func (s *series) ns() []float64 {
	var all []float64
	for _, c := range s.costs {
		all = append(all, c.ns)
	}
	return all
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
