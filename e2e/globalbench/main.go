// Command globalbench measures what a limit that all proxies share adds to the
// latency of a request, beside Envoy's own ratelimit filter, which asks the same
// service.
//
//	make bench-global
//
// All contenders are listeners of one Envoy with one worker, before one upstream
// and the same engines on this machine. They take turns in short rounds of random
// order, each at the same fixed rate, and what is compared is of the same round.
// It prints a table in Markdown.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/load"
)

// options are the flags.
type options struct {
	rounds    int
	perSecond int
	lasts     time.Duration
}

// connections are those of the clients.
const connections = 4

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 15, "rounds of each contender")
	flag.IntVar(&o.perSecond, "rate", 400, "requests a second")
	flag.DurationVar(&o.lasts, "lasts", 2*time.Second, "how long a round lasts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "globalbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	s, err := startStage(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, c := range contenders {
		// The first requests make connections, and use up what is to refuse.
		if _, _, err := load.AtRate(ctx, s.addrs[c.name], connections, o.perSecond, 2*o.lasts, requests(c)); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	all := results{}
	for round := range o.rounds {
		fmt.Fprintf(os.Stderr, "\r\033[Kround %d of %d", round+1, o.rounds)
		for _, i := range rand.Perm(len(contenders)) {
			c := contenders[i]
			r, err := measure(ctx, s.envoy, s.addrs[c.name], c, o)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			all[c.name] = append(all[c.name], r)
		}
	}
	fmt.Fprintln(os.Stderr)
	fmt.Printf("%d requests a second, %d rounds of %v:\n\n", o.perSecond, o.rounds, o.lasts)
	all.print(os.Stdout)
	return nil
}

// measure runs one round of one contender.
func measure(ctx context.Context, envoy *envoyproc.Process, addr string, c contender, o options) (r result, err error) {
	before, err := envoy.CPU()
	if err != nil {
		return r, err
	}
	took, tally, err := load.AtRate(ctx, addr, connections, o.perSecond, o.lasts, requests(c))
	if err != nil {
		return r, err
	}
	after, err := envoy.CPU()
	if n := tally.Total(); err == nil && (n == 0 || tally[c.status] != n) {
		return r, fmt.Errorf("answers by status %v, want all %d", tally, c.status)
	}
	return result{took.Quantile(0.5), took.Quantile(0.99), (after - before) / time.Duration(max(1, len(took)))}, err
}

// requests takes turns among the keys.
func requests(c contender) load.Source {
	var sent [connections]int
	return func(conn int) (load.Request, bool) {
		sent[conn]++
		key := (sent[conn]*connections + conn) % c.keys
		return load.Request{Path: "/", Headers: [][2]string{{"x-key", fmt.Sprintf("user%07d", key)}}}, true
	}
}
