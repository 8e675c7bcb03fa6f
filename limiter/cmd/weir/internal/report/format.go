package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A figure is a piece of a sentence or a cell of a table: a number of the
// report, or a text.
type figure struct {
	Text  string // unless there is a Path
	Value int64
	Path  string // of the number in the JSON: runs.0.refused; a list stands for its sum
}

func text(s string) figure { return figure{Text: s} }

// number returns the figure of a number whose path is that of its object and
// its name there.
func number(value int64, object, name string) figure {
	return figure{Value: value, Path: object + "." + name}
}

func (f figure) String() string {
	if f.Path == "" {
		return f.Text
	}
	return count(f.Value)
}

// count groups digits by threes: 1 203 442.
func count(v int64) string { return grouped(v, " ") }

func grouped(v int64, gap string) string {
	digits, sign := strings.CutPrefix(strconv.FormatInt(v, 10), "-")
	var b strings.Builder
	if sign {
		b.WriteString("−")
	}
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(gap)
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// difference writes how much more b is than a.
func difference(a, b int64) string {
	switch {
	case b > a:
		return "+" + count(b-a)
	case b < a:
		return count(b - a)
	default:
		return "same"
	}
}

// compact writes a count in at most five characters, for axes and narrow columns.
func compact(v int64) string {
	if v < 10_000 {
		return strconv.FormatInt(v, 10)
	}
	units, scaled := "kMGTPE", float64(v)/1000
	for scaled >= 999.5 { // which would be written as 1000
		scaled, units = scaled/1000, units[1:]
	}
	if scaled < 9.95 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", scaled), ".0") + units[:1]
	}
	return fmt.Sprintf("%.0f%c", scaled, units[0])
}

// share writes part of a whole in percent. Only nothing is 0 %, and only all is
// 100 %.
func share(part, whole int64) string {
	percent := 100 * float64(part) / float64(whole)
	switch {
	case whole <= 0:
		return "–"
	case part == 0:
		return "0 %"
	case part == whole:
		return "100 %"
	case percent < 0.01:
		return "<0.01 %"
	case percent >= 99.9 && percent < 100:
		return ">99.9 %"
	case percent < 10:
		return fmt.Sprintf("%.2f %%", percent)
	default:
		return fmt.Sprintf("%.1f %%", percent)
	}
}

// percent writes a fraction as it was asked for: 0.1 %.
func percent(fraction float64) string {
	return strconv.FormatFloat(math.Round(fraction*1e8)/1e6, 'f', -1, 64) + " %"
}

// moment writes a time of the report.
func moment(t time.Time) string {
	t = t.UTC()
	if t.Truncate(time.Second).Equal(t) {
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format("2006-01-02 15:04:05.000")
}

// printable writes a text of a stranger: with escapes for all that does not
// print, as control characters and marks that turn the direction of text
// around, and cut after so many characters.
func printable(s string, most int) string {
	var b strings.Builder
	for n := 0; s != ""; {
		r, size := utf8.DecodeRuneInString(s)
		piece := s[:size]
		if r == utf8.RuneError && size == 1 {
			piece = fmt.Sprintf(`\x%02x`, s[0])
		} else if !strconv.IsPrint(r) {
			piece = strings.Trim(strconv.QuoteRune(r), "'")
		}
		if n += utf8.RuneCountInString(piece); n > most {
			return b.String() + "…"
		}
		b.WriteString(piece)
		s = s[size:]
	}
	return b.String()
}

// plural returns one or many, as n has it.
func plural(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
