package report

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
)

// writeText tells of a rule in full. Suggestions that were told before are not
// told again.
func (r *Rule) writeText(b *bytes.Buffer, told bool) {
	fmt.Fprintf(b, "\nRule %s, %s\n", r.Name, r.enforced())
	b.WriteString(wrap("key: "+r.key(), "  ", textWidth))
	for _, limit := range r.limits() {
		fmt.Fprintf(b, "  limit: %s\n", limit)
	}
	t := table{indent: "  ", align: "lrl"}
	for _, c := range r.counts("") {
		t.row(c.Label, count(c.Count.Value), c.Note)
	}
	t.write(b)
	r.writeUsed(b)
	r.writeTop(b, 10)
	if told {
		b.WriteString("\n  Suggestions are as above.\n")
		return
	}
	r.writeSuggestions(b)
}

// writeUsed draws how close the quiet clients came.
func (r *Rule) writeUsed(b *bytes.Buffer) {
	if r.Clients == 0 {
		return
	}
	b.WriteString("\n" + wrap(r.followed()+", by the most that they ever used of a limit, in percent:", "  ", textWidth))
	t := table{indent: "  ", align: strings.Repeat("r", len(r.Used)+1)}
	t.row(usedHead()...)
	numbers, bars := r.usedRow()
	t.row(numbers...)
	t.row(bars...)
	t.write(b)
}

// usedHead names the columns of usedRow.
func usedHead() (head []string) {
	for i := range len(Rule{}.Used) {
		head = append(head, fmt.Sprintf("≤%d", 10*(i+1)))
	}
	return append(head, "refused")
}

// usedRow has the clients by what they used, and those refused, as numbers and
// as bars.
func (r *Rule) usedRow() (numbers, drawn []string) {
	counts := append(r.Used[:len(r.Used):len(r.Used)], r.RefusedClients)
	for _, n := range counts {
		numbers = append(numbers, compact(n))
	}
	return numbers, bars(counts)
}

// writeTop lists the keys refused most often.
func (r *Rule) writeTop(b *bytes.Buffer, most int) {
	if len(r.TopRefused) == 0 {
		return
	}
	b.WriteString("\n  Refused most often:\n")
	t := table{indent: "    ", align: "rl"}
	for i, k := range r.TopRefused {
		if i == most {
			t.row("", fmt.Sprintf("and %d more in the JSON report", len(r.TopRefused)-i))
			break
		}
		t.row(k.times(), k.name(60))
	}
	t.write(b)
}

// name is the key in at most so many characters.
func (k *Key) name(most int) string {
	if k.Key == "" {
		return "(empty)"
	}
	return printable(k.Key, most)
}

// times says how often a key was refused.
func (k *Key) times() string {
	if k.AtMost > k.Refused {
		return count(k.Refused) + " to " + count(k.AtMost)
	}
	return count(k.Refused)
}

// writeSuggestions writes the limits that would have refused little, and what is
// to be said of them.
func (r *Rule) writeSuggestions(b *bytes.Buffer) {
	if s := r.suggested(""); len(s.Rows) > 0 {
		s.writeText(b)
	} else if len(r.SuggestionNotes) > 0 {
		b.WriteString("\n")
	}
	for _, n := range r.SuggestionNotes {
		b.WriteString(wrap(printable(n.Note, 400), "  ", textWidth))
	}
}

// writeText writes the table.
func (s *suggested) writeText(b *bytes.Buffer) {
	var of []string
	for i, total := range s.Totals {
		if total.Path != "" {
			of = append(of, "of "+grouped(total.Value, unbroken)+" "+s.Noun(i))
		}
	}
	b.WriteString("\n" + wrap("The smallest limit that would have refused at most this share "+strings.Join(of, " or ")+
		", each window by itself:", "  ", textWidth))
	t := table{indent: "  ", align: "llr"}
	head, above := []string{"limit", "window", "configured"}, []string{"", "", ""}
	for i, c := range s.Columns {
		head, t.align = append(head, percent(c.Share)), t.align+"r"
		name := ""
		if i == 0 || i == s.Requests {
			name = "of " + c.Of
		}
		above = append(above, name)
	}
	t.row(above...)
	t.row(head...)
	for _, row := range s.Rows {
		cells := []string{row.Limit, row.Window.String(), row.Configured.String()}
		for _, c := range row.Cells {
			cells = append(cells, c.Limit.String())
		}
		t.row(cells...)
	}
	t.write(b)
}

// suggestedBefore reports whether the first run has the same suggestions for a
// rule: they follow from the requests and the windows, not from the limits.
func (r *Report) suggestedBefore(run, rule int) bool {
	x := &r.Runs[run].Rules[rule]
	if run == 0 || len(x.Suggestions) == 0 {
		return false
	}
	j := r.Runs[0].rule(x.Name)
	if j < 0 {
		return false
	}
	first := &r.Runs[0].Rules[j]
	return reflect.DeepEqual(first.Suggestions, x.Suggestions) && reflect.DeepEqual(first.SuggestionNotes, x.SuggestionNotes)
}
