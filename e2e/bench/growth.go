package main

import (
	"context"
	"fmt"
)

// A growing is a series of contenders whose cost is compared with the first's.
type growing struct {
	what       string
	contenders []contender
}

// growth measures how the cost of an admitted request grows with what grows.
func growth(ctx context.Context, o options) error {
	fmt.Printf("\n| an admitted request with | above no filter, µs | ÷ the first |\n|---|---:|---:|\n")
	for _, g := range []growing{
		{"sliding_log, limit", limits(`{"requests": %d, "window": "1d"}`)},
		{"sliding_buckets, limit", limits(`{"requests": %d, "window": "60s", "algorithm": "sliding_buckets"}`)},
		{"live keys", liveKeys()},
		{"rules", rules()},
	} {
		if err := g.measure(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", g.what, err)
		}
	}
	return nil
}

func (g growing) measure(ctx context.Context, o options) error {
	contenders := append([]contender{{name: noFilter, keys: manyKeys, status: 200}}, g.contenders...)
	all, err := measure(ctx, 1, contenders, o)
	if err != nil {
		return err
	}
	for _, c := range g.contenders {
		fmt.Printf("| %s %s | %s | %.2f |\n", g.what, c.name, micro(quantile(all.above(c.name, noFilter), 0.5)),
			all.ratio(c.name, g.contenders[0].name, noFilter))
	}
	return nil
}

// limits are contenders whose keys have used up half of their limit when the
// first round begins, and three quarters at most when the last ends: the keys
// take their turns about evenly.
func limits(limit string) []contender {
	const rounds = 90_000 // requests in all rounds, at the most
	var each []contender
	for _, n := range []int{10, 1000, 10_000} {
		keys := 4 * rounds / n
		c := weir(fmt.Sprintf("%d, %d keys", n, keys), configuration("", rule("grow", fmt.Sprintf(limit, n))), keys, 200)
		c.fill = 2 * rounds
		each = append(each, c)
	}
	return each
}

func liveKeys() []contender {
	var each []contender
	for _, n := range []int{1000, 1_000_000} {
		each = append(each, weir(fmt.Sprint(n), configuration(`"store": {"max_keys": 2000000}, `, rule("grow", `{"requests": 100000, "window": "1d", "algorithm": "sliding_counter"}`)), n, 200))
	}
	return each
}

func rules() []contender {
	var each []contender
	for _, n := range []int{1, 2, 4, 8} {
		each = append(each, weir(fmt.Sprint(n), admitting(n, ""), manyKeys, 200))
	}
	return each
}
