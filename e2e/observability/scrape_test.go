package observability

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/weirproxy/weir/e2e/envoyproc"
)

// A scrape is what Envoy tells at one time: the values of its series, by what the
// series are called in full, and by the metric.
type scrape struct {
	values map[string]float64
	series map[string][]labels.Labels
}

// target are the labels that Prometheus adds to each series.
var target = labels.FromStrings("instance", "127.0.0.1:9901", "job", "envoy")

// scraped asks Envoy as Prometheus does.
func scraped(t *testing.T, envoy *envoyproc.Process) scrape {
	t.Helper()
	response, err := http.Get("http://" + envoy.Admin() + "/stats/prometheus")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("scrape: %s, %v", response.Status, err)
	}
	s, err := parseScrape(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parseScrape(text string) (scrape, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return scrape{}, fmt.Errorf("scrape: %w", err)
	}
	vector, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, slices.Collect(maps.Values(families))...)
	if err != nil {
		return scrape{}, fmt.Errorf("scrape: %w", err)
	}
	s := scrape{map[string]float64{}, map[string][]labels.Labels{}}
	for _, sample := range vector {
		b := labels.NewBuilder(target)
		for name, value := range sample.Metric {
			b.Set(string(name), string(value))
		}
		series := b.Labels()
		s.values[series.String()] = float64(sample.Value)
		name := series.Get(model.MetricNameLabel)
		s.series[name] = append(s.series[name], series)
	}
	return s, nil
}

// sum adds up all series of a metric that have these labels.
func (s scrape) sum(metric string, want ...string) (total float64) {
	for _, series := range s.series[metric] {
		all := true
		for i := 0; i < len(want); i += 2 {
			all = all && series.Get(want[i]) == want[i+1]
		}
		if all {
			total += s.values[series.String()]
		}
	}
	return total
}

// load are two scrapes, some minutes apart, in the language of Prometheus' tests.
func load(before, after scrape) string {
	var b strings.Builder
	b.WriteString("load 1m\n")
	for _, series := range slices.Sorted(maps.Keys(after.values)) {
		fmt.Fprintf(&b, "  %s %g %g %g\n", series, before.values[series], before.values[series], after.values[series])
	}
	return b.String()
}
