package report

import (
	"slices"
	"strconv"
	"strings"
)

// A suggested is the table of suggestions of a rule: a row for each window, a
// column for each share that was asked for.
type suggested struct {
	Columns  []suggestedColumn
	Requests int       // how many of the columns are of requests; the others are of clients
	Totals   [2]figure // of requests and of clients: what the shares are of
	Rows     []suggestedRow
}

type suggestedColumn struct {
	Of    string
	Share float64
}

type suggestedRow struct {
	Limit      string
	Window     Duration
	Configured figure
	Cells      []suggestedCell // as many as columns
}

// A suggestedCell is one limit. Its figures are empty if there is none.
type suggestedCell struct{ Limit, Refused figure }

// suggestedOf is what limits are suggested by.
var suggestedOf = []string{"requests", "clients"}

// Noun is what the total of an index counts.
func (t suggested) Noun(i int) string {
	return plural(t.Totals[i].Value, strings.TrimSuffix(suggestedOf[i], "s"), suggestedOf[i])
}

// suggested arranges the suggestions.
func (r *Rule) suggested(path string) (t suggested) {
	for _, of := range suggestedOf {
		first := len(t.Columns)
		for _, s := range r.Suggestions {
			if c := (suggestedColumn{s.Of, s.Share}); s.Of == of && !slices.Contains(t.Columns, c) {
				t.Columns = append(t.Columns, c)
			}
		}
		slices.SortFunc(t.Columns[first:], func(a, b suggestedColumn) int {
			if a.Share < b.Share {
				return -1
			}
			return 1
		})
		if of == "requests" {
			t.Requests = len(t.Columns)
		}
	}
	for i, s := range r.Suggestions {
		cells := t.row(r, s, path)
		column := slices.Index(t.Columns, suggestedColumn{s.Of, s.Share})
		if column < 0 || s.Total == 0 {
			continue
		}
		at := path + ".suggestions." + strconv.Itoa(i)
		cells[column] = suggestedCell{number(s.Requests, at, "requests"), number(s.Refused, at, "refused")}
		if of := slices.Index(suggestedOf, s.Of); t.Totals[of].Path == "" {
			t.Totals[of] = number(s.Total, at, "total")
		}
	}
	return t
}

// row finds or makes the row of a suggestion.
func (t *suggested) row(r *Rule, s Suggestion, path string) []suggestedCell {
	for i := range t.Rows {
		if t.Rows[i].Limit == s.Limit && t.Rows[i].Window == s.Window {
			return t.Rows[i].Cells
		}
	}
	row := suggestedRow{Limit: s.Limit, Window: s.Window, Configured: text("–"), Cells: make([]suggestedCell, len(t.Columns))}
	for i, l := range r.Limits {
		if l.Name == s.Limit {
			row.Configured = l.configured(path + ".limits." + strconv.Itoa(i))
		}
	}
	for i := range row.Cells {
		row.Cells[i].Limit = text("–")
	}
	t.Rows = append(t.Rows, row)
	return row.Cells
}
