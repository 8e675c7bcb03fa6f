package limiter

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestKeysCannotBePiledUp: who knew the seed could send keys that all lie in
// one shard, and force each other out while the table is as good as empty. The
// same keys under a seed that nobody knows lie as any keys do.
func TestKeysCannotBePiledUp(t *testing.T) {
	const maxKeys, keys = 1024, 400 // 64 shards of 16
	known := Seed{1, 2}
	var crafted, others [][]byte
	craftedFor := pileTable(t, known, maxKeys)
	for i := 0; len(crafted) < keys; i++ {
		if key := fmt.Append(nil, i); craftedFor.shardOf(craftedFor.Fingerprint(key)) == 0 {
			crafted = append(crafted, key)
		}
	}
	for i := range keys {
		others = append(others, fmt.Append(nil, i))
	}
	if largest, evicted := pile(t, known, maxKeys, crafted); largest != keys || evicted != keys-16 {
		t.Errorf("under the seed they were made for: %d in the largest shard and %d forced out, want %d and %d", largest, evicted, keys, keys-16)
	}
	// A shard gets 6.25 keys on average, 31 with a probability of 1 in 10^12.
	// In all these shards that is less than one in a billion runs.
	const bound, seeds = 30, 10
	for range seeds {
		seed := NewSeed()
		largest, evicted := pile(t, seed, maxKeys, crafted)
		usual, usuallyEvicted := pile(t, seed, maxKeys, others)
		if largest > bound || usual > bound {
			t.Errorf("under the seed %x: %d crafted keys in one shard and %d of others, want at most %d", seed.Bytes(), largest, usual, bound)
		}
		if evicted > keys/10 || usuallyEvicted > keys/10 {
			t.Errorf("under the seed %x: %d crafted keys forced out and %d others, of %d in a table for %d", seed.Bytes(), evicted, usuallyEvicted, keys, maxKeys)
		}
		t.Logf("largest shard %d of crafted keys, %d of others; forced out %d and %d", largest, usual, evicted, usuallyEvicted)
	}
}

func pileTable(t *testing.T, seed Seed, maxKeys int) *Table {
	t.Helper()
	table, err := NewTable(NewMemory(Shards(maxKeys)), TableOptions{MaxKeys: maxKeys, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// pile takes each key once, and returns how many came to the same shard at most
// and how many were forced out.
func pile(t *testing.T, seed Seed, maxKeys int, keys [][]byte) (largest, evicted int) {
	t.Helper()
	table := pileTable(t, seed, maxKeys)
	limits := mustLimits(t, Limit{Requests: 10, Window: time.Hour})
	came := make([]int, table.Shards())
	for _, key := range keys {
		charges := []Charge{{Key: table.Fingerprint(key), Limits: limits, Cost: 1}}
		if result, err := table.Take(0, charges); err != nil || !result.Admitted {
			t.Fatal(result, err)
		}
		came[table.shardOf(charges[0].Key)]++
		if charges[0].Evicted {
			evicted++
		}
	}
	if tracked, err := table.Tracked(0); err != nil || tracked+evicted != len(keys) {
		t.Errorf("%d tracked and %d forced out of %d, %v", tracked, evicted, len(keys), err)
	}
	return slices.Max(came), evicted
}
