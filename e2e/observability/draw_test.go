package observability

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
)

var (
	labelValues   = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	legendPattern = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

// checkVariables: the values that one can choose from are those of a label that is.
func checkVariables(t *testing.T, d dashboard, k known) {
	t.Helper()
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		text := fmt.Sprint(v.Query.(map[string]any)["query"])
		parts := labelValues.FindStringSubmatch(text)
		if parts == nil || v.AllValue != ".*" || v.Datasource != variableSource {
			t.Errorf("variable %q: %q", v.Name, text)
			continue
		}
		selector, err := d.query(parts[1])
		if err != nil {
			t.Error(err)
		}
		for _, problem := range k.check("sum by (" + parts[2] + ") (" + selector + ")") {
			t.Errorf("variable %q: %v", v.Name, problem)
		}
	}
}

// checkDrawn: on what Envoy told before and after the traffic, each query has a
// result, with each label that the legend names. Between them are two minutes.
func checkDrawn(t *testing.T, d dashboard, before, after scrape) {
	t.Helper()
	storage := promqltest.LoadedStorage(t, load(before, after))
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	for _, p := range d.Panels {
		if p.optional() {
			continue
		}
		for _, target := range p.Targets {
			text, err := d.query(target.Expr)
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
				continue
			}
			query, err := engine.NewInstantQuery(t.Context(), storage, nil, text, time.Unix(0, 0).Add(2*time.Minute))
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
				continue
			}
			result := query.Exec(t.Context())
			vector, err := result.Vector()
			// What it merely has to say is that our counters are not called _total.
			warnings, _ := result.Warnings.AsStrings(text, 0, 0)
			if err != nil || len(vector) == 0 || len(warnings) != 0 {
				t.Errorf("%s: %q draws nothing: %v, %q", p.Title, text, err, warnings)
			}
			checkLegend(t, p, target.LegendFormat, vector)
			query.Close()
		}
	}
}

func checkLegend(t *testing.T, p panel, legend string, vector promql.Vector) {
	t.Helper()
	names := legendPattern.FindAllStringSubmatch(legend, -1)
	if strings.Count(legend, "{{") != len(names) || len(vector) > 1 && len(names) == 0 {
		t.Errorf("%s: the legend %q tells no series from another", p.Title, legend)
	}
	seen := map[string]bool{}
	for _, sample := range vector {
		text := legend
		for _, name := range names {
			value := sample.Metric.Get(name[1])
			if value == "" {
				t.Errorf("%s: a series has no %s: %s", p.Title, name[1], sample.Metric)
			}
			text = strings.ReplaceAll(text, name[0], value)
		}
		if seen[text] {
			t.Errorf("%s: two series are called %q", p.Title, text)
		}
		seen[text] = true
	}
}
