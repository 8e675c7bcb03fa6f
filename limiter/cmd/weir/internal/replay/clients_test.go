package replay

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

func allowed(key limiter.Fingerprint, limit, remaining int64) *limiter.Charge {
	d := limiter.Decision{Allowed: true, Limit: limit, Remaining: remaining}
	return &limiter.Charge{Key: key, Cost: 1, Decision: d, Each: []limiter.Decision{d}}
}

// TestTenths are those of the highest fraction ever used.
func TestTenths(t *testing.T) {
	for _, test := range []struct {
		limit int64
		left  []int64
		want  uint8
	}{
		{10, []int64{9}, 0}, {10, []int64{8}, 1}, {10, []int64{5, 1, 7}, 8}, {10, []int64{0}, 9},
		{1000, []int64{900}, 0}, {1000, []int64{899}, 1}, {3, []int64{2}, 3}, {1, []int64{0}, 9},
		{1 << 31, []int64{1}, 9}, {10, []int64{10}, 0},
	} {
		var c client
		for _, left := range test.left {
			c.note(allowed(1, test.limit, left), false)
		}
		if c.tenth != test.want {
			t.Errorf("limit %d, left %v: tenth %d, want %d", test.limit, test.left, c.tenth, test.want)
		}
	}
}

// TestSample keeps the memory within its bounds and the counts right, when there
// are many more clients than are followed.
func TestSample(t *testing.T) {
	c := newClients([]limiter.Limit{{Requests: 10, Window: time.Second}})
	rng := rand.New(rand.NewPCG(1, 1))
	const total = 5 * maxClients
	for i := range total {
		charge := allowed(limiter.Fingerprint(rng.Uint64()), 10, 9)
		for range 1 + i%2 { // every other one has two requests at once
			c.note(limiter.Instant(i), charge, false, true)
		}
		if len(c.byKey) > maxClients {
			t.Fatalf("%d clients are followed", len(c.byKey))
		}
	}
	near := func(what string, got, want int64) {
		if got < want*98/100 || got > want*102/100 {
			t.Errorf("%s: %d, want about %d", what, got, want)
		}
	}
	near("clients", int64(len(c.byKey))*c.weight(), total)
	near("requests", c.limits[0].total, total*3/2)
	near("of the second level", c.limits[0].levels[2], total/2)
	peaks, followed := c.peaks(0)
	near("clients of the second level", peaks[2], total/2)
	near("clients with a level", followed, total)
}

// TestServersAreBounded too, for keys that take many.
func TestServersAreBounded(t *testing.T) {
	c := newClients([]limiter.Limit{{Requests: 10, Window: time.Hour}})
	for key := range 16 {
		for range 300_000 {
			c.note(0, allowed(limiter.Fingerprint(key), 10, 9), false, true)
		}
	}
	if c.servers > maxServers+maxLevel || len(c.byKey) > 14 || len(c.byKey) == 0 {
		t.Errorf("%d servers of %d clients", c.servers, len(c.byKey))
	}
}

// TestSmallest limits, for shares of requests by levels.
func TestSmallest(t *testing.T) {
	levels := []int64{0, 900, 60, 30, 9, 1}
	for _, test := range []struct {
		share          float64
		limit, refused int64
	}{
		{0.001, 4, 1}, {0.01, 3, 10}, {0.05, 2, 40}, {0.2, 1, 100}, {1, 1, 100}, {0, 5, 0},
	} {
		if limit, refused := smallest(levels, 1000, test.share); int64(limit) != test.limit || refused != test.refused {
			t.Errorf("share %v: limit %d refuses %d, want %d and %d", test.share, limit, refused, test.limit, test.refused)
		}
	}
	if limit, _ := smallest(nil, 0, 0.5); limit != 0 {
		t.Errorf("limit %d of nothing, want none", limit)
	}
	if limit, _ := smallest(append(slices.Repeat([]int64{0}, maxLevel+1), 1), 1, 0); limit != 0 {
		t.Errorf("limit %d above the highest level, want none", limit)
	}
}
