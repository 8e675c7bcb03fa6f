package main

import (
	"math"
	"sync"
	"time"

	"github.com/go-chi/httprate"
)

// httpRate is what a RateLimiter of httprate does with its local counter. The
// RateLimiter itself can only be asked with a request and a response, for
// which it also formats headers, and it reads the clock twice; so its OnLimit
// is written out here without them: the estimate, rounded, and the increment,
// under one mutex.
type httpRate struct {
	mu      sync.Mutex
	counter httprate.LimitCounter
	limit   int
	window  time.Duration
}

func newHTTPRate(_ int, limit int64, window time.Duration) taker {
	return &httpRate{counter: httprate.NewLocalLimitCounter(window), limit: int(limit), window: window}
}

func (h *httpRate) take(key string, now time.Time) bool {
	current := now.Truncate(h.window)
	h.mu.Lock()
	defer h.mu.Unlock()
	count, before, err := h.counter.Get(key, current, current.Add(-h.window))
	if err != nil {
		return false
	}
	left := float64(h.window) - float64(now.Sub(current))
	estimate := float64(before)*left/float64(h.window) + float64(count)
	if int(math.Round(estimate))+1 > h.limit {
		return false
	}
	return h.counter.IncrementBy(key, current, 1) == nil
}
