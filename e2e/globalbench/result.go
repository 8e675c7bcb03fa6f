package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// A result is of one round: two quantiles of the latency, and Envoy's CPU time
// for a request.
type result struct{ p50, p99, cpu time.Duration }

// results are those of each contender, round by round.
type results map[string][]result

// The columns of a result.
func p50(r result) time.Duration { return r.p50 }
func p99(r result) time.Duration { return r.p99 }
func cpu(r result) time.Duration { return r.cpu }

// print writes the table. What is added is above no filter in the same round, and
// a ratio is of the medians of what two contenders add.
func (all results) print(w io.Writer) {
	fmt.Fprintf(w, "| µs | p50 | p99 | added p50 | ÷ native | added p99 | ÷ native | CPU of Envoy added | ÷ native |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, c := range contenders {
		fmt.Fprintf(w, "| %s | %s | %s |", c.name, micro(median(all.column(c.name, p50))), micro(median(all.column(c.name, p99))))
		for _, of := range []func(result) time.Duration{p50, p99, cpu} {
			if c.name == noFilter {
				fmt.Fprintf(w, " | |")
				continue
			}
			added, least := all.added(c.name, of), all.added(native, of)
			fmt.Fprintf(w, " %s | %.2f |", micro(added), float64(added)/float64(least))
		}
		fmt.Fprintln(w)
	}
}

// added is the median of what a contender adds to no filter.
func (all results) added(name string, of func(result) time.Duration) time.Duration {
	each, base := all.column(name, of), all.column(noFilter, of)
	for i := range each {
		each[i] -= base[i]
	}
	return median(each)
}

func (all results) column(name string, of func(result) time.Duration) (each []time.Duration) {
	for _, r := range all[name] {
		each = append(each, of(r))
	}
	return each
}

// median is the upper one of two in the middle.
func median(all []time.Duration) time.Duration {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}

func micro(d time.Duration) string { return fmt.Sprintf("%.0f", float64(d)/1000) }
