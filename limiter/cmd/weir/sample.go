package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/traffic"
)

// A sampler is one call of the command.
type sampler struct {
	traffic  []string
	length   report.Duration
	lines    int64
	seed     uint64
	start    string
	format   string
	disorder report.Duration
}

func newSample() *cobra.Command {
	var s sampler
	cmd := &cobra.Command{
		Use:   "sample --traffic TRAFFIC...",
		Short: "Write a made-up access log",
		Long: `Write the access log of made-up traffic to standard output, as if a proxy had
admitted all of it: to try weir replay on, or anything else that reads logs.

Formats:
  envoy  the text that Envoy logs if no format is configured
  istio  the text that Istio logs
  json   the JSON that Istio logs, with the headers of the traffic besides:
         header=x-user-id:{client} becomes "x_user_id":"client-17". Headers
         whose names are those of credentials are left out
  nginx  NGINX's combined

A proxy writes a line when a request ends. Envoy's line says when it began: so
they are out of order by the durations of the requests, which spread around the
latency of the traffic and are cut at --disorder. NGINX's says when it ended. The
client's address is in X-Forwarded-For, or where NGINX has it.

The same traffic, seed, start and format make the same log. The log ends with
--for or --lines, whichever comes first; if only --lines is given, with that.

The exit status is 0 if all of it was written, and 2 if not.

` + traffic.Help,
		Example: `  weir sample --traffic poisson,rate=50,clients=1000,skew=1 >access.log
  weir sample --traffic poisson,rate=20,clients=500,wave=0.8 --for 24h --format nginx
  weir sample --traffic poisson,rate=100,header=x-user-id:{client} \
    --traffic flood,rate=5000,start=10m,for=1m --lines 1000000 --format json | gzip >access.log.gz`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&s.traffic, "traffic", nil, "`TRAFFIC` to make up, as in poisson,rate=50,clients=100; may be repeated")
	f.TextVar(&s.length, "for", report.Duration(time.Hour), "how long it goes on: a `DURATION` such as 90s or 1d")
	f.Int64Var(&s.lines, "lines", 0, "write at most `N` lines")
	f.Uint64Var(&s.seed, "seed", 1, "`N` from which all that is random follows")
	f.StringVar(&s.start, "start", trafficStart.Format(time.RFC3339), "`TIME` at which it begins")
	f.StringVar(&s.format, "format", "envoy", "`FORMAT` of the lines: "+strings.Join(traffic.Formats, ", "))
	f.TextVar(&s.disorder, "disorder", report.Duration(2*time.Second), "the longest `DURATION` of a request")
	completeValues(cmd, "format", traffic.Formats...)
	require(cmd, "traffic")
	return cmd
}

// run writes the log.
func (s *sampler) run(cmd *cobra.Command) error {
	sources, err := parseTraffic(s.traffic)
	if err != nil {
		return err
	}
	start, err := time.Parse(time.RFC3339, s.start)
	switch {
	case err != nil:
		return fmt.Errorf("--start %q: want a time, such as 2026-01-01T00:00:00Z", s.start)
	case s.length <= 0:
		return fmt.Errorf("--for %v: want a time above 0", s.length)
	case cmd.Flags().Changed("lines") && s.lines <= 0:
		return fmt.Errorf("--lines %d: want a number above 0", s.lines)
	case s.disorder < report.Duration(time.Millisecond):
		return fmt.Errorf("--disorder %v: want a time of 1ms or more", s.disorder)
	}
	o := traffic.Options{Start: start, For: time.Duration(s.length), Seed: s.seed, Longest: time.Duration(s.disorder)}
	if s.lines > 0 && !cmd.Flags().Changed("for") {
		o.For = 0
	}
	g := traffic.New(sources, o)
	_, err = traffic.WriteLog(cmd.OutOrStdout(), g, traffic.LogOptions{Format: s.format, Lines: s.lines, Seed: s.seed})
	return err
}
