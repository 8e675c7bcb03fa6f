package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Latencies are how long answers took, in ascending order.
type Latencies []time.Duration

// Quantile returns the latency that the fraction q of all did not exceed, by
// the nearest rank: 0.5 is the median. It is 0 if there are none.
func (l Latencies) Quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	rank := int(q*float64(len(l))+0.999999) - 1
	return l[min(max(rank, 0), len(l)-1)]
}

// AtRate sends so many requests a second for some time, evenly over so many
// connections, one in flight on each. A latency counts from when the request was
// due: what has to wait because the server is slow is not forgiven (what is
// called coordinated omission). The source must not end.
func AtRate(ctx context.Context, addr string, connections, perSecond int, d time.Duration, source Source) (Latencies, Tally, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	start := time.Now()
	interval := time.Second * time.Duration(connections) / time.Duration(perSecond)
	latencies := make([]Latencies, connections)
	tallies := make([]Tally, connections)
	errs := make([]error, connections)
	var wg sync.WaitGroup
	for i := range connections {
		wg.Go(func() {
			first := start.Add(interval * time.Duration(i) / time.Duration(connections))
			next := func() Request { r, _ := source(i); return r }
			latencies[i], tallies[i], errs[i] = atRate(ctx, addr, first, interval, next)
		})
	}
	wg.Wait()
	all, total := slices.Concat(latencies...), Tally{}
	slices.Sort(all)
	for _, t := range tallies {
		total.Add(t)
	}
	return all, total, errors.Join(errs...)
}

// atRate is AtRate on one connection, whose requests are due at even intervals.
func atRate(ctx context.Context, addr string, due time.Time, interval time.Duration, next func() Request) (Latencies, Tally, error) {
	conn, err := Dial(addr)
	if err != nil {
		return nil, nil, err
	}
	var latencies Latencies
	tally := Tally{}
	for ; ctx.Err() == nil && err == nil; due = due.Add(interval) {
		time.Sleep(time.Until(due))
		var status int
		if status, err = conn.Do(next()); err == nil {
			latencies = append(latencies, time.Since(due))
			tally[status]++
		}
	}
	return latencies, tally, errors.Join(err, conn.Close())
}
