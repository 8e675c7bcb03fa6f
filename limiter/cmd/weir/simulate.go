package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/replay"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/traffic"
)

// A simulator is one call of the command.
type simulator struct {
	config     string
	traffic    []string
	length     report.Duration
	seed       uint64
	algorithms []string
	output     output
}

func newSimulate() *cobra.Command {
	var s simulator
	cmd := &cobra.Command{
		Use:   "simulate --config FILE --traffic TRAFFIC...",
		Short: "Decide made-up traffic, by every algorithm",
		Long: `Decide made-up traffic by a configuration as it is, and once for each algorithm
with every limit turned to that one, and report what each admits and refuses. So
one can see on one's own numbers what an algorithm does.

A limit keeps its requests and its window, and the options that the algorithm
has: burst, buckets or inclusive. An algorithm that cannot have such limits, as
sliding_log cannot above 1 000 000 requests, is left out, with the reason.

The worst window of a limit is the most that one key was admitted within any
time of the window's length, whatever the algorithm counts: fixed_window lets
twice the limit through around a boundary, sliding_log never more than the
limit. In JSON it is worst_window. Keys with an override are not in it, nor are
rules that charge responses.

All requests come at the same times in every run, but for those of retry, whose
clients do next what the answer says. The same seed makes the same traffic. It
begins at 2026-01-01T00:00:00Z, where windows of fixed_window begin.

What rules are keyed by is made up, and holds the client's name, so that each
client has keys of its own: headers, cookies, query parameters, tokens, claims.
What a rule's match asks for is not: say it with path, method, host and header.
A rule that no request comes to is named on standard error. A rate limit service
is taken to admit everything, since its limits are not in the configuration; the
report says which rules ask one.

envoy/report.md, in the repository, says what each field of the JSON means.

The exit status is 0 if the traffic was decided, whatever was refused, and 2 if
it could not be.

` + traffic.Help,
		Example: `  weir simulate -c weir.json --traffic poisson,rate=50,clients=100,skew=1
  weir simulate -c weir.json --traffic poisson,rate=50,clients=100 \
    --traffic burst,size=200,every=30s,path=/api/search --html report.html
  weir simulate -c weir.json --traffic retry,rate=20,clients=10,obey=false \
    --algorithms token_bucket,fixed_window --json -
  weir simulate -c weir.json --traffic flood,rate=10000 --for 1m`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVarP(&s.config, "config", "c", "", "the filter's JSON, or a manifest that has it once: a `FILE`")
	f.StringArrayVar(&s.traffic, "traffic", nil, "`TRAFFIC` to make up, as in poisson,rate=50,clients=100; may be repeated")
	f.TextVar(&s.length, "for", report.Duration(5*time.Minute), "how long it goes on: a `DURATION` such as 90s or 1d")
	f.Uint64Var(&s.seed, "seed", 1, "`N` from which all that is random follows")
	f.StringSliceVar(&s.algorithms, "algorithms", []string{"all"}, "all, none, or a `LIST` of "+strings.Join(traffic.Algorithms, ", "))
	s.output.add(cmd)
	completeValues(cmd, "algorithms", append([]string{"all", "none"}, traffic.Algorithms...)...)
	require(cmd, "config", "traffic")
	return cmd
}

// run simulates the traffic and writes the report.
func (s *simulator) run(cmd *cobra.Command) error {
	sources, err := parseTraffic(s.traffic)
	if err != nil {
		return err
	}
	if s.length <= 0 {
		return fmt.Errorf("--for %v: want a time above 0", s.length)
	}
	algorithms, err := s.chosen()
	if err != nil {
		return err
	}
	config, err := loadConfig(s.config)
	if err != nil {
		return err
	}
	if err := checkOutputs(s.output.files(), []string{s.config}); err != nil {
		return err
	}
	x := &report.Report{Command: "simulate"}
	for _, source := range sources {
		x.Input.Traffic = append(x.Input.Traffic, source.String())
	}
	if err := s.simulate(x, "as configured", config, sources); err != nil {
		return fmt.Errorf("%s: %w", s.config, err)
	}
	if x.Input.Lines == 0 {
		return errors.New("no request came: the traffic begins too late, or its rate is too low")
	}
	warnUnused(cmd, x.Runs[0].Rules)
	for _, algorithm := range algorithms {
		turned, err := traffic.Turn(config, limiter.Algorithm(algorithm))
		if err == nil {
			err = s.simulate(x, algorithm, turned, sources)
		}
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "weir: %s is left out: %v\n", algorithm, err)
		}
	}
	if err := s.output.write(cmd, x); err != nil || s.output.json == "-" {
		return err
	}
	return writeExcess(cmd.OutOrStdout(), x.Runs)
}

// chosen are the algorithms to try.
func (s *simulator) chosen() ([]string, error) {
	switch strings.Join(s.algorithms, ",") {
	case "all":
		return traffic.Algorithms, nil
	case "none":
		return nil, nil
	}
	for i, algorithm := range s.algorithms {
		if !slices.Contains(traffic.Algorithms, algorithm) {
			return nil, fmt.Errorf("--algorithms %q: want all, none, or some of %s", algorithm, strings.Join(traffic.Algorithms, ", "))
		}
		if slices.Contains(s.algorithms[:i], algorithm) {
			return nil, fmt.Errorf("--algorithms %q: it is given twice", algorithm)
		}
	}
	return s.algorithms, nil
}

// warnUnused names the rules that no request came to, as a rule is not tried
// by traffic that it does not match.
func warnUnused(cmd *cobra.Command, rules []report.Rule) {
	for _, r := range rules {
		if r.Admitted+r.Refused+r.Shadow+r.MissingKey+r.Full+r.Errors == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "weir: no request came to the rule %q: none matched, or all were exempt; "+
				"say in --traffic what it asks for, as in path=/api/\n", r.Name)
		}
	}
}

// parseTraffic reads the specifications of sources.
func parseTraffic(specs []string) (sources []traffic.Source, err error) {
	for _, spec := range specs {
		source, err := traffic.Parse(spec)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	return sources, nil
}

// trafficStart is a midnight, at which windows of the clock begin.
var trafficStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// simulate adds a run of a configuration to the report. The first one says
// what the input was.
func (s *simulator) simulate(x *report.Report, name string, config []byte, sources []traffic.Source) error {
	run, err := replay.NewRun(name, config, 0)
	if err != nil {
		return err
	}
	worst, names := traffic.NewWorst(run.Policy()), traffic.Keyed(run.Policy())
	g := traffic.New(sources, traffic.Options{Start: trafficStart, For: time.Duration(s.length), Seed: s.seed, Names: names})
	for at, r := g.Next(); r != nil; at, r = g.Next() {
		v := run.Request(at, at+limiter.At(r.Duration()), r, r.Response)
		worst.Note(at, v)
		g.Answer(v)
		if in := &x.Input; len(x.Runs) == 0 {
			if in.To = time.UnixMicro(int64(at)).UTC(); in.Lines == 0 {
				in.From = in.To
			}
			in.Lines++
		}
	}
	result := run.Report()
	for i, rule := range result.Rules {
		for j := range rule.Limits {
			rule.Limits[j].WorstWindow = worst.Of(i, j)
		}
	}
	x.Runs = append(x.Runs, result)
	return nil
}

// writeExcess lists for each limit the runs that admitted more than it within
// some window.
func writeExcess(w io.Writer, runs []report.Run) error {
	var b strings.Builder
	for i, rule := range runs[0].Rules {
		for j, limit := range rule.Limits {
			var over []string
			for _, r := range runs {
				if most := r.Rules[i].Limits[j].WorstWindow; most > limit.Requests {
					over = append(over, fmt.Sprintf("%s %.2f", r.Name, float64(most)/float64(limit.Requests)))
				}
			}
			if over != nil {
				fmt.Fprintf(&b, "  rule %s, %d per %v:\n    %s times the limit\n", rule.Name, limit.Requests, limit.Window, strings.Join(over, ", "))
			}
		}
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nMore than the limit was admitted of one key within some window:\n%s", b.String())
	return err
}
