package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

var (
	//go:embed page.tmpl
	pageTemplate string
	//go:embed run.tmpl
	runTemplate string
	//go:embed page.css
	pageStyle string
)

var pages = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": number,
	"digits": func(v int64) string { return grouped(v, "\u202f") },
	"path": func(parts ...any) string {
		texts := make([]string, len(parts))
		for i, p := range parts {
			texts[i] = fmt.Sprint(p)
		}
		return strings.Join(texts, ".")
	},
	"plain":   func(most int, s string) string { return printable(s, most) },
	"moment":  moment,
	"tight":   func(s string) string { return strings.ReplaceAll(s, " %", "\u202f%") },
	"percent": percent,
	"letter":  func(i int) string { return string(rune('A' + i)) },
	"sub":     func(a, b int) int { return a - b },
}).Parse(pageTemplate + runTemplate))

// WriteHTML writes the report as one HTML page. It loads nothing, has no script,
// and forbids both by its Content-Security-Policy. Everything in it that comes
// from requests or files is escaped.
func (r *Report) WriteHTML(w io.Writer) error {
	raw, err := r.json()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := pages.Execute(&b, r.page(string(raw))); err != nil {
		return fmt.Errorf("cannot write the report as HTML: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// A page is what the template shows.
type page struct {
	*Report
	Style       template.CSS
	Source      string
	Answer      []figure // of more than two runs
	Views       []runView
	Comparisons []comparison
	Settings    []setting
	Lines       []pairOfLines // of two configurations
	SameConfig  bool
	JSON        string
}

// A runView is a run for the template.
type runView struct {
	*Run
	Index  int
	Letter string // of one of two
	Path   string
	Answer []figure
	Chart  chart
	Rules  []ruleView
}

// A ruleView is a rule for the template.
type ruleView struct {
	*Rule
	Path      string
	Counts    []counted
	Used, Top []bar
	Suggested suggested
	Told      bool // the suggestions are those of the first run
}

// A bar is a count with its length.
type bar struct {
	Label  string
	Count  figure
	AtMost figure // if the truth lies between
	Class  string
	Length float64 // percent
}

func (r *Report) page(raw string) *page {
	p := &page{Report: r, Style: template.CSS(pageStyle), Source: r.Input.source(), JSON: raw, Settings: r.settings()}
	if len(r.Runs) > 1 {
		p.Comparisons = r.comparisons()
	}
	if len(r.Runs) == 2 {
		p.Lines, p.SameConfig = pairLines(indented(r.Runs[0].Config), indented(r.Runs[1].Config))
	}
	f := wide
	if len(r.Runs) > 2 {
		p.Answer, f = r.extremes(), narrow
	}
	for i := range r.Runs {
		f = f.fit(&r.Runs[i].Timeline)
	}
	for i := range r.Runs {
		x := &r.Runs[i]
		v := runView{Run: x, Index: i, Path: runPath(i), Answer: r.answer(i), Chart: x.Timeline.chart(f)}
		if len(r.Runs) == 2 {
			v.Letter = string(rune('A' + i))
		}
		for j := range x.Rules {
			v.Rules = append(v.Rules, x.Rules[j].view(rulePath(i, j), r.suggestedBefore(i, j)))
		}
		p.Views = append(p.Views, v)
	}
	return p
}

func (r *Rule) view(path string, told bool) ruleView {
	v := ruleView{Rule: r, Path: path, Counts: r.counts(path), Suggested: r.suggested(path), Told: told}
	for i, n := range r.Used {
		v.Used = append(v.Used, bar{
			Label: fmt.Sprintf("%d–%d\u202f%%", 10*i, 10*(i+1)), Class: "admitted",
			Count: number(n, path, fmt.Sprintf("used.%d", i)),
		})
	}
	v.Used = append(v.Used, bar{Label: "refused", Class: "refused", Count: number(r.RefusedClients, path, "refused_clients")})
	for i, k := range r.TopRefused {
		at := fmt.Sprintf("%s.top_refused.%d", path, i)
		b := bar{Label: k.name(160), Class: "refused", Count: number(k.Refused, at, "refused")}
		if k.AtMost > k.Refused {
			b.AtMost = number(k.AtMost, at, "at_most")
		}
		v.Top = append(v.Top, b)
	}
	measure(v.Used)
	measure(v.Top)
	return v
}

// measure gives the longest bar all the room.
func measure(bars []bar) {
	var most int64 = 1
	for _, b := range bars {
		most = max(most, b.Count.Value)
	}
	for i := range bars {
		bars[i].Length = round(100 * float64(bars[i].Count.Value) / float64(most))
	}
}

// Difference writes how much more the last cell is than the first.
func (c comparison) Difference() string { return c.difference() }

// Same reports whether all runs agree.
func (c comparison) Same() bool { return c.same() }

// Limits are the limits in words.
func (v ruleView) Limits() []string { return v.limits() }

// Enforced says for whom the rule is enforced.
func (v ruleView) Enforced() string { return v.enforced() }

// Key is the key in words.
func (v ruleView) Key() string { return v.key() }

// Followed says how many clients there were.
func (v ruleView) Followed() string { return v.followed() }

// Unit names what the input consists of.
func (p *page) Unit() string { return p.Input.unit() }

// Length is the time from the first to the last request.
func (p *page) Length() Duration { return p.Input.length() }
