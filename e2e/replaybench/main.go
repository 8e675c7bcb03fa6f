// Command replaybench measures how fast weir replay reads logs, and in how much
// memory, beside wc -l and jq, in one run on the same files. The figures of each
// program are those that the kernel keeps of the process: its CPU time, and the
// largest memory that it had.
//
//	go run ./e2e/replaybench -lines 20000000
//
// It makes up the logs with weir sample: one in Envoy's own format, and one a
// tenth as long in JSON.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"text/tabwriter"
	"time"
)

const config = `{"rules": [{"name": "per-ip", "match": {"path": {"prefix": "/"}}, "key": [{"client_ip": true}], "limits": [{"requests": 10, "window": "1s"}]}]}`

func main() {
	lines := flag.Int("lines", 20_000_000, "of the log")
	clients := flag.Int("clients", 10_000, "in it")
	rounds := flag.Int("rounds", 3, "in which the programs take turns")
	flag.Parse()
	if err := run(*lines, *clients, *rounds); err != nil {
		fmt.Fprintf(os.Stderr, "replaybench: %v\n", err)
		os.Exit(1)
	}
}

// A contender is a program and what it reads.
type contender struct {
	name  string
	lines int
	args  []string
	best  usage
}

// usage is what a process took.
type usage struct {
	cpu, wall time.Duration
	memory    int64 // bytes
}

func run(lines, clients, rounds int) error {
	dir, err := os.MkdirTemp("", "replaybench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	weir, file := filepath.Join(dir, "weir"), filepath.Join(dir, "weir.json")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-o", weir, "./limiter/cmd/weir").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	text, short, json := filepath.Join(dir, "envoy.log"), filepath.Join(dir, "short.log"), filepath.Join(dir, "json.log")
	for name, of := range map[string]struct {
		lines  int
		format string
	}{text: {lines, "envoy"}, short: {lines / 10, "envoy"}, json: {lines / 10, "json"}} {
		if err := sample(weir, name, of.format, of.lines, clients); err != nil {
			return err
		}
	}
	contenders := []*contender{
		{name: "wc -l", lines: lines, args: []string{"wc", "-l", text}},
		{name: "weir replay", lines: lines, args: []string{weir, "replay", "-c", file, text}},
		{name: "weir replay, a tenth", lines: lines / 10, args: []string{weir, "replay", "-c", file, short}},
		{name: "weir replay, JSON", lines: lines / 10, args: []string{weir, "replay", "-c", file, json}},
		{name: "jq .path, JSON", lines: lines / 10, args: []string{"jq", ".path", json}},
	}
	for range rounds {
		for _, c := range contenders {
			if err := c.run(); err != nil {
				return err
			}
		}
	}
	return print(contenders)
}

// sample makes up a log: a thousand requests a second, of clients some of which
// send far more than others.
func sample(weir, name, format string, lines, clients int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	c := exec.Command(weir, "sample", "--traffic", fmt.Sprintf("poisson,rate=1000,clients=%d,skew=1", clients),
		"--lines", strconv.Itoa(lines), "--format", format)
	c.Stdout, c.Stderr = f, os.Stderr
	return c.Run()
}

// run runs the program once, and keeps the least of what it took.
func (c *contender) run() error {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Stderr = os.Stderr
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	took := usage{wall: time.Since(begun), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		took.memory = r.Maxrss << 10
	}
	if c.best.cpu == 0 || took.cpu < c.best.cpu {
		c.best = took
	}
	return nil
}

func print(contenders []*contender) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tlines\tCPU, s\twall, s\tlines per CPU second\tmemory, MB\t")
	for _, c := range contenders {
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.0f\t%.0f\t\n", c.name, c.lines, c.best.cpu.Seconds(), c.best.wall.Seconds(),
			float64(c.lines)/c.best.cpu.Seconds(), float64(c.best.memory)/1e6)
	}
	return w.Flush()
}
