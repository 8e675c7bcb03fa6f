// Command bench measures what Weir costs a request in a real Envoy, beside no
// filter, beside Envoy's own local rate limit, and beside two floors: modules
// written by hand that do the least a limiter must.
//
//	make bench-envoy
//
// Absolute times differ from machine to machine and from hour to hour. So all
// contenders are listeners of one Envoy, which take turns in short rounds of
// random order, and what is compared is the CPU time that Envoy used for a
// request, within one round. It prints tables in Markdown.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
)

// options are the flags.
type options struct {
	rounds   int
	requests int
	only     string
	svg      string
	match    *regexp.Regexp
}

// A section of the report.
type section struct {
	name string
	run  func(context.Context, options) error
}

var sections = []section{
	{"cost", cost}, {"growth", growth}, {"workers", workers}, {"latency", latency}, {"memory", memory},
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 15, "rounds of each measurement")
	flag.IntVar(&o.requests, "requests", 6000, "requests of each contender in a round")
	flag.StringVar(&o.only, "only", "", "sections to run, separated by commas: "+names()+"; default all")
	flag.StringVar(&o.svg, "svg", "", "write a chart of the cost section to this file")
	match := flag.String("match", "", "measure only contenders whose names match this, and no filter")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if o.match, err = regexp.Compile(*match); err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	for _, name := range strings.FieldsFunc(o.only, isComma) {
		if !strings.Contains(","+names()+",", ","+name+",") {
			return fmt.Errorf("no section %q: want some of %s", name, names())
		}
	}
	for _, s := range sections {
		if o.only != "" && !strings.Contains(","+o.only+",", ","+s.name+",") {
			continue
		}
		if err := s.run(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func isComma(r rune) bool { return r == ',' }

func names() string {
	all := make([]string, len(sections))
	for i, s := range sections {
		all[i] = s.name
	}
	return strings.Join(all, ",")
}
