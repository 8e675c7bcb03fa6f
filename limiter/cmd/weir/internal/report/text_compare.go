package report

import (
	"bytes"
	"fmt"
	"strings"
)

// writePair compares two runs side by side.
func (r *Report) writePair(b *bytes.Buffer) {
	b.WriteString("\nTwo configurations\n")
	for i := range r.Runs {
		fmt.Fprintf(b, "  %c  %s\n", 'A'+i, strings.TrimSpace(printable(r.Runs[i].Name, 90)))
	}
	r.writeSettings(b)
	rule := ""
	t := table{indent: "  ", align: "lrrr"}
	t.row("", "A", "B", "difference")
	for _, c := range r.comparisons() {
		if c.Rule != rule {
			rule = c.Rule
			t.row("rule " + rule)
		}
		label := c.Label
		if rule != "" {
			label = "  " + label
		}
		t.row(label, c.Cells[0].String(), c.Cells[1].String(), c.difference())
	}
	b.WriteString("\n")
	t.write(b)
}

// writeSettings lists what differs in the configurations of rules.
func (r *Report) writeSettings(b *bytes.Buffer) {
	same := true
	for _, s := range r.settings() {
		if s.Same {
			continue
		}
		if same {
			b.WriteString("\n  Their rules differ:\n")
			same = false
		}
		fmt.Fprintf(b, "    rule %s, %s\n", s.Rule, s.Label)
		for i, cell := range s.Cells {
			b.WriteString(wrap(fmt.Sprintf("%c  %s", 'A'+i, cell), "      ", textWidth))
		}
	}
	if same {
		b.WriteString("\n  Their rules have the same keys and limits.\n")
	}
}

// writeRanking compares many runs in one table.
func (r *Report) writeRanking(b *bytes.Buffer) {
	b.WriteString("\n" + wrap(sentence(r.extremes()), "", textWidth) + "\n")
	t := table{indent: "  ", align: "lrrrrrr"}
	t.row("", "requests", "admitted", "refused", "", "in shadow", "errors")
	for i := range r.Runs {
		x := &r.Runs[i]
		t.row(printable(x.Name, 30), count(x.Requests), count(x.Admitted), count(x.Refused),
			share(x.Refused, x.Requests), count(x.Timeline.shadow()), count(x.Errors))
	}
	t.write(b)
	for _, rule := range r.ruleNames() {
		r.writeRuleRanking(b, rule)
	}
}

// writeRuleRanking compares what many runs made of one rule.
func (r *Report) writeRuleRanking(b *bytes.Buffer, rule string) {
	counts := table{indent: "  ", rows: r.names("rule " + rule), align: "l"}
	for _, c := range r.compareRule(rule) {
		always := c.Label == "refused" || c.Label == "clients refused" || strings.HasPrefix(c.Label, "most in")
		if c.Label == "admitted" || !always && c.same() {
			continue
		}
		counts.column('r', c.Label, func(run int) string { return c.Cells[run].String() })
	}
	if len(counts.align) < 6 {
		counts.column('l', "refused most often", func(run int) string {
			if j := r.Runs[run].rule(rule); j >= 0 && len(r.Runs[run].Rules[j].TopRefused) > 0 {
				top := r.Runs[run].Rules[j].TopRefused[0]
				return top.name(24)
			}
			return "–"
		})
	}
	b.WriteString("\n")
	counts.write(b)
	r.writeUsedRanking(b, rule)
	for i := range r.Runs {
		if j := r.Runs[i].rule(rule); j >= 0 {
			r.Runs[i].Rules[j].writeSuggestions(b)
			break
		}
	}
}

// writeUsedRanking compares how close the clients came under many runs.
func (r *Report) writeUsedRanking(b *bytes.Buffer, rule string) {
	t := table{indent: "  ", rows: r.names("used, percent"), align: "l"}
	for i, head := range usedHead() {
		t.column('r', head, func(run int) string {
			j := r.Runs[run].rule(rule)
			if j < 0 {
				return "–"
			}
			numbers, _ := r.Runs[run].Rules[j].usedRow()
			return numbers[i]
		})
	}
	b.WriteString("\n  Clients by the most that they ever used of a limit:\n")
	t.write(b)
}

// names begins a table with a row for each run.
func (r *Report) names(head string) [][]string {
	rows := [][]string{{head}}
	for i := range r.Runs {
		rows = append(rows, []string{printable(r.Runs[i].Name, 20)})
	}
	return rows
}
