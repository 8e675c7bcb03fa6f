package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// costs has, for each contender, what a request cost in each round.
type costs map[string][]time.Duration

// measure starts an Envoy for the contenders and runs their rounds in it.
func measure(ctx context.Context, workers int, contenders []contender, o options) (costs, error) {
	b, err := startBench(ctx, workers, contenders)
	if err != nil {
		return nil, err
	}
	all, err := b.rounds(ctx, contenders, o)
	return all, b.stop(err)
}

// rounds lets the contenders take turns, in another order each round, after
// each has been filled. What that runs is not counted: in it the runtime
// compiles what is hot, and a refusing limit is used up.
func (b *bench) rounds(ctx context.Context, contenders []contender, o options) (costs, error) {
	for _, c := range contenders {
		fmt.Fprintf(os.Stderr, "\r\033[Kfilling: %s", c.name)
		if err := b.fill(ctx, c, max(c.fill, c.keys, o.requests)); err != nil {
			return nil, err
		}
	}
	all := costs{}
	for round := range o.rounds {
		fmt.Fprintf(os.Stderr, "\r\033[Kround %d of %d", round+1, o.rounds)
		for _, i := range rand.Perm(len(contenders)) {
			c := contenders[i]
			spent, err := b.flood(ctx, c, o.requests)
			if err != nil {
				return nil, err
			}
			all[c.name] = append(all[c.name], spent)
		}
	}
	fmt.Fprintln(os.Stderr)
	return all, nil
}

// above returns what a contender cost more than another, round by round.
func (c costs) above(name, base string) []time.Duration {
	var differences []time.Duration
	for i, spent := range c[name] {
		differences = append(differences, spent-c[base][i])
	}
	return differences
}

// ratio is the median of the ratios of two contenders in the same round, each
// above the base.
func (c costs) ratio(name, to, base string) float64 {
	over, under := c.above(name, base), c.above(to, base)
	var ratios []float64
	for i := range over {
		ratios = append(ratios, float64(over[i])/float64(under[i]))
	}
	return quantile(ratios, 0.5)
}

// quantile sorts a copy and interpolates nothing.
func quantile[T int64 | float64 | time.Duration](values []T, q float64) T {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

// micro renders a duration in microseconds.
func micro(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1000) }
