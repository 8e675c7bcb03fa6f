package replay

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirproxy/weir/limiter"
)

// TestTop counts exactly while there are places.
func TestTop(t *testing.T) {
	top := newTop()
	for key := range 30 {
		for range key {
			top.add(limiter.Fingerprint(key), func() string { return fmt.Sprint("key ", key) })
		}
	}
	keys := top.keys()
	if len(keys) != topKeys {
		t.Fatalf("%d keys, want %d", len(keys), topKeys)
	}
	for i, k := range keys {
		if n := int64(29 - i); k.Refused != n || k.AtMost != n || k.Key != fmt.Sprint("key ", n) {
			t.Errorf("key %d is %+v, want %d refusals", i, k, n)
		}
	}
}

// TestTopOfMany finds the heavy ones among far more keys than places, and
// brackets their counts.
func TestTopOfMany(t *testing.T) {
	top, rng := newTop(), rand.New(rand.NewPCG(3, 4))
	truth := map[string]int64{}
	for i := range 400_000 {
		key := 1000 + i
		if rng.IntN(2) == 0 {
			key = rng.IntN(10)
		}
		text := fmt.Sprint(key)
		truth[text]++
		top.add(limiter.Fingerprint(key), func() string { return text })
	}
	if len(top.heap) != maxCounted || len(top.byKey) != maxCounted {
		t.Fatalf("%d and %d places, want %d", len(top.heap), len(top.byKey), maxCounted)
	}
	for i, k := range top.keys() {
		n := truth[k.Key]
		if k.Refused > n || k.AtMost < n || i < 10 && n < 1000 {
			t.Errorf("place %d: %+v, and the truth is %d", i, k, n)
		}
	}
}
