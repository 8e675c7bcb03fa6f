package observability

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// readRules are the rules of all groups, as Prometheus reads them.
func readRules(t *testing.T) (all []rulefmt.Rule) {
	t.Helper()
	groups, errs := rulefmt.Parse([]byte(readFile(t, "rules.yaml")), false, model.LegacyValidation, language, slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Fatal(err)
	}
	for _, group := range groups.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// grouping are the labels that the result of a recording rule has: those of the
// first aggregation in it.
func grouping(t *testing.T, query string) (names []string) {
	t.Helper()
	expr, err := language.ParseExpr(query)
	if err != nil {
		t.Fatal(err)
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if a, ok := node.(*parser.AggregateExpr); ok && names == nil {
			names = a.Grouping
		}
		return nil
	})
	return names
}

// TestAlertsAreComplete: whoever is woken by an alert is told what it is and what to
// do, here and in README.md, and the tests have a case in which it fires and one in
// which it does not.
func TestAlertsAreComplete(t *testing.T) {
	fires, rests := map[string]bool{}, map[string]bool{}
	for _, group := range readTests(t).Tests {
		for _, a := range group.Alerts {
			if len(a.Want) > 0 {
				fires[a.Name] = true
			} else {
				rests[a.Name] = true
			}
		}
	}
	page := readFile(t, "README.md")
	alerts := 0
	for _, r := range readRules(t) {
		if r.Alert == "" {
			continue
		}
		alerts++
		severity := r.Labels["severity"]
		if !slices.Contains([]string{"critical", "warning", "info"}, severity) || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s: severity %q, annotations %q", r.Alert, severity, r.Annotations)
		}
		if !fires[r.Alert] || !rests[r.Alert] {
			t.Errorf("%s: a test in which it fires: %t, one in which it does not: %t", r.Alert, fires[r.Alert], rests[r.Alert])
		}
		if !strings.Contains(page, "`"+r.Alert+"` | "+severity+" |") {
			t.Errorf("README.md has no row for %s, %s", r.Alert, severity)
		}
	}
	if alerts != 8 {
		t.Errorf("%d alerts, want 8", alerts)
	}
}

// selectedNames are the metrics of Envoy that the rules and the dashboard name.
func selectedNames(t *testing.T) (all []string) {
	t.Helper()
	var queries []string
	recorded := map[string]bool{}
	for _, r := range readRules(t) {
		queries = append(queries, r.Expr)
		recorded[r.Record] = true
	}
	d := readDashboard(t)
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			if query, err := d.query(target.Expr); err == nil && !p.optional() {
				queries = append(queries, query)
			}
		}
	}
	for _, query := range queries {
		found, err := names(query)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if !recorded[name] {
				all = append(all, name)
			}
		}
	}
	return all
}
