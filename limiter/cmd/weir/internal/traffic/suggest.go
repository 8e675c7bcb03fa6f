package traffic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirproxy/weir/limiter/internal/spelling"
)

// suggestion names the known word that a misspelt one is closest to, or all.
func suggestion(name string, known []string) string {
	best := spelling.Closest(name, slices.Values(known))
	if best == "" {
		return `: want one of "` + strings.Join(slices.Sorted(slices.Values(known)), `", "`) + `"`
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

func keys(m map[string][]string) (list []string) {
	for name := range m {
		list = append(list, name)
	}
	return list
}
