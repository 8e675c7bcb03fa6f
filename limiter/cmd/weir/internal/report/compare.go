package report

import (
	"slices"
	"strings"
)

// A comparison is one count in each run. Cells are texts where a run does not
// have the rule.
type comparison struct {
	Rule  string // empty: of the run
	Label string
	Cells []figure
}

// same reports whether all runs agree.
func (c *comparison) same() bool {
	for _, f := range c.Cells {
		if f.String() != c.Cells[0].String() {
			return false
		}
	}
	return true
}

// difference writes how much more the last cell is than the first.
func (c *comparison) difference() string {
	a, b := c.Cells[0], c.Cells[len(c.Cells)-1]
	if a.Path == "" || b.Path == "" {
		return ""
	}
	return difference(a.Value, b.Value)
}

// comparisons lists the counts of all runs side by side. What is nowhere is left
// out.
func (r *Report) comparisons() (all []comparison) {
	totals := []struct {
		label, name string
		value       func(*Run) int64
	}{
		{"requests", "requests", func(x *Run) int64 { return x.Requests }},
		{"admitted", "admitted", func(x *Run) int64 { return x.Admitted }},
		{"refused", "refused", func(x *Run) int64 { return x.Refused }},
		{"refused in shadow", "timeline.shadow", func(x *Run) int64 { return x.Timeline.shadow() }},
		{"no rule matched", "unmatched", func(x *Run) int64 { return x.Unmatched }},
		{"errors", "errors", func(x *Run) int64 { return x.Errors }},
	}
	for i, t := range totals {
		c := comparison{Label: t.label}
		some := i < 3
		for run := range r.Runs {
			v := t.value(&r.Runs[run])
			c.Cells = append(c.Cells, number(v, runPath(run), t.name))
			some = some || v != 0
		}
		if some {
			all = append(all, c)
		}
		if t.label == "refused" {
			all = append(all, r.refusedShares())
		}
	}
	for _, rule := range r.ruleNames() {
		all = append(all, r.compareRule(rule)...)
	}
	return all
}

// refusedShares says what share of its requests each run refused.
func (r *Report) refusedShares() comparison {
	c := comparison{Label: "  of all"}
	for i := range r.Runs {
		c.Cells = append(c.Cells, text(share(r.Runs[i].Refused, r.Runs[i].Requests)))
	}
	return c
}

// compareRule lists the counts of one rule.
func (r *Report) compareRule(name string) (all []comparison) {
	labels := []string{"admitted", "refused", "clients", "clients refused"}
	rows := map[string][]figure{}
	for run := range r.Runs {
		j := r.Runs[run].rule(name)
		if j < 0 {
			continue
		}
		rule, path := &r.Runs[run].Rules[j], rulePath(run, j)
		put := func(label string, f figure) {
			if !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
			for len(rows[label]) < len(r.Runs) {
				rows[label] = append(rows[label], text("–"))
			}
			rows[label][run] = f
		}
		put("clients", number(rule.Clients, path, "clients"))
		put("clients refused", number(rule.RefusedClients, path, "refused_clients"))
		for _, c := range rule.counts(path) {
			put(c.Label, c.Count)
		}
	}
	for _, label := range labels {
		all = append(all, comparison{name, label, rows[label]})
	}
	return all
}

// rule returns the index of a rule, or -1.
func (x *Run) rule(name string) int {
	return slices.IndexFunc(x.Rules, func(r Rule) bool { return r.Name == name })
}

// ruleNames lists the rules of all runs, each once.
func (r *Report) ruleNames() (names []string) {
	for _, run := range r.Runs {
		for _, rule := range run.Rules {
			if !slices.Contains(names, rule.Name) {
				names = append(names, rule.Name)
			}
		}
	}
	return names
}

// A setting is one part of a rule's configuration in each run.
type setting struct {
	Rule, Label string
	Cells       []string
	Same        bool
}

// settings lists the configurations of all runs side by side.
func (r *Report) settings() (all []setting) {
	parts := []struct {
		label string
		of    func(*Rule) string
	}{
		{"key", (*Rule).key},
		{"limits", func(r *Rule) string { return strings.Join(r.limits(), "; ") }},
		{"enforced", (*Rule).enforced},
	}
	for _, name := range r.ruleNames() {
		for _, part := range parts {
			s := setting{Rule: name, Label: part.label, Same: true}
			for run := range r.Runs {
				cell := "no such rule"
				if j := r.Runs[run].rule(name); j >= 0 {
					cell = part.of(&r.Runs[run].Rules[j])
				}
				s.Cells = append(s.Cells, cell)
				s.Same = s.Same && cell == s.Cells[0]
			}
			all = append(all, s)
		}
	}
	return all
}
