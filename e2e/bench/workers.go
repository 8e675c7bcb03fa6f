package main

import (
	"context"
	"fmt"
)

// workers measures what sharing windows between workers costs: all of them on
// one key, and on many. Each number of workers is an Envoy of its own, compared
// with its own listener without a filter.
func workers(ctx context.Context, o options) error {
	free := rule("hot", `{"requests": 1000000000, "window": "1s", "algorithm": "sliding_buckets", "buckets": 10}`)
	contenders := []contender{
		{name: noFilter, keys: manyKeys, status: 200},
		weir("one hot key", configuration("", free), 1, 200),
		weir("spread keys", configuration("", free), manyKeys, 200),
	}
	fmt.Printf("\n| above no filter, µs | one hot key | spread keys |\n|---|---:|---:|\n")
	for _, n := range []int{1, 2, 4} {
		all, err := measure(ctx, n, contenders, o)
		if err != nil {
			return err
		}
		fmt.Printf("| %d workers | %s | %s |\n", n, micro(quantile(all.above("one hot key", noFilter), 0.5)), micro(quantile(all.above("spread keys", noFilter), 0.5)))
	}
	return nil
}
