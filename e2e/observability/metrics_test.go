package observability

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/weirproxy/weir/e2e/envoyproc"
)

// A movement is a metric with labels, and what the steps move it to.
type movement struct {
	metric string
	labels []string
	want   float64
}

func (m movement) seenIn(s scrape) bool { return s.sum(m.metric, m.labels...) == m.want }

var moved = []movement{
	{"weir_rule_allowed", []string{"weir_namespace", "weir", "weir_rule", "per-user"}, 4},
	{"weir_rule_limited", []string{"weir_namespace", "weir", "weir_rule", "per-user"}, 2},
	{"weir_rule_allowed", []string{"weir_namespace", "weir", "weir_rule", "on-trial"}, 2},
	{"weir_rule_shadow_limited", []string{"weir_namespace", "weir", "weir_rule", "on-trial"}, 3},
	{"weir_rule_missing_key", []string{"weir_namespace", "weir", "weir_rule", "needs-key"}, 2},
	{"weir_rule_missing_key", []string{"weir_namespace", "weir", "weir_rule", "per-user"}, 0},
	{"weir_rule_charged", []string{"weir_namespace", "weir", "weir_rule", "login"}, 2},
	{"weir_rule_evicted", []string{"weir_namespace", "tiny", "weir_rule", "crowd"}, 1},
	{"weir_rule_full", []string{"weir_namespace", "tiny", "weir_rule", "crowd"}, 2},
	{"weir_filter_tracked_keys", []string{"weir_namespace", "tiny"}, 1},
	{"weir_filter_global_calls", []string{"weir_namespace", "refusing"}, 1},
	{"weir_filter_global_shielded", []string{"weir_namespace", "refusing"}, 2},
	{"weir_filter_global_timeout", []string{"weir_namespace", "hanging"}, 1},
	{"weir_filter_global_unreachable", []string{"weir_namespace", "gone"}, 1},
	{"weir_filter_global_unreachable", []string{"weir_namespace", "nohosts"}, 2},
	{"weir_filter_global_calls", []string{"weir_namespace", "nohosts"}, 0},
	{"weir_filter_global_unreachable", []string{"weir_namespace", "nocluster"}, 2},
	{"weir_filter_global_calls", []string{"weir_namespace", "nocluster"}, 0},
	{"weir_filter_global_rejected", []string{"weir_namespace", "broken"}, 1},
	{"weir_filter_global_malformed", []string{"weir_namespace", "nonsense"}, 1},
	{"weir_filter_global_overflow", []string{"weir_namespace", "crowded"}, 1},
	{"envoy_http_downstream_rq_total", []string{"envoy_http_conn_manager_prefix", "ingress"}, 34},
	{"envoy_cluster_upstream_rq_time_count", []string{"envoy_cluster_name", "webdis"}, 1},
}

// still are the metrics of Weir that the steps cannot move: the tests in e2e move
// them, by hosts that fail and by several workers.
var still = []string{
	"weir_filter_conflicts", "weir_filter_corrupt", "weir_filter_errors", "weir_filter_lost", "weir_rule_errors",
}

// TestMetrics: all that the dashboard and the rules name is what a real Envoy tells,
// and the panels have something to draw.
func TestMetrics(t *testing.T) {
	envoy, crowd := running(t)
	before := scraped(t, envoy)
	drive(t, envoy)
	crowd()
	after := settled(t, envoy)
	checkMoved(t, after)
	checkLabels(t, after)

	k := emitted(after)
	checkRules(t, k)
	d := readDashboard(t)
	checkTargets(t, d, k)
	checkVariables(t, d, k)
	checkDrawn(t, d, before, after)
}

// checkRules adds what is recorded to what is known.
func checkRules(t *testing.T, k known) {
	t.Helper()
	all := readRules(t)
	for _, r := range all {
		if r.Record != "" {
			k.add(r.Record, model.MetricNameLabel)
			k.add(r.Record, grouping(t, r.Expr)...)
		}
	}
	for _, r := range all {
		for _, problem := range k.check(r.Expr) {
			t.Errorf("%s%s: %v", r.Record, r.Alert, problem)
		}
	}
}

func checkTargets(t *testing.T, d dashboard, k known) {
	t.Helper()
	optional := 0
	for _, p := range d.Panels {
		if p.optional() {
			optional++
			continue
		}
		for _, target := range p.Targets {
			query, err := d.query(target.Expr)
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
				continue
			}
			for _, problem := range k.check(query) {
				t.Errorf("%s: %v", p.Title, problem)
			}
		}
	}
	if optional != 1 {
		t.Errorf("%d panels are optional, want 1", optional)
	}
}

// settled scrapes until the workers have merged what they count, and have swept.
func settled(t *testing.T, envoy *envoyproc.Process) scrape {
	t.Helper()
	return settledUntil(t, envoy, func(s scrape) bool {
		return !slices.ContainsFunc(moved, func(m movement) bool { return !m.seenIn(s) })
	})
}

// settledUntil scrapes until it sees what is wanted. The caller looks whether it did.
func settledUntil(t *testing.T, envoy *envoyproc.Process, wanted func(scrape) bool) (s scrape) {
	t.Helper()
	for range 600 {
		if s = scraped(t, envoy); wanted(s) {
			return s
		}
		time.Sleep(50 * time.Millisecond)
	}
	return s
}

func checkMoved(t *testing.T, s scrape) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range moved {
		seen[m.metric] = true
		if got := s.sum(m.metric, m.labels...); got != m.want {
			t.Errorf("%s of %q: %g, want %g", m.metric, m.labels, got, m.want)
		}
	}
	for name := range s.series {
		if strings.HasPrefix(name, "weir_") && seen[name] == slices.Contains(still, name) {
			t.Errorf("%s is in neither list of metrics that move or cannot, or in both", name)
		}
	}
}

// checkLabels: Weir's series have the two labels and no other, and nothing that a
// client sends is in any name or label of the proxy.
func checkLabels(t *testing.T, s scrape) {
	t.Helper()
	for name, all := range s.series {
		for _, series := range all {
			if strings.Contains(series.String(), secret) {
				t.Errorf("%s has what a client sent", series)
			}
			var got []string
			series.Range(func(l labels.Label) { got = append(got, l.Name) })
			want := []string{model.MetricNameLabel, "instance", "job", "weir_namespace"}
			switch {
			case strings.HasPrefix(name, "weir_rule_"):
				want = append(want, "weir_rule")
			case !strings.HasPrefix(name, "weir_"):
				continue
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s has the labels %q, want %q", name, got, want)
			}
		}
	}
}
