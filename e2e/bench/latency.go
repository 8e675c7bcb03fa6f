package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/weirproxy/weir/e2e/load"
)

// The fixed rate at which latency is measured, and for how long in each round.
const (
	perSecond   = 2000
	roundLasts  = 3 * time.Second
	rateClients = 8
)

// latency measures how long answers take at a fixed rate, with and without
// filters, from when each request was due.
func latency(ctx context.Context, o options) error {
	contenders := []contender{
		{name: noFilter, keys: manyKeys, status: 200},
		{name: nativeAdmit, filters: []any{native(nativeAdmit, 1_000_000)}, keys: manyKeys, status: 200},
		floor(admitFloor, "e2e/floor/admit.wasm", 200),
		weir(weirAdmit, admitting(1, ""), manyKeys, 200),
	}
	b, err := startBench(ctx, 1, contenders)
	if err != nil {
		return err
	}
	quantiles, err := b.latencies(ctx, contenders, o)
	if err := b.stop(err); err != nil {
		return err
	}
	fmt.Printf("\n| latency at %d/s, µs | p50 | p99 | p99.9 | p99 ÷ no filter |\n|---|---:|---:|---:|---:|\n", perSecond)
	for _, c := range contenders {
		var medians [3]time.Duration
		var ratios []float64
		for i := range medians {
			medians[i] = quantile(quantiles[c.name][i], 0.5)
		}
		for round, p99 := range quantiles[c.name][1] {
			ratios = append(ratios, float64(p99)/float64(quantiles[noFilter][1][round]))
		}
		fmt.Printf("| %s | %s | %s | %s | %.2f |\n", c.name, micro(medians[0]), micro(medians[1]), micro(medians[2]), quantile(ratios, 0.5))
	}
	return nil
}

// latencies has, for each contender, the three quantiles of each round.
func (b *bench) latencies(ctx context.Context, contenders []contender, o options) (map[string][3][]time.Duration, error) {
	all := map[string][3][]time.Duration{}
	for _, c := range contenders {
		if err := b.fill(ctx, c, max(c.keys, o.requests)); err != nil {
			return nil, err
		}
	}
	for round := range o.rounds {
		fmt.Fprintf(os.Stderr, "\r\033[Kround %d of %d", round+1, o.rounds)
		for _, i := range rand.Perm(len(contenders)) {
			c := contenders[i]
			source := func(int) (load.Request, bool) { return b.request(c), true }
			took, _, err := load.AtRate(ctx, b.addrs[c.name], rateClients, perSecond, roundLasts, source)
			if err != nil {
				return nil, err
			}
			each := all[c.name]
			for i, q := range []float64{0.5, 0.99, 0.999} {
				each[i] = append(each[i], took.Quantile(q))
			}
			all[c.name] = each
		}
	}
	fmt.Fprintln(os.Stderr)
	return all, nil
}
