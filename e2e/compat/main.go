// Command compat runs tests in several versions of Envoy, one after the other,
// and writes what came of it as a table, envoy/compatibility.md.
//
//	make compat-table
//	go run ./e2e/compat -envoy 1.40.0=/usr/bin/envoy 1.39.3 1.40.0
//
// An Envoy is the one of -envoy, or .envoy-compat/VERSION/bin/envoy, where make
// installs it. What the tests said is kept in build/compat, a file for each
// version; with -kept the page is written from these again, and nothing runs.
//
//	groups.go   what is run, the rows of the table
//	suite.go    the tests as one program, run in one Envoy
//	results.go  what they said, read
//	page.go     the page; differences.md is its end, written by hand
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

// options are the flags.
type options struct {
	envoys envoys
	kept   bool
	out    string
}

func main() {
	o := options{envoys: envoys{}}
	flag.Var(o.envoys, "envoy", "`VERSION=PATH` of an Envoy; may be given several times")
	flag.BoolVar(&o.kept, "kept", false, "run nothing: write the page of what the last runs have left in build/compat")
	flag.StringVar(&o.out, "out", "envoy/compatibility.md", "`file` to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "compat: %v\n", err)
		os.Exit(1)
	}
}

// run writes the page even if tests have failed: that is what it is for.
func run(ctx context.Context, o options, versions []string) error {
	if len(versions) == 0 {
		return fmt.Errorf("no version of Envoy is given")
	}
	columns, err := results(ctx, o, versions)
	if err != nil {
		return err
	}
	if err := os.WriteFile(o.out, []byte(page(columns)), 0o644); err != nil {
		return err
	}
	for _, c := range columns {
		if n := c.failures(); n > 0 {
			return fmt.Errorf("envoy %s: %d tests fail, see %s", c.version, n, o.out)
		}
	}
	return nil
}

// results are the columns of the table.
func results(ctx context.Context, o options, versions []string) (columns []column, err error) {
	const dir = "build/compat"
	if o.kept {
		for _, version := range versions {
			c, err := load(filepath.Join(dir, version+".json"))
			if err != nil {
				return nil, err
			}
			columns = append(columns, c)
		}
		return columns, nil
	}
	for _, version := range versions { // before hours are spent on some of them
		if err := o.envoys.check(ctx, version); err != nil {
			return nil, err
		}
	}
	s, err := build(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		fmt.Fprintf(os.Stderr, "Envoy %s\n", version)
		c, err := s.run(ctx, version, o.envoys.path(version))
		if err != nil {
			return nil, err
		}
		if err := c.save(filepath.Join(dir, version+".json")); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// envoys are the paths that are given for versions.
type envoys map[string]string

func (e envoys) String() string { return "" }

func (e envoys) Set(text string) error {
	version, path, ok := strings.Cut(text, "=")
	if !ok || version == "" || path == "" {
		return fmt.Errorf("want VERSION=PATH")
	}
	e[version] = path
	return nil
}

func (e envoys) path(version string) string {
	if path, ok := e[version]; ok {
		return path
	}
	return filepath.Join(".envoy-compat", version, "bin", "envoy")
}

// check refuses an Envoy of another version than its column would say.
func (e envoys) check(ctx context.Context, version string) error {
	path := e.path(version)
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("envoy %s: %q: %w", version, path, err)
	}
	if !strings.Contains(string(out), "/"+version+"/") {
		return fmt.Errorf("envoy %s: %q is another: %q", version, path, strings.TrimSpace(string(out)))
	}
	return nil
}
