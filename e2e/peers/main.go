// Command peers does the same work with Weir and with the Go libraries that
// people use for it, and prints three tables: what an admitted request costs,
// what a key costs, and who admits what beside an exact window.
//
// It is a module of its own, so that nobody who uses Weir gets these libraries:
//
//	cd e2e/peers && go run .
//
// What is compared, and how it is kept fair, is in workload.go (the traffic),
// others.go (the libraries) and trace.go (the worked traces).
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

// A plan says how much is measured.
type plan struct {
	rounds     int
	keys       []int
	requests   int // in one measurement
	memoryKeys int
}

var (
	thorough = plan{rounds: 3, keys: []int{1_000, 100_000, 1_000_000}, requests: 500_000, memoryKeys: 1_000_000}
	hasty    = plan{rounds: 1, keys: []int{1_000, 20_000}, requests: 50_000, memoryKeys: 20_000}
)

func main() {
	quick := flag.Bool("quick", false, "try everything once, on little; the numbers mean nothing")
	rounds := flag.Int("rounds", 0, "how often each contender is measured (default 3)")
	keys := flag.Int("keys", 0, "measure the speed over so many keys only (default 1000, 100000 and 1000000)")
	flag.Parse()
	plan := thorough
	if *quick {
		plan = hasty
	}
	if *rounds > 0 {
		plan.rounds = *rounds
	}
	if *keys > 0 {
		plan.keys = []int{*keys}
	}
	progress := func(s string) { fmt.Fprintln(os.Stderr, s) }
	if err := report(os.Stdout, plan, progress); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// report measures and writes the tables.
func report(out io.Writer, plan plan, progress func(string)) error {
	writeSetting(out, plan)
	costs, err := speed(plan, progress)
	if err != nil {
		return err
	}
	writeSpeed(out, plan, costs)
	footprints, err := memory(plan.memoryKeys, progress)
	if err != nil {
		return err
	}
	writeMemory(out, plan.memoryKeys, footprints)
	all, err := traces()
	if err != nil {
		return err
	}
	progress("traces")
	verdicts := map[string][]verdict{}
	for _, p := range contenders() {
		for _, t := range all {
			verdicts[p.name] = append(verdicts[p.name], t.play(p))
		}
	}
	writeVerdicts(out, all, verdicts)
	if slices.ContainsFunc(verdicts[weirs[0].name], func(v verdict) bool { return v.over+v.needless > 0 }) {
		return errors.New("the sliding log of Weir was not exact")
	}
	return nil
}
