package policy

import (
	"errors"
	"strconv"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/internal/brief"
)

// quota compiles a list of limits, divided among the replicas.
func (d *decoder) quota(n node, rule string, replicas int64) *quota {
	before := len(d.problems)
	q := &quota{}
	var limits []limiter.Limit
	d.items(n, func(n node) {
		limit, name := d.limit(n, replicas)
		limits, q.names = append(limits, limit), append(q.names, name)
	})
	if len(d.problems) > before {
		return q
	}
	var err error
	q.limits, err = limiter.NewLimits(limits...)
	var wrong *limiter.LimitError
	switch {
	case errors.As(err, &wrong):
		d.problem(n.items[wrong.Index].path, wrong.Err.Error())
	case err != nil:
		d.problem(n.path, err.Error())
	default:
		d.nameLimits(n, q, rule, limits)
		q.describe(limits)
	}
	return q
}

// nameLimits gives the limits without a name that of their rule, and if there
// are several the window as well.
func (d *decoder) nameLimits(n node, q *quota, rule string, limits []limiter.Limit) {
	seen := map[string]bool{}
	for i := range limits {
		if q.names[i] == "" {
			q.names[i] = rule
			if len(limits) > 1 {
				q.names[i] += "-" + shortWindow(limits[i].Window)
			}
		}
		if seen[q.names[i]] {
			d.problem(n.items[i].path, brief.Sprintf("another limit is called %q: give them names", q.names[i]))
		}
		seen[q.names[i]] = true
	}
}

// shortWindow writes a window in the largest unit that it is a multiple of.
func shortWindow(window time.Duration) string {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if window%unit.size == 0 {
			return strconv.FormatInt(int64(window/unit.size), 10) + unit.name
		}
	}
	return strconv.FormatInt(window.Microseconds(), 10) + "us"
}

// algorithms are the names that a limit may give, the default first.
var algorithms = []string{
	string(limiter.SlidingLog), string(limiter.SlidingBuckets), string(limiter.SlidingCounter),
	string(limiter.TokenBucket), string(limiter.LeakyBucket), string(limiter.FixedWindow),
}

func (d *decoder) limit(n node, replicas int64) (l limiter.Limit, name string) {
	l.Algorithm = limiter.SlidingLog
	d.object(n, fields{
		"name":      func(n node) { name = d.name(n) },
		"requests":  func(n node) { l.Requests = d.integer(n, 1, limiter.MaxRequests) },
		"window":    func(n node) { l.Window = d.window(n) },
		"algorithm": func(n node) { l.Algorithm = limiter.Algorithm(d.choice(n, algorithms...)) },
		"burst":     func(n node) { l.Burst = d.integer(n, 1, limiter.MaxRequests) },
		"buckets":   func(n node) { l.Buckets = int(d.integer(n, 1, limiter.MaxBuckets)) },
		"inclusive": func(n node) { l.Inclusive = d.bool(n) },
	}, "requests", "window")
	if l.Algorithm == limiter.SlidingLog && l.Requests > maxLogRequest {
		d.problem(join(n.path, "requests"), brief.Sprintf("%d: sliding_log remembers each request: want at most %d", l.Requests, maxLogRequest))
	}
	l.Requests = max(1, l.Requests/replicas)
	if l.Burst > 0 {
		l.Burst = max(1, l.Burst/replicas)
	}
	return l, name
}

func (d *decoder) window(n node) time.Duration {
	if n.kind != '"' {
		d.errorf(n, "want a string of "+durations)
		return minWindow
	}
	window, err := duration(n.text)
	switch {
	case err != nil:
		d.errorf(n, "%v", err)
	case window < minWindow || window > limiter.MaxWindow:
		d.errorf(n, "want a window from 1ms to 366d")
	}
	return window
}
