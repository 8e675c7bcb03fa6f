package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// program is one that says how tests go: TestReload passes only when it is
// alone, and TestCORS never.
const program = `#!/bin/sh
test -x "$ENVOY" || exit 2
for argument; do
	case $argument in -test.run=*) pattern=$argument ;; esac
done
for test in %s; do
	case $pattern in *[\(\|]$test[\|\)]*) ;; *) continue ;; esac
	result=PASS
	case $test.$pattern in TestCORS.*|TestReload.*\|*) result=FAIL ;; esac
	printf '=== RUN   %%s\n--- %%s: %%s (0.00s)\n' $test $result $test
done
echo FAIL
exit 1
`

// TestSecondTimeCounts runs a suite: what fails is asked once more, alone.
func TestSecondTimeCounts(t *testing.T) {
	t.Chdir(root)
	file := filepath.Join(t.TempDir(), "suite")
	if err := os.WriteFile(file, fmt.Appendf(nil, program, strings.Join(tests(), " ")), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := suite{file}.run(t.Context(), "1.40.0", file)
	if err != nil {
		t.Fatal(err)
	}
	want := column{version: "1.40.0", outcomes: map[string]outcome{}, again: []string{"TestCORS", "TestReload"}}
	for _, test := range tests() {
		want.outcomes[test] = outcome{1, nil}
	}
	want.outcomes["TestCORS"] = outcome{0, []string{"TestCORS"}}
	if !reflect.DeepEqual(got, want) || got.failures() != 1 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestNothingRuns: a suite that does not even begin is an error, and no column
// of failures.
func TestNothingRuns(t *testing.T) {
	t.Chdir(root)
	for _, program := range []string{"no/such/program", "true", "false"} {
		if c, err := (suite{program}).run(t.Context(), "1.40.0", "envoy"); err == nil {
			t.Errorf("%s: %+v", program, c)
		}
	}
}

// TestKept: a column is read as it was written, and one of other tests is not.
func TestKept(t *testing.T) {
	c := column{version: "1.40.0", outcomes: map[string]outcome{}, again: []string{"TestReload"}}
	for _, test := range tests() {
		c.outcomes[test] = outcome{1, []string{test + "/x"}}
	}
	file := filepath.Join(t.TempDir(), "1.40.0.json")
	if err := c.save(file); err != nil {
		t.Fatal(err)
	}
	if got, err := load(file); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("%+v, %v, want %+v", got, err, c)
	}
	delete(c.outcomes, "TestReload")
	if err := c.save(file); err != nil {
		t.Fatal(err)
	}
	if _, err := load(file); err == nil || !strings.HasSuffix(err.Error(), `no outcome of "TestReload"`) {
		t.Errorf("error %v", err)
	}
}
