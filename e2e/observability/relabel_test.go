package observability

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v3"
)

// TestRelabel: without stats_tags, what README.md has Prometheus do makes the labels
// that the dashboard and the rules want, out of what a real Envoy tells.
func TestRelabel(t *testing.T) {
	var config object
	configurations := map[string]string{"weir": limits}
	if err := json.Unmarshal(bootstrap(t, configurations, nil, map[string]string{"service": serve(t, service)}), &config); err != nil {
		t.Fatal(err)
	}
	delete(config, "stats_config")
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	envoy := start(t, text)
	for _, want := range []int{200, 200, 200, 429, 429} {
		if got, err := ask(t.Context(), envoy, "weir", "/api/hello", "x-user-id", secret); err != nil || got != want {
			t.Fatalf("%d, %v, want %d", got, err, want)
		}
	}
	bare := settledUntil(t, envoy, func(s scrape) bool { return s.sum("weir_rule_weir_per_user_limited") == 2 })
	cut := bare.relabelled(t, relabelling(t))
	checkLabels(t, cut)
	for metric, want := range map[string]float64{"weir_rule_allowed": 3, "weir_rule_limited": 2, "weir_rule_shadow_limited": 0} {
		if got := cut.sum(metric, "weir_namespace", "weir", "weir_rule", "per_user"); got != want {
			t.Errorf("%s: %g, want %g", metric, got, want)
		}
	}
	for _, name := range selectedNames(t) {
		if strings.HasPrefix(name, "weir_") && !strings.HasPrefix(name, "weir_filter_global_") && len(cut.series[name]) == 0 {
			t.Errorf("%s is not made", name)
		}
	}
}

// relabelling is what README.md has for it.
func relabelling(t *testing.T) []*relabel.Config {
	t.Helper()
	var config struct {
		All []*relabel.Config `yaml:"metric_relabel_configs"`
	}
	if err := yaml.Unmarshal([]byte(block(t, "yaml", "metric_relabel_configs:")), &config); err != nil {
		t.Fatal(err)
	}
	for _, c := range config.All {
		if err := c.Validate(model.UTF8Validation); err != nil {
			t.Fatal(err)
		}
	}
	return config.All
}

// relabelled is what Prometheus would keep of a scrape.
func (s scrape) relabelled(t *testing.T, by []*relabel.Config) scrape {
	t.Helper()
	out := scrape{map[string]float64{}, map[string][]labels.Labels{}}
	for _, all := range s.series {
		for _, series := range all {
			b := labels.NewBuilder(series)
			if !relabel.ProcessBuilder(b, by...) {
				continue
			}
			made := b.Labels()
			if _, ok := out.values[made.String()]; ok {
				t.Errorf("two series are %s", made)
			}
			out.values[made.String()] = s.values[series.String()]
			name := made.Get(model.MetricNameLabel)
			out.series[name] = append(out.series[name], made)
		}
	}
	return out
}
