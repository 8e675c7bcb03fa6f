package manifests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages are those that this module is about.
var pages = []string{"install.md", "rollout.md", "troubleshooting.md", "istio/README.md", "gateway/README.md"}

var (
	link    = regexp.MustCompile(`\]\(([^)]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	metric  = regexp.MustCompile(`weir_(?:rule|filter)_([a-z_]*[a-z])`)
)

// TestLinks follows every link of the pages to a file, and to a heading in it.
func TestLinks(t *testing.T) {
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(folder, page))
		if err != nil {
			t.Fatal(err)
		}
		links := link.FindAllStringSubmatch(string(text), -1)
		if len(links) < 3 {
			t.Errorf("%s: %d links", page, len(links))
		}
		for _, l := range links {
			if strings.HasPrefix(l[1], "http") {
				continue
			}
			file, anchor, _ := strings.Cut(l[1], "#")
			target := filepath.Join(folder, filepath.Dir(page), file)
			if file == "" {
				target = filepath.Join(folder, page)
			}
			there, err := os.ReadFile(target)
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if anchor != "" && !hasHeading(string(there), anchor) {
				t.Errorf("%s: %s: no such heading", page, l[1])
			}
		}
	}
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
