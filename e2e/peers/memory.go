package main

import (
	"fmt"
	"runtime"
	"time"
)

// A footprint is what a contender holds for each key: after one request of
// every key, and after ten. Kept counts, of all keys, those that it keeps
// apart.
type footprint struct {
	peer     string
	one, ten float64
	kept     int
}

// memory measures every contender with a limit of 10, filled to the brim.
func memory(keyCount int, progress func(string)) ([]footprint, error) {
	keys, err := newKeys(keyCount)
	if err != nil {
		return nil, err
	}
	var found []footprint
	for _, p := range contenders() {
		progress(fmt.Sprintf("memory: %s", p.name))
		f, err := weigh(p, keys)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		found = append(found, f)
	}
	return found, nil
}

// weigh spreads the ten requests over nine tenths of a window. The window of
// who reads the clock is long, so that all fall into one.
func weigh(p peer, keys []string) (f footprint, err error) {
	f.peer = p.name
	if f.kept, err = apart(p, keys); err != nil {
		return f, err
	}
	length := window
	if p.clock != argument {
		length = time.Hour
	}
	n := float64(len(keys))
	before := heap()
	w := &workload{taker: p.new(len(keys), limit, length), clock: p.clock, keys: keys, step: window * 9 / 10 / limit}
	defer done(w.taker)
	admitted := w.fill(0, 1)
	f.one = (heap() - before) / n
	admitted += w.fill(1, limit)
	f.ten = (heap() - before) / n
	runtime.KeepAlive(w)
	if admitted != int64(limit*len(keys)) {
		return f, fmt.Errorf("%d of %d requests were admitted", admitted, limit*len(keys))
	}
	return f, nil
}

// heap returns the bytes in use.
func heap() float64 {
	var stats runtime.MemStats
	runtime.GC() // the second one frees what pools and finalizers held
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
