package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A suite is the tests as one program.
type suite struct{ program string }

// build compiles the tests once, for all versions.
func build(ctx context.Context, dir string) (suite, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return suite{}, err
	}
	program, err := filepath.Abs(filepath.Join(dir, "e2e.test"))
	if err != nil {
		return suite{}, err
	}
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./e2e").CombinedOutput(); err != nil {
		return suite{}, fmt.Errorf("build the tests: %w\n%s", err, out)
	}
	return suite{program}, nil
}

// run runs all tests in an Envoy, and those that do not pass once more, each
// alone: a busy machine is no difference between versions. It is the second
// time that counts, and the page says whose it was.
func (s suite) run(ctx context.Context, version, envoy string) (column, error) {
	envoy, err := filepath.Abs(envoy)
	if err != nil {
		return column{}, err
	}
	c := column{version: version, outcomes: map[string]outcome{}}
	events, err := s.events(ctx, envoy, pattern(tests()...))
	if err != nil {
		return c, err
	}
	if err := c.read(events, tests()); err != nil {
		return c, err
	}
	for _, test := range tests() {
		if len(c.outcomes[test].Failed) == 0 {
			continue
		}
		fmt.Fprintf(os.Stderr, "Envoy %s: once more, %s: %q failed\n%s", version, test, c.outcomes[test].Failed, said(events, test))
		again, err := s.events(ctx, envoy, pattern(test))
		if err != nil {
			return c, err
		}
		if err := c.read(again, []string{test}); err != nil {
			return c, err
		}
		c.again = append(c.again, test)
	}
	slices.Sort(c.again)
	return c, nil
}

// events runs tests, as go test -json would, and prints how each goes. That some
// fail is no error; that none runs is.
func (s suite) events(ctx context.Context, envoy, pattern string) ([]byte, error) {
	run := exec.CommandContext(ctx, "go", "tool", "test2json", s.program,
		"-test.v=test2json", "-test.count=1", "-test.timeout=30m", "-test.run="+pattern)
	run.Dir = "e2e" // as go test does
	run.Env = append(os.Environ(), "ENVOY="+envoy)
	var stderr, events bytes.Buffer
	run.Stderr = &stderr
	stdout, err := run.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := run.Start(); err != nil {
		return nil, err
	}
	ran := false
	read := eachEvent(io.TeeReader(stdout, &events), func(e event) {
		ran = ran || e.Test != ""
		if (e.Action == "pass" || e.Action == "fail") && e.Test != "" && !strings.Contains(e.Test, "/") {
			fmt.Fprintf(os.Stderr, "  %s %s\n", e.Action, e.Test)
		}
	})
	err = run.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ran && ctx.Err() == nil {
		err = nil
	} else if err == nil && !ran {
		err = fmt.Errorf("none is %q", pattern)
	}
	if err := errors.Join(read, err); err != nil {
		return nil, fmt.Errorf("run the tests: %w\n%s%s", err, events.String(), stderr.String())
	}
	return events.Bytes(), nil
}
