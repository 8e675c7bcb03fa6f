package report

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A pairOfLines is a line of one text beside the line of another. Where one has
// no such line it is empty.
type pairOfLines struct {
	A, B string
	Same bool
}

// indented lays out JSON in lines; what is not JSON stays as it is.
func indented(config string) []string {
	v := jsontext.Value(config)
	if v.Indent(jsontext.WithIndent("  ")) == nil {
		config = string(v)
	}
	lines := strings.Split(strings.TrimSpace(config), "\n")
	for i, line := range lines {
		lines[i] = printable(strings.TrimRight(line, "\r"), 2000)
	}
	return lines
}

// mostPairs bounds the work of comparing: beyond it all lines between the first
// and the last that differ count as different.
const mostPairs = 4 << 20

// pairLines puts the lines that two texts share beside each other, as many as
// can be without changing their order. It reports whether all are the same.
func pairLines(a, b []string) (lines []pairOfLines, same bool) {
	first, last := 0, 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	lines = append(lines, equal(a[:first])...)
	lines = append(lines, middle(a[first:len(a)-last], b[first:len(b)-last])...)
	lines = append(lines, equal(a[len(a)-last:])...)
	return lines, first == len(a) && first == len(b)
}

func equal(a []string) (lines []pairOfLines) {
	for _, line := range a {
		lines = append(lines, pairOfLines{line, line, true})
	}
	return lines
}

// middle pairs by the longest common subsequence.
func middle(a, b []string) (lines []pairOfLines) {
	if len(a)*len(b) > mostPairs {
		return beside(a, b)
	}
	length := make([][]int32, len(a)+1) // of the suffixes
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	fromA, fromB, i, j := 0, 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			lines = append(lines, beside(a[fromA:i], b[fromB:j])...)
			lines = append(lines, pairOfLines{a[i], b[j], true})
			i, j = i+1, j+1
			fromA, fromB = i, j
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return append(lines, beside(a[fromA:], b[fromB:])...)
}

// beside pairs lines that differ.
func beside(a, b []string) (lines []pairOfLines) {
	for i := range max(len(a), len(b)) {
		var p pairOfLines
		if i < len(a) {
			p.A = a[i]
		}
		if i < len(b) {
			p.B = b[i]
		}
		lines = append(lines, p)
	}
	return lines
}
