package observability

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/promqltest"
)

// A drawing is what a panel shows of series that rise by so much in a minute.
type drawing struct {
	name, panel string
	rises       map[string]float64
	want        map[string]float64 // by the labels
}

// rule has the counters of a rule: admitted, refused, would have been refused.
func rule(name string, allowed, limited, shadow float64) map[string]float64 {
	labels := fmt.Sprintf(`{job="envoy",instance="a",weir_namespace="weir",weir_rule=%q}`, name)
	return map[string]float64{
		"weir_rule_allowed" + labels: allowed, "weir_rule_limited" + labels: limited, "weir_rule_shadow_limited" + labels: shadow,
	}
}

// engine has the counters of what one proxy asks.
func engine(instance string, calls, timeout, unreachable, overflow float64) map[string]float64 {
	labels := fmt.Sprintf(`{job="envoy",instance=%q,weir_namespace="weir"}`, instance)
	return map[string]float64{
		"weir_filter_global_calls" + labels: calls, "weir_filter_global_timeout" + labels: timeout,
		"weir_filter_global_unreachable" + labels: unreachable, "weir_filter_global_overflow" + labels: overflow,
		"weir_filter_global_rejected" + labels: 0, "weir_filter_global_malformed" + labels: 0,
	}
}

func together(all ...map[string]float64) map[string]float64 {
	sum := map[string]float64{}
	for _, one := range all {
		maps.Copy(sum, one)
	}
	return sum
}

func labelled(rule string) string { return `{weir_namespace="weir", weir_rule="` + rule + `"}` }

var drawings = []drawing{
	{"three of four rules admit everything", "Refused",
		together(rule("a", 100, 0, 0), rule("b", 100, 0, 0), rule("c", 100, 0, 0), rule("tight", 25, 75, 0)),
		map[string]float64{"{}": 0.75}},
	{"one rule refuses most, another all of next to nothing", "Refused",
		together(rule("main", 40, 60, 0), rule("small", 0, 1, 0)), map[string]float64{"{}": 0.6}},
	{"a rule without traffic", "Refused",
		together(rule("main", 100, 0, 0), rule("idle", 0, 0, 0)), map[string]float64{"{}": 0}},
	{"one rule in shadow, one for nine keys of ten, one enforced", "Would be refused: rules in shadow",
		together(rule("shadow", 75, 0, 25), rule("tenth", 50, 5, 45), rule("whole", 50, 50, 0)),
		map[string]float64{labelled("shadow"): 0.25, labelled("tenth"): 0.5}},
	{"an engine that is too slow, and full", "Engine failures",
		engine("a", 90, 5, 0, 10), map[string]float64{"{}": 0.15}},
	{"an engine without a cluster: nothing is a call", "Engine failures",
		engine("a", 0, 0, 100, 0), map[string]float64{"{}": 1}},
	{"one proxy of two has no cluster", "Engine failures",
		together(engine("a", 300, 0, 0, 0), engine("b", 0, 0, 100, 0)), map[string]float64{"{}": 0.25}},
}

// TestDrawings compares what panels show with what happened.
func TestDrawings(t *testing.T) {
	d := readDashboard(t)
	for _, drawn := range drawings {
		t.Run(drawn.name, func(t *testing.T) {
			var series strings.Builder
			series.WriteString("load 1m\n")
			for name, rise := range drawn.rises {
				fmt.Fprintf(&series, "  %s 0+%gx10\n", name, rise)
			}
			storage := promqltest.LoadedStorage(t, series.String())
			query, err := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery).
				NewInstantQuery(t.Context(), storage, nil, d.only(t, drawn.panel), at0(10*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			defer query.Close()
			vector, err := query.Exec(t.Context()).Vector()
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]float64{}
			for _, sample := range vector {
				got[sample.Metric.String()] = sample.F
			}
			if !maps.EqualFunc(got, drawn.want, near) {
				t.Errorf("%s: %v, want %v", drawn.panel, got, drawn.want)
			}
		})
	}
}

// near forgives what seconds that are no binary fraction cost.
func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// only is the one query of a panel.
func (d dashboard) only(t *testing.T, title string) string {
	t.Helper()
	for _, p := range d.Panels {
		if p.Title == title && len(p.Targets) == 1 {
			query, err := d.query(p.Targets[0].Expr)
			if err != nil {
				t.Fatal(err)
			}
			return query
		}
	}
	t.Fatalf("no panel %q with one query", title)
	return ""
}
