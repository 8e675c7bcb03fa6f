package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The setting of the speed table: 10 requests per second and key, of which
// 8 come. Everything is admitted and counted, also by the weighted windows, which
// refuse some from 9 on; and a log holds 8 times for each key, so that
// exactness is paid for.
//
// Who takes the time as an argument gets one that passes that fast however
// fast the machine is. Who reads the clock would see the requests of a key
// come as fast as the machine can make them: there the limit is as high as
// go-limiter can take (above, its refill falls short of the limit). Those
// contenders keep a counter or a time, which costs the same whatever the limit.
const (
	limit     = 10
	highLimit = 30_000
	window    = time.Second
	step      = 125 * time.Millisecond // between two requests of a key
	filled    = 8                      // requests of each key before the measurement
)

// epoch begins a window of every length that is used here.
var epoch = time.Unix(1_700_000_000, 0).Truncate(time.Hour)

// newKeys returns different keys, in random order. Their bytes lie in that
// order too: a key that has just arrived with a request is in the cache.
func newKeys(n int) ([]string, error) {
	keys := make([]string, n)
	seen := make(map[string]bool, n)
	random := rand.New(rand.NewPCG(1, 2))
	for i, place := range random.Perm(n) {
		keys[place] = fmt.Sprintf("user-%07d", i)
		seen[keys[place]] = true
	}
	if len(seen) != n {
		return nil, fmt.Errorf("%d keys, of which %d are different", n, len(seen))
	}
	for i := range keys {
		keys[i] = strings.Clone(keys[i])
	}
	return keys, nil
}

// A workload is requests of one taker: all keys in turn, again and again.
type workload struct {
	taker  taker
	clock  clock
	keys   []string
	step   time.Duration
	cursor atomic.Int64 // the requests that somebody has claimed
}

// at returns when request i comes: time passes from request to request, by one
// step for each turn over the keys.
func (w *workload) at(i int64) time.Time {
	if w.clock != argument {
		return time.Time{}
	}
	return epoch.Add(time.Duration(i * int64(w.step) / int64(len(w.keys))))
}

// fill makes the first requests of each key, one key after the other. The key
// is a string of its own, as in a server, where each request brings one; so
// who keeps the keys must keep their bytes. The keys come in another order
// than later: what a contender allocates for one key does not lie next to what
// it will need after it.
func (w *workload) fill(from, to int) (admitted int64) {
	n := int64(len(w.keys))
	for _, i := range rand.New(rand.NewPCG(5, 6)).Perm(len(w.keys)) {
		key := strings.Clone(w.keys[i])
		for turn := from; turn < to; turn++ {
			if w.taker.take(key, w.at(int64(turn)*n+int64(i))) {
				admitted++
			}
		}
	}
	w.cursor.Store(int64(to) * n)
	return admitted
}

// A walk is one goroutine's part of a workload. It claims requests in blocks.
type walk struct {
	*workload
	next, end int64
}

const (
	block = 32
	late  = 4 * block
)

// take makes the next request. If the goroutine had to wait for a processor
// the others have gone on, and time with them: then the request comes now,
// not when it should have. Everybody pays for one reading of the clock: here,
// or in the contender.
func (w *walk) take() bool {
	if w.next == w.end {
		w.end = w.cursor.Add(block)
		w.next = w.end - block
	}
	i := w.next
	w.next++
	if w.clock == argument {
		_ = time.Now()
	}
	return w.taker.take(w.keys[i%int64(len(w.keys))], w.at(max(i, w.cursor.Load()-late)))
}

// run makes requests from several goroutines. It returns what one costs, and
// an error if they were not admitted, save a few that came late.
func (w *workload) run(requests, goroutines int) (cost, error) {
	var group sync.WaitGroup
	var refused atomic.Int64
	var before, after runtime.MemStats
	each := requests / goroutines
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range goroutines {
		group.Go(func() {
			walk := walk{workload: w}
			for range each {
				if !walk.take() {
					refused.Add(1)
				}
			}
		})
	}
	group.Wait()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if n := refused.Load(); n > int64(requests/1000) {
		return cost{}, fmt.Errorf("%d of %d requests were refused", n, requests)
	}
	made := float64(each * goroutines)
	return cost{float64(took.Nanoseconds()) / made, float64(after.Mallocs-before.Mallocs) / made}, nil
}

// A cost is that of one request.
type cost struct{ ns, allocs float64 }

// newWorkload returns the workload of the speed table, its windows filled.
func newWorkload(p peer, keys []string) (*workload, error) {
	limit := int64(limit)
	if p.clock != argument {
		limit = highLimit
	}
	w := &workload{taker: p.new(len(keys), limit, window), clock: p.clock, keys: keys, step: step}
	if admitted := w.fill(0, filled); admitted != filled*int64(len(keys)) {
		done(w.taker)
		return nil, fmt.Errorf("%d of %d requests were admitted", admitted, filled*len(keys))
	}
	return w, nil
}

// apart returns how many of the keys have a quota of their own: with a limit
// of one, the first request of each must be admitted and the second refused.
func apart(p peer, keys []string) (kept int, err error) {
	w := &workload{taker: p.new(len(keys), 1, time.Hour), clock: p.clock, keys: keys, step: time.Second}
	defer done(w.taker)
	if first := w.fill(0, 1); first != int64(len(keys)) {
		return 0, fmt.Errorf("of %d keys only %d were admitted at first", len(keys), first)
	}
	kept = len(keys) - int(w.fill(1, 2))
	if kept < len(keys)*99/100 {
		return kept, fmt.Errorf("of %d keys only %d are kept apart", len(keys), kept)
	}
	return kept, nil
}
