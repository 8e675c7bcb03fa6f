package report

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A table aligns its cells in columns, two blanks apart.
type table struct {
	indent string
	align  string // a letter for each column: l, or r for numbers
	rows   [][]string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// column adds a column to a table that has a row for each run below its head.
func (t *table) column(align byte, head string, cell func(run int) string) {
	t.align += string(align)
	t.rows[0] = append(t.rows[0], head)
	for run := range t.rows[1:] {
		t.rows[run+1] = append(t.rows[run+1], cell(run))
	}
}

// write appends the table. Lines have no blanks at the end.
func (t *table) write(b *bytes.Buffer) {
	widths := make([]int, len(t.align))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		line := t.indent
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.align[i] == 'r' {
				line += pad + cell + "  "
			} else {
				line += cell + pad + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// bars draws counts as blocks of different height, one character each. The
// highest stands for the greatest; only nothing is a blank.
func bars(counts []int64) []string {
	var most int64
	for _, n := range counts {
		most = max(most, n)
	}
	out := make([]string, len(counts))
	for i, n := range counts {
		out[i] = " "
		if n > 0 {
			out[i] = string([]rune("▁▂▃▄▅▆▇█")[int(7*float64(n)/float64(most))])
		}
	}
	return out
}

// fold adds neighbours until there are at most so many.
func fold(counts []int64, most int) []int64 {
	width := (len(counts) + most - 1) / most
	if width <= 1 {
		return counts
	}
	var out []int64
	for i, n := range counts {
		if i%width == 0 {
			out = append(out, 0)
		}
		out[len(out)-1] = plus(out[len(out)-1], n)
	}
	return out
}

// unbroken is a blank that wrap does not break at. It comes out as a blank.
const unbroken = "\u00a0"

// wrap breaks a text between words into lines of at most so many characters,
// and a word that is longer than a line within it.
func wrap(text, indent string, most int) string {
	var b strings.Builder
	text = strings.ReplaceAll(text, " %", unbroken+"%")
	line := []rune(indent)
	for word := range strings.SplitSeq(text, " ") {
		rest := []rune(word)
		if len(line) > len(indent) && len(line)+1+len(rest) > most {
			b.WriteString(string(line) + "\n")
			line = []rune(indent)
		}
		if len(line) > len(indent) {
			line = append(line, ' ')
		}
		for len(line)+len(rest) > most {
			room := most - len(line)
			b.WriteString(string(line) + string(rest[:room]) + "\n")
			line, rest = []rune(indent), rest[room:]
		}
		line = append(line, rest...)
	}
	b.WriteString(string(line) + "\n")
	return strings.ReplaceAll(b.String(), unbroken, " ")
}
