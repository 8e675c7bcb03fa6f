package traffic

import (
	"fmt"
	"slices"
	"strings"
)

// suggestion names the known word that a misspelt one is closest to, or all.
func suggestion(name string, known []string) string {
	known = slices.Sorted(slices.Values(known))
	best, distance := "", 3
	for _, candidate := range known {
		if d := edits(strings.ToLower(name), candidate); d < distance {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return `: want one of "` + strings.Join(known, `", "`) + `"`
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// edits is the Levenshtein distance of two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

func keys(m map[string][]string) (list []string) {
	for name := range m {
		list = append(list, name)
	}
	return list
}
