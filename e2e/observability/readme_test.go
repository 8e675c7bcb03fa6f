package observability

import (
	"encoding/json"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/config"
	"go.yaml.in/yaml/v3"
)

// block is the one block of README.md, in that language, that begins with the text.
func block(t *testing.T, language, begin string) string {
	t.Helper()
	var found []string
	for _, part := range strings.Split(readFile(t, "README.md"), "\n```"+language+"\n")[1:] {
		if text, _, ok := strings.Cut(part, "```"); ok && strings.HasPrefix(text, begin) {
			found = append(found, text)
		}
	}
	if len(found) != 1 {
		t.Fatalf("README.md has %d blocks of %s that begin with %q, want 1", len(found), language, begin)
	}
	return found[0]
}

// TestScrapeConfig: Prometheus takes what the page says, and what it keeps is all that
// the dashboard and the rules need.
func TestScrapeConfig(t *testing.T) {
	text := block(t, "yaml", "scrape_configs:")
	parsed, err := config.Load(text, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	scrape := parsed.ScrapeConfigs[0]
	if len(parsed.ScrapeConfigs) != 1 || scrape.MetricsPath != "/stats/prometheus" || len(scrape.MetricRelabelConfigs) != 1 {
		t.Fatalf("%s", text)
	}
	keep := scrape.MetricRelabelConfigs[0].Regex
	for _, name := range append(selectedNames(t), "weir_rule_limited", "envoy_wasm_weir_vm_reload_success") {
		if !keep.MatchString(name) {
			t.Errorf("%s is not kept", name)
		}
	}
	if keep.MatchString("envoy_cluster_upstream_cx_total") {
		t.Error("everything is kept")
	}
}

// TestAccessLog: a real Envoy takes the access log of the page, and writes the lines
// that are shown there.
func TestAccessLog(t *testing.T) {
	var settings object
	if err := yaml.Unmarshal([]byte(block(t, "yaml", "access_log:")), &settings); err != nil {
		t.Fatal(err)
	}
	configurations := map[string]string{"weir": strings.Replace(limits, "{", `{"headers": ["retry-after", "ratelimit"],`, 1)}
	envoy := start(t, bootstrap(t, configurations, settings, map[string]string{"service": serve(t, service)}))
	for i, want := range []int{200, 200, 200, 429} {
		got, err := ask(t.Context(), envoy, "weir", "/api/hello", "x-user-id", "alice")
		if err != nil || got != want {
			t.Fatalf("request %d: %d, %v, want %d", i, got, err, want)
		}
	}
	if err := envoy.Stop(); err != nil {
		t.Fatal(err)
	}
	var got []object
	for line := range strings.Lines(envoy.Log()) {
		var o object
		if json.Unmarshal([]byte(line), &o) == nil {
			t.Log(line)
			got = append(got, o)
		}
	}
	var want []object
	for line := range strings.Lines(block(t, "json", "{")) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		want = append(want, o)
	}
	if len(got) != 4 || len(want) != 2 {
		t.Fatalf("%d lines, and %d are shown; want 4 and 2", len(got), len(want))
	}
	for i, shown := range want {
		compareLines(t, got[i+2], shown)
	}
}

// compareLines compares all but who asked and when, and seconds in it.
func compareLines(t *testing.T, got, want object) {
	t.Helper()
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		t.Errorf("fields %v, want %v", got, want)
	}
	for field, value := range want {
		switch field {
		case "start_time", "downstream_remote_address", "authority", "duration":
			if got[field] == nil {
				t.Errorf("%s is not there", field)
			}
		case "path":
			if path, _ := got[field].(string); !strings.HasPrefix(path, value.(string)) {
				t.Errorf("%s: %v, want %v", field, got[field], value)
			}
		case "weir_remaining", "weir_retry_after":
			if cutSeconds(got[field]) != cutSeconds(value) {
				t.Errorf("%s: %v, want %v", field, got[field], value)
			}
		default:
			if got[field] != value {
				t.Errorf("%s: %v, want %v", field, got[field], value)
			}
		}
	}
}

var endsInAnHour = regexp.MustCompile(`3[56]\d\d$`)

// cutSeconds leaves out the seconds of what ends in about an hour.
func cutSeconds(value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	return endsInAnHour.ReplaceAllString(text, "3600")
}
