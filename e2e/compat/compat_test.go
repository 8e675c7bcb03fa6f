package main

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/scenario"
)

const root = "../../"

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(root + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// versions are those that make compat-table names: the Makefile's.
func versions(t *testing.T) []string {
	t.Helper()
	var all []string
	makefile := readFile(t, "Makefile")
	for _, name := range []string{"ENVOY_COMPAT", "ENVOY_VERSION"} {
		line := regexp.MustCompile(`(?m)^` + name + ` *:= (.+)$`).FindStringSubmatch(makefile)
		if line == nil {
			t.Fatalf("the Makefile has no %s", name)
		}
		all = append(all, strings.Fields(line[1])...)
	}
	return all
}

// TestPageIsFresh: the page that is kept has the versions, rows and text of
// today, and as many scenarios as there are. Make compat-table makes it anew.
func TestPageIsFresh(t *testing.T) {
	page := readFile(t, "envoy/compatibility.md")
	rest, ok := strings.CutPrefix(page, head+header(versions(t)))
	if !ok {
		t.Fatalf("stale: want the page to begin with\n%s", head+header(versions(t)))
	}
	cells := regexp.MustCompile(`^( (\d+) / (\d+) \|){` + fmt.Sprint(len(versions(t))) + `}\n`)
	for _, g := range groups {
		if rest, ok = strings.CutPrefix(rest, label(g)); !ok {
			t.Fatalf("stale: want the row %q before\n%s", label(g), rest)
		}
		row := cells.FindString(rest)
		if row == "" {
			t.Fatalf("stale: the row %q has not a cell for each version", label(g))
		}
		if g.tests[0] == scenarios {
			checkScenarios(t, row)
		}
		rest = rest[len(row):]
	}
	if !strings.HasSuffix(rest, "\n"+differences) {
		t.Errorf("stale: want the page to end with\n%s", differences)
	}
}

// checkScenarios compares with how many there are, for a real clock.
func checkScenarios(t *testing.T, row string) {
	t.Helper()
	all, err := scenario.Load(os.DirFS(root), "e2e/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	traces, err := scenario.Ladder([]byte(readFile(t, "limiter/testdata/ladder.json")), func(int64) time.Duration { return time.Millisecond })
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, s := range append(all, traces...) {
		if !s.Exact {
			want++
		}
	}
	for _, cell := range strings.Split(strings.TrimSuffix(row, " |\n"), "|") {
		var passed, failed int
		if _, err := fmt.Sscanf(cell, " %d / %d", &passed, &failed); err != nil || passed+failed != want {
			t.Errorf("stale: %q of %d scenarios, %v", cell, want, err)
		}
	}
}

// TestTestsExist: what is renamed would not run.
func TestTestsExist(t *testing.T) {
	var source strings.Builder
	entries, err := os.ReadDir(root + "e2e")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "_test.go") {
			source.WriteString(readFile(t, "e2e/"+e.Name()))
		}
	}
	seen := map[string]bool{}
	for _, test := range tests() {
		if !strings.Contains(source.String(), "\nfunc "+test+"(t *testing.T)") || seen[test] {
			t.Errorf("%s is no test of e2e, or is in two groups", test)
		}
		seen[test] = true
	}
}

// TestRead: leaves are counted, and nothing that fails is lost.
func TestRead(t *testing.T) {
	const (
		run  = `{"Action":"run","Test":%q}` + "\n"
		pass = `{"Action":"pass","Test":%q}` + "\n"
		fail = `{"Action":"fail","Test":%q}` + "\n"
		skip = `{"Action":"skip","Test":%q}` + "\n"
	)
	type done struct{ action, test string }
	for name, test := range map[string]struct {
		events []done
		want   outcome
	}{
		"no subtests":                {[]done{{run, "TestA"}, {pass, "TestA"}}, outcome{1, nil}},
		"it alone fails":             {[]done{{run, "TestA"}, {fail, "TestA"}}, outcome{0, []string{"TestA"}}},
		"subtests":                   {[]done{{run, "TestA"}, {run, "TestA/b"}, {run, "TestA/c"}, {pass, "TestA/b"}, {fail, "TestA/c"}, {fail, "TestA"}}, outcome{1, []string{"TestA/c"}}},
		"a name with a slash":        {[]done{{run, "TestA"}, {run, "TestA/b/c"}, {pass, "TestA/b/c"}, {pass, "TestA"}}, outcome{1, nil}},
		"fails after its subtests":   {[]done{{run, "TestA"}, {run, "TestA/b"}, {pass, "TestA/b"}, {fail, "TestA"}}, outcome{1, []string{"TestA"}}},
		"cut short":                  {[]done{{run, "TestA"}, {run, "TestA/b"}, {pass, "TestA/b"}, {run, "TestA/c"}}, outcome{1, []string{"TestA/c"}}},
		"skipped":                    {[]done{{run, "TestA"}, {skip, "TestA"}}, outcome{0, []string{"TestA"}}},
		"did not run":                {nil, outcome{0, []string{"TestA (did not run)"}}},
		"another, of a similar name": {[]done{{run, "TestAB"}, {pass, "TestAB"}}, outcome{0, []string{"TestA (did not run)"}}},
	} {
		var events strings.Builder
		for _, e := range test.events {
			fmt.Fprintf(&events, e.action, e.test)
		}
		c := column{outcomes: map[string]outcome{}}
		if err := c.read([]byte(events.String()), []string{"TestA"}); err != nil || !reflect.DeepEqual(c.outcomes["TestA"], test.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, c.outcomes["TestA"], err, test.want)
		}
	}
}

// TestPage: what fails is counted and named, and what passed the second time.
func TestPage(t *testing.T) {
	good, bad := column{version: "1", outcomes: map[string]outcome{}}, column{version: "2", outcomes: map[string]outcome{}}
	for _, test := range tests() {
		good.outcomes[test], bad.outcomes[test] = outcome{2, nil}, outcome{2, nil}
	}
	if text := page([]column{good}); !strings.Contains(text, "No test failed.") {
		t.Errorf("nothing failed, and the page is\n%s", text)
	}
	bad.outcomes[scenarios] = outcome{1, []string{scenarios + "/x"}}
	bad.again = []string{scenarios, "TestReload"}
	text := page([]column{good, bad})
	for _, want := range []string{
		header([]string{"1", "2"}), label(groups[0]) + " 2 / 0 | 1 / 1 |\n",
		"- 2: `TestEnvoy/x` fails.\n- 2: `TestReload` passed when it was run again, alone.\n",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("want once %q in\n%s", want, text)
		}
	}
}

// TestEnvoys: a column has the version that it says.
func TestEnvoys(t *testing.T) {
	program := t.TempDir() + "/envoy"
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'envoy  version: 0/1.40.0/Clean/RELEASE/BoringSSL'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := envoys{}
	for _, version := range []string{"1.40.0", "1.4", "40.0"} {
		if err := e.Set(version + "=" + program); err != nil {
			t.Fatal(err)
		}
		if err := e.check(t.Context(), version); (err == nil) != (version == "1.40.0") {
			t.Errorf("%s: %v", version, err)
		}
	}
	for _, text := range []string{"1.40.0", "=path", "1.40.0="} {
		if e.Set(text) == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
