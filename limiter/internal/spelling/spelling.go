// Package spelling finds what a misspelt word was meant to be.
package spelling

import (
	"iter"
	"strings"
)

// maxEdits is how many letters may be wrong, missing or too many.
const maxEdits = 2

// Closest returns the known word, of those in lower case, that is closest to a
// name in any case, the first in the alphabet of several; empty if none is within
// two edits. Its time is the length of the name times that of all known words.
func Closest(name string, known iter.Seq[string]) (best string) {
	distance := maxEdits + 1
	for candidate := range known {
		d := edits(strings.ToLower(name), candidate)
		if d < distance || d == distance && candidate < best {
			best, distance = candidate, d
		}
	}
	return best
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
