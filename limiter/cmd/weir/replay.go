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
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/accesslog"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/replay"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// A replayer is one call of the command.
type replayer struct {
	config, against string
	format          string
	fields          map[string]string
	disorder        report.Duration
	hops            int
	decisions       string
	quiet           bool
	output          output
}

// logFormats are those that have a name.
var logFormats = []string{"envoy", "istio", "json", "nginx", "nginx-main"}

func newReplay() *cobra.Command {
	var r replayer
	cmd := &cobra.Command{
		Use:   "replay --config FILE LOG...",
		Short: "Decide the requests of access logs, as the proxy would have",
		Long: `Decide the requests of access logs by a configuration, with the code that runs
in the proxy, and report whom it would have hit: for each rule how many requests
it admits and refuses and how many lack the key, the keys that are refused most,
how close the others came to their limits, and which limits would have refused
0.1 %, 1 % and 5 % of the requests, or of the clients. What the log says of the
answers that were given does not count, but for rules that charge responses.

Logs are files, plain or compressed by gzip or zstd; - is standard input. Several
of them, as rotated ones, are merged by time. Memory does not grow with their
length. Lines that do not parse are left out and counted, and a few are shown. A
file of which none parses, or that is cut off, is an error; the report is then of
the rest, and says so.

Several proxies. All logs are decided as those of one proxy. In a mesh each proxy
counts by itself, so that a limit is met later than in a replay of all their logs
together: replay the log of each by itself. For a global limit, which the proxies
share, replay them together.

Formats. By default the format is found out by the first lines that are requests,
in the first MiB of a file, and holds for all files. --format names it:
  envoy       the text that Envoy logs if no format is configured
  istio       the text that Istio logs
  json        an object in each line, as Envoy's json_format and Istio write it
  nginx       NGINX's combined
  nginx-main  the same, and X-Forwarded-For, as packages of NGINX have it
or gives the format string that the proxy logs with, of Envoy or NGINX, as in
  --format '[%START_TIME%] %REQ(:METHOD)% %REQ(:PATH)% %REQ(X-USER-ID)% %RESPONSE_CODE%'
  --format '$remote_addr [$time_iso8601] "$request" $status $http_x_user_id'

A rule sees of a request what the log has of it. What it asks for and the log
does not have is absent, and the report says so: log the headers that keys are
made of. In JSON a field is the header of its name, with - for _, unless the name
is a usual one, such as start_time or response_code. --field says otherwise, as
header:NAME, response:NAME (a header of the response), property:NAME, time (of
the start), end_time, duration (in ms), seconds (likewise), method, path, host,
client, status or ignore.

Order. A proxy logs a request when it ends. Requests are decided in the order in
which they began, if they are no further apart in the log than the disorder; one
that is, is counted as late, and decided at the time of the one before it. A
warning, which is in the report too, says if the figures do not hold for that:
if more than 1 % are late, or any because a few lines are far ahead of the rest.
Requests of the same time are decided in the order of the log. A refusal whose
wait is no longer than the resolution of the log's times (1 ms by default in
Envoy) might as well have been admitted: those are counted as close. To log
microseconds, use %START_TIME(%Y-%m-%dT%H:%M:%S.%6fZ)%.

The client is the remote address that the log has, or else the entry of
X-Forwarded-For that the nearest proxy wrote: the last, or --trusted-hops before
it.

--decisions writes an object a line for each request, in the order of decision:
its "file", "line", "time" and logged "status", and in "runs" for each
configuration the "decision", admit, refuse or error, and the "rule" that refuses.

envoy/report.md, in the repository, says what each field of the JSON report means.

The exit status is 0 if the report is of all the logs, also if lines were broken
or late, and 2 if something could not be read or written: there is a report then
if some file had requests.`,
		Example: `  weir replay -c weir.json access.log
  weir replay -c weir.json --html report.html access.log.*.gz access.log
  weir replay -c today.json --against tomorrow.json --html compare.html access.log
  kubectl logs deploy/gateway | weir replay -c weir.json --json - -`,
		Args: func(_ *cobra.Command, logs []string) error {
			if len(logs) == 0 {
				return errors.New("no log: name a file, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, logs []string) error { return r.run(cmd, logs) },
	}
	f := cmd.Flags()
	f.StringVarP(&r.config, "config", "c", "", "`FILE` with the configuration: the filter's JSON, or a manifest that has it once")
	f.StringVar(&r.against, "against", "", "`FILE` with another configuration, to compare with")
	f.StringVar(&r.format, "format", "", "`FORMAT` of the logs: "+strings.Join(logFormats, ", ")+", or a format string")
	f.StringToStringVar(&r.fields, "field", nil, "`NAME=MEANING` of a field of JSON logs, as in uid=header:x-user-id; may be repeated")
	f.Lookup("field").DefValue = ""
	f.TextVar(&r.disorder, "disorder", report.Duration(10*time.Second), "how far lines may be out of order: a `DURATION` such as 30s or 1d")
	f.IntVar(&r.hops, "trusted-hops", 0, "`N` trusted proxies before the nearest, as xff_num_trusted_hops of Envoy says, where the log has no remote address")
	f.StringVar(&r.decisions, "decisions", "", "write what became of each request to a `FILE`, a line of JSON each")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "no progress bar")
	r.output.add(cmd)
	require(cmd, "config")
	completeValues(cmd, "format", logFormats...)
	return cmd
}

// run replays the logs and writes the report.
func (r *replayer) run(cmd *cobra.Command, files []string) error {
	configs, err := r.configs()
	if err != nil {
		return err
	}
	if err := checkOutputs(append(r.output.files(), r.decisions), slices.Concat(files, []string{r.config, r.against})); err != nil {
		return err
	}
	log, err := r.open(files, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer log.Close()
	runs, err := configs.runs(log)
	if err != nil {
		return err
	}
	span, err := r.decide(cmd, log, runs)
	if err != nil {
		return err
	}
	stats, unread := log.Stats(), log.Unread()
	x := &report.Report{Command: "replay", Input: report.Input{
		Files: files, Format: log.Format().String(),
		Lines: stats.Lines, Broken: stats.Broken, Late: stats.Late, Sample: stats.Samples, NotLogged: stats.NotLogged,
		Faults: stats.Faults, OutOfOrder: outOfOrder(stats, r.disorder),
		From: span.from, To: span.to,
	}}
	for _, run := range runs {
		x.Runs = append(x.Runs, run.Report())
	}
	if warning := x.Input.OutOfOrder; warning != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "weir: %s\n", warning)
	}
	return errors.Join(r.output.write(cmd, x), unread)
}

// configs are the configurations, in the files of the same places.
type configs struct {
	files []string
	data  [][]byte
}

// configs reads the configurations, which takes less time than the logs.
func (r *replayer) configs() (c configs, err error) {
	for _, file := range []string{r.config, r.against} {
		if file == "" {
			continue
		}
		data, err := loadConfig(file)
		if err != nil {
			return c, err
		}
		c.files, c.data = append(c.files, file), append(c.data, data)
	}
	return c, nil
}

// runs are one for each configuration.
func (c configs) runs(log *accesslog.Log) (runs []*replay.Run, err error) {
	for i, file := range c.files {
		run, err := replay.NewRun(file, c.data[i], log.Format().Resolution())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// open opens the logs as the flags say.
func (r *replayer) open(files []string, stdin io.Reader) (*accesslog.Log, error) {
	options := accesslog.Options{Disorder: time.Duration(r.disorder), TrustedHops: r.hops, Fields: r.fields}
	if r.format != "" {
		format, err := accesslog.ParseFormat(r.format)
		if err != nil {
			return nil, err
		}
		options.Format = format
	}
	return accesslog.Open(files, stdin, options)
}

// A span is from the first request to the last.
type span struct{ from, to time.Time }

// decide has every run decide every request.
func (r *replayer) decide(cmd *cobra.Command, log *accesslog.Log, runs []*replay.Run) (s span, err error) {
	progress := newProgress(cmd, log, r.quiet)
	defer progress.close()
	decisions, err := newDecisions(r.decisions, len(runs))
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, decisions.close()) }()
	for {
		record, err := log.Next()
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		if s.to = time.UnixMicro(record.Time).UTC(); s.from.IsZero() {
			s.from = s.to
		}
		for i, run := range runs {
			v := run.Request(limiter.Instant(record.Time), limiter.Instant(record.End), record, record.Response)
			decisions.note(i, v)
		}
		decisions.write(record)
		progress.step()
	}
}
