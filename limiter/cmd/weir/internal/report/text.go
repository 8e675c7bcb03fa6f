package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// textWidth is how many characters a line of text has at most, but for long
// names of rules.
const textWidth = 100

// WriteText writes the report for a terminal: in UTF-8, without colours, in
// lines of at most 100 characters. One run is told in full. Two are compared
// side by side first. More are only compared, in tables with a line for each.
func (r *Report) WriteText(w io.Writer) error {
	var b bytes.Buffer
	r.Input.writeText(&b)
	switch len(r.Runs) {
	case 0, 1:
	case 2:
		r.writePair(&b)
	default:
		r.writeRanking(&b)
	}
	for i := range r.Runs {
		if len(r.Runs) > 2 {
			break
		}
		name := strings.TrimSpace(printable(r.Runs[i].Name, 90))
		if len(r.Runs) == 2 {
			name = fmt.Sprintf("%c  %s", 'A'+i, name)
		}
		b.WriteString("\n" + name + "\n")
		r.writeRun(&b, i)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeText says where the requests came from.
func (in *Input) writeText(b *bytes.Buffer) {
	t := table{indent: "  ", align: "lrl"}
	b.WriteString("Input\n")
	b.WriteString(wrap(in.source(), "  ", textWidth))
	if !in.From.IsZero() {
		fmt.Fprintf(b, "  %s to %s UTC (%v)\n", moment(in.From), moment(in.To), in.length())
	}
	t.row(in.unit(), count(in.Lines))
	if in.Broken > 0 {
		t.row("broken", count(in.Broken), "did not parse, and were left out")
	}
	if in.Late > 0 {
		t.row("late", count(in.Late), "further out of order than allowed, decided late")
	}
	t.write(b)
	for _, s := range in.Sample {
		fmt.Fprintf(b, "    %s:%d: %s\n", printable(s.File, 40), s.Line, strings.TrimRight(printable(s.Error, 45), " "))
		fmt.Fprintf(b, "      %s\n", strings.TrimRight(printable(s.Text, 85), " "))
	}
	in.writeFaults(b)
	if len(in.NotLogged) > 0 {
		b.WriteString("  Not in the log, and so taken as absent:\n")
		t := table{indent: "    ", align: "lrl"}
		for _, n := range in.NotLogged {
			t.row(printable(n.Field, 60), count(n.Asked), plural(n.Asked, "time", "times"))
		}
		t.write(b)
	}
}

// source names the files or the traffic.
func (in *Input) source() string {
	names, what := in.Files, in.Format
	if len(in.Traffic) > 0 {
		names, what = in.Traffic, "made-up traffic"
	}
	var shown []string
	for i, name := range names {
		if i == 5 {
			shown = append(shown, fmt.Sprintf("and %s more", count(int64(len(names)-i))))
			break
		}
		if name == "-" {
			name = "standard input"
		}
		shown = append(shown, printable(name, 80))
	}
	source := strings.Join(shown, ", ")
	if what != "" {
		source += " (" + printable(what, 40) + ")"
	}
	return source
}

// unit names what the input consists of.
func (in *Input) unit() string {
	if len(in.Traffic) > 0 {
		return "requests"
	}
	return "lines"
}

// length is the time from the first to the last request, in seconds if it is
// long.
func (in *Input) length() Duration {
	d := in.To.Sub(in.From)
	if d > time.Minute {
		d = d.Round(time.Second)
	}
	return Duration(d)
}

// writeRun tells of one run in full.
func (r *Report) writeRun(b *bytes.Buffer, run int) {
	x := &r.Runs[run]
	b.WriteString(wrap(sentence(r.answer(run)), "", textWidth))
	if x.Requests == 0 {
		return
	}
	t := table{indent: "  ", align: "lrrl"}
	t.row("admitted", count(x.Admitted), share(x.Admitted, x.Requests))
	if x.Unmatched > 0 {
		t.row("  no rule", count(x.Unmatched), share(x.Unmatched, x.Requests), "matched, or they were exempt")
	}
	t.row("refused", count(x.Refused), share(x.Refused, x.Requests))
	if x.Errors > 0 {
		t.row("errors", count(x.Errors), share(x.Errors, x.Requests), "on_error applied")
	}
	t.write(b)
	x.Timeline.writeText(b)
	for i := range x.Rules {
		x.Rules[i].writeText(b, r.suggestedBefore(run, i))
	}
}

// writeText draws refusals over time in one line.
func (t *Timeline) writeText(b *bytes.Buffer) {
	refused := make([]int64, t.slots())
	some := false
	for i := range refused {
		refused[i] = plus(at(t.Refused, i), at(t.Shadow, i))
		some = some || refused[i] > 0
	}
	if !some {
		return
	}
	fmt.Fprintf(b, "  refused or in shadow, over time (%v):\n  |%s|\n", Duration(t.span()),
		strings.Join(bars(fold(refused, 80)), ""))
}
