package manifest

import (
	"iter"
	"strings"
)

// block maps the value of a literal or folded block scalar, whose indicator is
// at offset at of raw: every line that is not empty is found again in the value,
// after the blanks and line breaks that YAML has made of the breaks before it.
func block(raw string, at int, value string) (mapped, bool) {
	lines := blockLines(raw, at)
	indent := blockIndent(raw, lines, value)
	if indent < 0 {
		return mapped{}, false
	}
	var m mapped
	end := at // of the line before
	for l := range lines {
		content := raw[min(l.start+indent, l.end):l.end]
		if content == "" {
			continue
		}
		for !strings.HasPrefix(value[len(m.text):], content) && m.blank(value, end) {
		}
		if !strings.HasPrefix(value[len(m.text):], content) {
			break // the block is over, or not understood
		}
		m.copy(content, l.end-len(content))
		end = l.end
	}
	for m.blank(value, end) {
	}
	m.at = append(m.at, end)
	return m, len(m.text) == len(value)
}

// blank adds the next byte of value, if it is a blank or a line break.
func (m *mapped) blank(value string, at int) bool {
	i := len(m.text)
	if i == len(value) || value[i] != ' ' && value[i] != '\n' {
		return false
	}
	m.add(value[i:i+1], at)
	return true
}

// A line lies between two offsets; the break after it is not part of it.
type line struct{ start, end int }

// blockLines yields the lines after the one that the offset lies in, to the end
// of raw: the value tells where the block ends.
func blockLines(raw string, at int) iter.Seq[line] {
	return func(yield func(line) bool) {
		next := strings.IndexByte(raw[at:], '\n')
		for start := at; next >= 0; {
			start += next + 1
			next = strings.IndexByte(raw[start:], '\n')
			end := len(raw)
			if next >= 0 {
				end = start + next
			}
			if end > start && raw[end-1] == '\r' {
				end--
			}
			if !yield(line{start, end}) {
				return
			}
		}
	}
}

// blockIndent is what the first line with content has more blanks in the file
// than in the value.
func blockIndent(raw string, lines iter.Seq[line], value string) int {
	first := strings.TrimLeft(value, "\n")
	blanks := len(first) - len(strings.TrimLeft(first, " "))
	for l := range lines {
		content := strings.TrimLeft(raw[l.start:l.end], " ")
		if content != "" {
			return l.end - l.start - len(content) - blanks
		}
	}
	return -1
}
