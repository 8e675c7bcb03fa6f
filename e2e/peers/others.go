package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/RussellLuo/slidingwindow"
	golimiter "github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	ulule "github.com/ulule/limiter/v3"
	ululestore "github.com/ulule/limiter/v3/drivers/store/memory"
	"golang.org/x/time/rate"
)

// The libraries as their documentation has them used. Where there is a choice
// it is the one that is faster here.
var others = []peer{
	{"x/time/rate, map and mutex", "bucket", argument, newRateMap},
	{"x/time/rate, sync.Map", "bucket", argument, newRateSyncMap},
	{"sethvargo/go-limiter", "fixed window from the first request", own, newGoLimiter},
	{"throttled", "bucket (GCRA)", settable, newThrottled},
	{"ulule/limiter", "fixed window from the first request", own, newUlule},
	{"httprate counter", "two windows, weighted", argument, newHTTPRate},
	{"RussellLuo/slidingwindow", "two windows, weighted", argument, newSlidingWindow},
}

// A mutexMap is what most programs have: a limiter for each key in a map. It
// never forgets a key.
type mutexMap[L any] struct {
	mu    sync.Mutex
	m     map[string]L
	fresh func() L
	allow func(L, time.Time) bool
}

func (m *mutexMap[L]) take(key string, now time.Time) bool {
	m.mu.Lock()
	l, ok := m.m[key]
	if !ok {
		l = m.fresh()
		m.m[key] = l
	}
	m.mu.Unlock()
	return m.allow(l, now)
}

func freshRate(limit int64, window time.Duration) func() *rate.Limiter {
	return func() *rate.Limiter { return rate.NewLimiter(rate.Every(window/time.Duration(limit)), int(limit)) }
}

func newRateMap(_ int, limit int64, window time.Duration) taker {
	allow := func(l *rate.Limiter, now time.Time) bool { return l.AllowN(now, 1) }
	return &mutexMap[*rate.Limiter]{m: map[string]*rate.Limiter{}, fresh: freshRate(limit, window), allow: allow}
}

type rateSyncMap struct {
	m     sync.Map
	fresh func() *rate.Limiter
}

func newRateSyncMap(_ int, limit int64, window time.Duration) taker {
	return &rateSyncMap{fresh: freshRate(limit, window)}
}

func (r *rateSyncMap) take(key string, now time.Time) bool {
	l, ok := r.m.Load(key)
	if !ok {
		l, _ = r.m.LoadOrStore(key, r.fresh())
	}
	return l.(*rate.Limiter).AllowN(now, 1)
}

func newSlidingWindow(_ int, limit int64, window time.Duration) taker {
	fresh := func() *slidingwindow.Limiter {
		l, _ := slidingwindow.NewLimiter(window, limit, func() (slidingwindow.Window, slidingwindow.StopFunc) {
			return slidingwindow.NewLocalWindow()
		})
		return l
	}
	allow := func(l *slidingwindow.Limiter, now time.Time) bool { return l.AllowN(now, 1) }
	return &mutexMap[*slidingwindow.Limiter]{m: map[string]*slidingwindow.Limiter{}, fresh: fresh, allow: allow}
}

// goLimiter reads the clock in Take, once.
type goLimiter struct{ golimiter.Store }

func newGoLimiter(_ int, limit int64, window time.Duration) taker {
	return goLimiter{must(memorystore.New(&memorystore.Config{Tokens: uint64(limit), Interval: window}))}
}

func (g goLimiter) take(key string, _ time.Time) bool {
	_, _, _, ok, err := g.Take(context.Background(), key)
	return ok && err == nil
}

// close stops the goroutine that sweeps, which holds the keys.
func (g goLimiter) close() { _ = g.Close(context.Background()) }

// throttledGCRA reads the clock through its store, once, or goes by the time
// that it is given. Its store is the unlimited one: with a bound it keeps an
// LRU list and is slower.
type throttledGCRA struct {
	*throttled.GCRARateLimiterCtx
	now *atomic.Int64 // nanoseconds; 0 to read the clock
}

func newThrottled(_ int, limit int64, window time.Duration) taker {
	var now atomic.Int64
	store := must(memstore.New(0))
	store.SetTimeNow(func() time.Time {
		if t := now.Load(); t != 0 {
			return time.Unix(0, t)
		}
		return time.Now()
	})
	quota := throttled.RateQuota{MaxRate: throttled.PerDuration(int(limit), window), MaxBurst: int(limit) - 1}
	return throttledGCRA{must(throttled.NewGCRARateLimiterCtx(throttled.WrapStoreWithContext(store), quota)), &now}
}

func (t throttledGCRA) take(key string, now time.Time) bool {
	if !now.IsZero() {
		t.now.Store(now.UnixNano())
	}
	limited, _, err := t.RateLimitCtx(context.Background(), key, 1)
	return !limited && err == nil
}

// ululeLimiter reads the clock in Get, three times.
type ululeLimiter struct{ *ulule.Limiter }

func newUlule(_ int, limit int64, window time.Duration) taker {
	return ululeLimiter{ulule.New(ululestore.NewStore(), ulule.Rate{Period: window, Limit: limit})}
}

func (u ululeLimiter) take(key string, _ time.Time) bool {
	c, err := u.Get(context.Background(), key)
	return err == nil && !c.Reached
}
