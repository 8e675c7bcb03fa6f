package observability

import (
	"fmt"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

var language = parser.NewParser(parser.Options{})

// known are the metrics that a query may name, each with its labels.
type known map[string][]string

// emitted are the metrics of a scrape.
func emitted(s scrape) known {
	k := known{}
	for name, all := range s.series {
		for _, series := range all {
			series.Range(func(l labels.Label) { k.add(name, l.Name) })
		}
	}
	return k
}

func (k known) add(metric string, names ...string) {
	for _, name := range names {
		if !slices.Contains(k[metric], name) {
			k[metric] = append(k[metric], name)
		}
	}
}

// check says what a query names that nobody emits. The labels that it groups and
// matches by must be of the metrics below.
func (k known) check(query string) (problems []error) {
	expr, err := language.ParseExpr(query)
	if err != nil {
		return []error{fmt.Errorf("%q: %w", query, err)}
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		var names []string
		switch n := node.(type) {
		case *parser.VectorSelector:
			for _, m := range n.LabelMatchers {
				names = append(names, m.Name)
			}
			if len(k.selected(n)) == 0 {
				problems = append(problems, fmt.Errorf("%q: nobody emits %s", query, n))
				return nil
			}
		case *parser.AggregateExpr:
			names = n.Grouping
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				names = slices.Concat(n.VectorMatching.MatchingLabels, n.VectorMatching.Include)
			}
		}
		for _, name := range names {
			if err := k.lacks(node, name); err != nil {
				problems = append(problems, fmt.Errorf("%q: %w", query, err))
			}
		}
		return nil
	})
	return problems
}

// selected are the metrics that a selector selects.
func (k known) selected(s *parser.VectorSelector) (metrics []string) {
	for metric := range k {
		all := true
		for _, m := range s.LabelMatchers {
			all = all && (m.Name != model.MetricNameLabel || m.Matches(metric))
		}
		if all {
			metrics = append(metrics, metric)
		}
	}
	return metrics
}

// lacks names a metric under the node that has not the label.
func (k known) lacks(node parser.Node, label string) (err error) {
	parser.Inspect(node, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			for _, metric := range k.selected(s) {
				if !slices.Contains(k[metric], label) {
					err = fmt.Errorf("%s has no label %q, only %q", metric, label, k[metric])
				}
			}
		}
		return nil
	})
	return err
}

// names are the metrics that a query names, each in full.
func names(query string) (all []string, err error) {
	expr, err := language.ParseExpr(query)
	if err != nil {
		return nil, err
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok && s.Name != "" {
			all = append(all, s.Name)
		}
		return nil
	})
	return all, nil
}
