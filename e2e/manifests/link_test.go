package manifests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are those that this module is about. Links are followed on all others too.
var pages = []string{"install.md", "rollout.md", "troubleshooting.md", "istio/README.md", "gateway/README.md"}

var (
	link    = regexp.MustCompile(`\]\(([^)]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	metric  = regexp.MustCompile(`weir_(?:rule|filter)_([a-z_]*[a-z])`)
)

// TestLinks follows every link of every page of the repository to a file, and to a
// heading in it.
func TestLinks(t *testing.T) {
	all := []string{"../../README.md"}
	for _, pattern := range []string{folder + "/*.md", folder + "/*/*.md", "../compat/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(found), err)
		}
		all = append(all, found...)
	}
	for _, page := range pages {
		if !slices.Contains(all, filepath.Join(folder, page)) {
			t.Errorf("%s is not among the pages", page)
		}
	}
	for _, page := range all {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		shown := page
		if filepath.Base(page) == "differences.md" {
			shown = filepath.Join(folder, "compatibility.md") // which it is a part of
		}
		links := link.FindAllStringSubmatch(string(text), -1)
		if len(links) < 3 {
			t.Errorf("%s: %d links", page, len(links))
		}
		for _, l := range links {
			if err := leads(shown, l[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// leads says why a link on a page leads nowhere. Those that leave the repository are
// not followed.
func leads(page, to string) error {
	if strings.HasPrefix(to, "http") {
		return nil
	}
	file, anchor, _ := strings.Cut(to, "#")
	target := filepath.Join(filepath.Dir(page), file)
	if file == "" {
		target = page
	}
	if _, err := os.Stat(target); err != nil || anchor == "" {
		return err
	}
	there, err := os.ReadFile(target)
	if err == nil && !hasHeading(string(there), anchor) {
		err = fmt.Errorf("%q: no such heading", to)
	}
	return err
}

// hasHeading reports whether a heading has the anchor, as GitHub makes it.
func hasHeading(text, anchor string) bool {
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		made := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(h[1]), "")
		if strings.ReplaceAll(made, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestMetricNames looks for every metric that the pages name where the module
// defines it.
func TestMetricNames(t *testing.T) {
	source, err := os.ReadFile("../../plugin/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(folder, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metric.FindAllStringSubmatch(string(text), -1) {
			named++
			if m[1] != "global" && !strings.Contains(string(source), `"`+m[1]+`"`) {
				t.Errorf("%s: %s: the module has no such metric", page, m[0])
			}
		}
	}
	if named < 10 {
		t.Errorf("%d metrics named", named)
	}
}
