package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// An outcome is how a test went: each of its subtests, or it itself if it has
// none.
type outcome struct {
	Passed int
	Failed []string `json:",omitempty"`
}

// A column is what a version of Envoy made of the tests.
type column struct {
	version  string
	outcomes map[string]outcome
	again    []string // tests that did not pass at once: run alone, they went as outcomes has it
}

// kept is the form of a column in a file.
type kept struct {
	Version  string
	Outcomes map[string]outcome
	Again    []string `json:",omitempty"`
}

func (c column) save(file string) error {
	text, err := json.MarshalIndent(kept{c.version, c.outcomes, c.again}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// load refuses what a run of other tests has left.
func load(file string) (column, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return column{}, err
	}
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return column{}, fmt.Errorf("%s: %w", file, err)
	}
	for _, test := range tests() {
		if o, ok := k.Outcomes[test]; !ok || o.Passed+len(o.Failed) == 0 {
			return column{}, fmt.Errorf("%s: no outcome of %q", file, test)
		}
	}
	return column{k.Version, k.Outcomes, k.Again}, nil
}

// failures is how many failed.
func (c column) failures() (n int) {
	for _, o := range c.outcomes {
		n += len(o.Failed)
	}
	return n
}

// event is one of go test -json.
type event struct{ Action, Test, Output string }

func eachEvent(events io.Reader, do func(event)) error {
	for decoder := json.NewDecoder(events); ; {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read what the tests say: %w", err)
		}
		do(e)
	}
}

// read replaces the outcomes of the tests by what the events say. What has not
// run to its end has failed, and so has what was skipped.
func (c *column) read(events []byte, tests []string) error {
	passed := map[string]bool{}
	var order []string
	err := eachEvent(bytes.NewReader(events), func(e event) {
		if _, seen := passed[e.Test]; !seen && e.Test != "" {
			order = append(order, e.Test)
			passed[e.Test] = false
		}
		if e.Action == "pass" && e.Test != "" {
			passed[e.Test] = true
		}
	})
	if err != nil {
		return err
	}
	for _, test := range tests {
		c.outcomes[test] = outcomeOf(test, order, passed)
	}
	return nil
}

// outcomeOf counts the leaves. A test that fails though none of its subtests
// does is counted too: what fails there is its own.
func outcomeOf(test string, order []string, passed map[string]bool) (o outcome) {
	parents, failing := map[string]bool{}, map[string]bool{}
	for _, name := range order {
		for i := range name {
			if name[i] == '/' {
				parents[name[:i]] = true
				failing[name[:i]] = failing[name[:i]] || !passed[name]
			}
		}
	}
	for _, name := range order {
		switch {
		case name != test && !strings.HasPrefix(name, test+"/"):
		case !passed[name] && !failing[name]:
			o.Failed = append(o.Failed, name)
		case passed[name] && !parents[name]:
			o.Passed++
		}
	}
	if o.Passed+len(o.Failed) == 0 {
		o.Failed = []string{test + " (did not run)"}
	}
	return o
}

// said is what a test and its subtests printed.
func said(events []byte, test string) string {
	var text strings.Builder
	_ = eachEvent(bytes.NewReader(events), func(e event) { // has been read once
		if e.Test == test || strings.HasPrefix(e.Test, test+"/") {
			text.WriteString(e.Output)
		}
	})
	return text.String()
}
