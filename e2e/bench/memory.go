package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/weirproxy/weir/e2e/load"
)

// memory measures what the module takes before it has any keys: megabytes of
// Envoy above one without a filter, and the time until it is ready.
func memory(ctx context.Context, o options) error {
	size, err := os.Stat(module)
	if err != nil {
		return err
	}
	fmt.Printf("\nThe module has %.2f MB.\n\n| workers | MB above no filter | ready after, s | without, s |\n|---|---:|---:|---:|\n", float64(size.Size())/1e6)
	plain := contender{name: noFilter, status: 200}
	with := weir(weirAdmit, admitting(1, ""), manyKeys, 200)
	for _, workers := range []int{1, 2, 4, 8} {
		var over []int64
		var ready, readyPlain []time.Duration
		for range min(o.rounds, 3) {
			less, tookPlain, err := footprint(ctx, workers, plain)
			if err != nil {
				return err
			}
			more, took, err := footprint(ctx, workers, with)
			if err != nil {
				return err
			}
			over, ready, readyPlain = append(over, more-less), append(ready, took), append(readyPlain, tookPlain)
		}
		fmt.Printf("| %d | %.0f | %.1f | %.1f |\n", workers, float64(quantile(over, 0.5))/1e6,
			quantile(ready, 0).Seconds(), quantile(readyPlain, 0).Seconds())
	}
	return nil
}

// footprint starts an Envoy, lets every worker serve some requests of few keys,
// and returns its memory and how long it took to be ready.
func footprint(ctx context.Context, workers int, c contender) (rss int64, ready time.Duration, err error) {
	begin := time.Now()
	b, err := startBench(ctx, workers, []contender{c})
	if err != nil {
		return 0, 0, err
	}
	ready = time.Since(begin)
	sent := make([]int, 8*workers)
	_, err = load.Flood(ctx, b.addrs[c.name], len(sent), depth, func(conn int) (load.Request, bool) {
		sent[conn]++
		return load.Request{Path: "/", Headers: [][2]string{{"x-key", fmt.Sprint("user-", conn)}}}, sent[conn] <= 500
	})
	if err == nil {
		rss, err = b.envoy.RSS()
	}
	return rss, ready, b.stop(err)
}
