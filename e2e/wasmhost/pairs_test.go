package wasmhost

import (
	"slices"
	"testing"
)

func TestPairs(t *testing.T) {
	pairs := headers{{"a", "1"}, {"b", ""}}
	encoded := encodePairs(pairs)
	if got := decodePairs(encoded); !slices.Equal(got, pairs) {
		t.Errorf("decoded %q, want %q", got, pairs)
	}
	for size := range encoded {
		if got := decodePairs(encoded[:size]); got != nil {
			t.Errorf("%d of %d bytes decode as %q", size, len(encoded), got)
		}
	}
	if got := decodePairs(append(encoded, 0)); got != nil {
		t.Errorf("a byte too many decodes as %q", got)
	}
}
