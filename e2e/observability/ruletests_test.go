package observability

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"go.yaml.in/yaml/v3"
)

// ruleTests are what we use of promtool's format of tests. promtool itself would
// bring all that Prometheus can discover along.
type ruleTests struct {
	RuleFiles []string       `yaml:"rule_files"`
	Order     []string       `yaml:"group_eval_order"`
	Interval  model.Duration `yaml:"evaluation_interval"`
	Tests     []ruleTest     `yaml:"tests"`
}

type ruleTest struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval"`
	Series   []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Alerts  []alertTest `yaml:"alert_rule_test"`
	Queries []struct {
		Expr string         `yaml:"expr"`
		At   model.Duration `yaml:"eval_time"`
		Want []struct {
			Labels string  `yaml:"labels"`
			Value  float64 `yaml:"value"`
		} `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
}

type alertTest struct {
	At   model.Duration `yaml:"eval_time"`
	Name string         `yaml:"alertname"`
	Want []struct {
		Labels      map[string]string `yaml:"exp_labels"`
		Annotations map[string]string `yaml:"exp_annotations"`
	} `yaml:"exp_alerts"`
}

func readTests(t *testing.T) (r ruleTests) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(readFile(t, "rules_test.yaml"))))
	decoder.KnownFields(true)
	if err := decoder.Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRules runs rules_test.yaml as promtool does: Prometheus' own manager of rules
// evaluates them, minute by minute, on the series of each test.
func TestRules(t *testing.T) {
	r := readTests(t)
	if !slices.Equal(r.RuleFiles, []string{"rules.yaml"}) {
		t.Fatalf("files %q", r.RuleFiles)
	}
	for _, test := range r.Tests {
		t.Run(test.Name, func(t *testing.T) { test.run(t, time.Duration(r.Interval), r.Order) })
	}
}

func (r ruleTest) run(t *testing.T, step time.Duration, order []string) {
	var series strings.Builder
	fmt.Fprintf(&series, "load %s\n", r.Interval)
	for _, s := range r.Series {
		fmt.Fprintf(&series, "  %s %s\n", s.Series, s.Values)
	}
	data, err := promqltest.NewLazyLoader(series.String(), promqltest.LazyLoaderOpts{EnableAtModifier: true, EnableNegativeOffset: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	}()
	data.SubqueryInterval = step
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:    rules.EngineQueryFunc(data.QueryEngine(), data.Storage()),
		AppendableV2: data.Storage(),
		Context:      t.Context(),
		NotifyFunc:   func(context.Context, string, ...*rules.Alert) {},
		Logger:       slog.New(slog.DiscardHandler),
		Parser:       language,
	})
	loaded, errs := manager.LoadGroups(time.Duration(r.Interval), labels.EmptyLabels(), "", nil, false, folder+"rules.yaml")
	for _, err := range errs {
		t.Fatal(err)
	}
	groups := slices.SortedFunc(maps.Values(loaded), func(a, b *rules.Group) int {
		return slices.Index(order, a.Name()) - slices.Index(order, b.Name())
	})
	for now, end := time.Duration(0), r.end(); now <= end; now += step {
		data.WithSamplesTill(at0(now), func(err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range groups {
				evaluate(t, group, at0(now))
			}
		})
		for _, alert := range r.Alerts {
			if time.Duration(alert.At) == now {
				checkAlert(t, alert, groups)
			}
		}
	}
	r.checkQueries(t, data)
}

func at0(d time.Duration) time.Time { return time.Unix(0, 0).UTC().Add(d) }

func (r ruleTest) end() (end time.Duration) {
	for _, a := range r.Alerts {
		end = max(end, time.Duration(a.At))
	}
	for _, q := range r.Queries {
		end = max(end, time.Duration(q.At))
	}
	return end
}

func evaluate(t *testing.T, group *rules.Group, now time.Time) {
	t.Helper()
	group.Eval(t.Context(), now)
	for _, r := range group.Rules() {
		if err := r.LastError(); err != nil {
			t.Fatalf("%s at %s: %v", r.Name(), now, err)
		}
	}
}

// checkAlert compares who fires now, by labels and annotations.
func checkAlert(t *testing.T, test alertTest, groups []*rules.Group) {
	t.Helper()
	var got, want []string
	for _, group := range groups {
		for _, r := range group.Rules() {
			a, ok := r.(*rules.AlertingRule)
			if !ok || a.Name() != test.Name {
				continue
			}
			for _, active := range a.ActiveAlerts() {
				if active.State == rules.StateFiring {
					got = append(got, active.Labels.String()+" "+active.Annotations.String())
				}
			}
		}
	}
	for _, w := range test.Want {
		all := maps.Clone(w.Labels)
		all[labels.AlertName] = test.Name
		want = append(want, labels.FromMap(all).String()+" "+labels.FromMap(w.Annotations).String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s at %s:\n got %q\nwant %q", test.Name, test.At, got, want)
	}
}

// checkQueries compares what has been recorded.
func (r ruleTest) checkQueries(t *testing.T, data *promqltest.LazyLoader) {
	t.Helper()
	for _, q := range r.Queries {
		query, err := data.QueryEngine().NewInstantQuery(t.Context(), data.Queryable(), nil, q.Expr, at0(time.Duration(q.At)))
		if err != nil {
			t.Fatal(err)
		}
		vector, err := query.Exec(t.Context()).Vector()
		if err != nil {
			t.Fatal(err)
		}
		got, want := map[string]float64{}, map[string]float64{}
		for _, sample := range vector {
			got[sample.Metric.String()] = sample.F
		}
		for _, w := range q.Want {
			metric, err := language.ParseMetric(w.Labels)
			if err != nil {
				t.Fatal(err)
			}
			want[metric.String()] = w.Value
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s at %s: %v, want %v", q.Expr, q.At, got, want)
		}
	}
}
