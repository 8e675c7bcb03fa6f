// Package storetest is the conformance suite of [limiter.Store]: what a table
// relies on, as tests that every Store runs.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) limiter.Store { return limiter.NewMemory(storetest.Shards) })
//	}
package storetest

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/weirproxy/weir/limiter"
)

// Shards is the number of shards that the store under test must have room for.
const Shards = 8

// Run tests the stores that open returns, each of them fresh and empty.
func Run(t *testing.T, open func(t *testing.T) limiter.Store) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, store limiter.Store)
	}{
		{"absent has version 0 and no value", testAbsent},
		{"a swap is loaded", testRoundTrip},
		{"shards are apart", testShards},
		{"an old version conflicts", testOldVersion},
		{"only one first swap wins", testFirstSwap},
		{"an empty value is a value", testEmpty},
		{"values are copied", testCopies},
		{"any bytes", testBytes},
		{"nothing is lost between goroutines", testHammer},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func load(t *testing.T, store limiter.Store, shard uint32) ([]byte, uint64) {
	t.Helper()
	value, version, err := store.Load(shard, nil)
	if err != nil {
		t.Fatalf("Load(%d): %v", shard, err)
	}
	return value, version
}

func swap(t *testing.T, store limiter.Store, shard uint32, value string, version uint64, want bool) {
	t.Helper()
	stored, err := store.Swap(shard, []byte(value), version)
	if err != nil || stored != want {
		t.Fatalf("Swap(%d, %q, %d) = %v, %v, want %v", shard, value, version, stored, err, want)
	}
}

func testAbsent(t *testing.T, store limiter.Store) {
	for shard := range uint32(Shards) {
		if value, version := load(t, store, shard); len(value) != 0 || version != 0 {
			t.Errorf("Load(%d) = %q, version %d, want nothing, version 0", shard, value, version)
		}
	}
}

func testRoundTrip(t *testing.T, store limiter.Store) {
	version := uint64(0)
	for _, want := range []string{"a", "longer than before", "b"} {
		swap(t, store, 1, want, version, true)
		value, next := load(t, store, 1)
		if string(value) != want || next == version || next == 0 {
			t.Fatalf("Load = %q, version %d after %d, want %q and a new version", value, next, version, want)
		}
		version = next
	}
}

func testShards(t *testing.T, store limiter.Store) {
	for shard := range uint32(Shards) {
		swap(t, store, shard, string(rune('a'+shard)), 0, true)
	}
	for shard := range uint32(Shards) {
		if value, _ := load(t, store, shard); string(value) != string(rune('a'+shard)) {
			t.Errorf("Load(%d) = %q", shard, value)
		}
	}
}

func testOldVersion(t *testing.T, store limiter.Store) {
	swap(t, store, 2, "first", 0, true)
	_, first := load(t, store, 2)
	swap(t, store, 2, "second", first, true)
	_, second := load(t, store, 2)
	swap(t, store, 2, "late", first, false)
	swap(t, store, 2, "late", 0, false)
	swap(t, store, 2, "early", second+1, false)
	if value, version := load(t, store, 2); string(value) != "second" || version != second {
		t.Errorf("Load = %q, version %d after refused swaps, want %q, %d", value, version, "second", second)
	}
}

func testFirstSwap(t *testing.T, store limiter.Store) {
	swap(t, store, 3, "one", 0, true)
	swap(t, store, 3, "two", 0, false)
	if value, _ := load(t, store, 3); string(value) != "one" {
		t.Errorf("Load = %q, want the first write", value)
	}
}

func testEmpty(t *testing.T, store limiter.Store) {
	swap(t, store, 4, "full", 0, true)
	_, version := load(t, store, 4)
	swap(t, store, 4, "", version, true)
	value, version := load(t, store, 4)
	if len(value) != 0 {
		t.Errorf("Load = %q, want an empty value", value)
	}
	swap(t, store, 4, "again", version, true)
}

func testCopies(t *testing.T, store limiter.Store) {
	in := []byte("kept")
	if stored, err := store.Swap(5, in, 0); !stored || err != nil {
		t.Fatal(stored, err)
	}
	copy(in, "lost")
	out, _ := load(t, store, 5)
	if string(out) != "kept" {
		t.Fatalf("Load = %q: Swap kept the caller's memory", out)
	}
	copy(out, "lost")
	if value, _ := load(t, store, 5); string(value) != "kept" {
		t.Fatalf("Load = %q: Load gave its own memory away", value)
	}
}

func testBytes(t *testing.T, store limiter.Store) {
	want := make([]byte, 100_000)
	for i := range want {
		want[i] = byte(i * 7)
	}
	swap(t, store, 6, string(want), 0, true)
	if value, _ := load(t, store, 6); !bytes.Equal(value, want) {
		t.Error("Load returned other bytes than were stored")
	}
}

// testHammer counts from many goroutines, as a table does: load, add, swap,
// again on a conflict.
func testHammer(t *testing.T, store limiter.Store) {
	const goroutines, increments = 8, 500
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			var buf []byte
			for n := 0; n < increments; {
				value, version, err := store.Load(7, buf)
				if err != nil {
					t.Error(err)
					return
				}
				var sum uint64
				if len(value) == 8 {
					sum = binary.LittleEndian.Uint64(value)
				}
				stored, err := store.Swap(7, binary.LittleEndian.AppendUint64(nil, sum+1), version)
				if err != nil {
					t.Error(err)
					return
				}
				if stored {
					n++
				}
			}
		})
	}
	wg.Wait()
	value, _ := load(t, store, 7)
	if sum := binary.LittleEndian.Uint64(value); sum != goroutines*increments {
		t.Errorf("counted %d, want %d", sum, goroutines*increments)
	}
}
