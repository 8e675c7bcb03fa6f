package replay

import (
	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// shares are those that suggestions are made for.
var shares = []float64{0.001, 0.01, 0.05}

// suggest returns, for every window of a rule, the limits that would have
// refused a share of the requests, or of the clients once or more, as they are
// to be written.
func (r *rule) suggest() (list []report.Suggestion) {
	c := r.clients // which have no levels if the rule charges responses
	for i := range c.limits {
		w := &c.limits[i]
		if shortBurst(w.Limit) {
			continue
		}
		peaks, followed := c.peaks(i)
		for _, of := range []struct {
			what   string
			levels []int64
			total  int64
		}{
			{"requests", w.levels, w.total},
			{"clients", peaks, followed},
		} {
			for _, share := range shares {
				limit, refused := smallest(of.levels, of.total, share)
				if limit == 0 || !r.allows(w.Limit, int64(limit)) {
					continue
				}
				list = append(list, report.Suggestion{
					Limit: r.limits[i].Name, Window: report.Duration(w.Window), Of: of.what, Share: share,
					Requests: int64(limit) * r.divisor(), Refused: refused, Total: of.total, Accuracy: r.accuracy(w.Limit, of.what),
				})
			}
		}
	}
	return list
}

// divisor is what the followed limits are divided by: the replicas, unless all
// proxies share them.
func (r *rule) divisor() int64 {
	if len(r.Limits()) == 0 {
		return 1
	}
	return r.replicas
}

// maxLog is the highest limit of sliding_log that a configuration may have.
const maxLog = 1_000_000

// allows says whether a limit may have so many requests, in a configuration and
// for a bucket to hold them.
func (r *rule) allows(l limiter.Limit, requests int64) bool {
	if l.Burst > 0 && requests > l.Burst {
		return false
	}
	l.Requests = requests
	most := int64(limiter.MaxRequests)
	if l.Algorithm == limiter.SlidingLog {
		most = maxLog
	}
	return requests*r.divisor() <= most && l.Validate() == nil
}

// peaks counts the clients by the highest level of any of their requests: the
// smallest limit that would have refused them nothing. Clients with an override
// have none, and do not count.
func (c *clients) peaks(i int) (levels []int64, total int64) {
	for _, who := range c.byKey {
		if !who.leveled {
			continue
		}
		peak := who.levels(i).used
		if who.beyond {
			peak = maxLevel + 1
		}
		for peak >= len(levels) {
			levels = append(levels, 0)
		}
		levels[peak] += c.weight()
		total += c.weight()
	}
	return levels, total
}

// smallest returns the smallest limit that refuses at most a share of what is
// counted by levels, and how many that are: those of higher levels. It is 0 if
// there is nothing, or the limit is higher than levels are told.
func smallest(levels []int64, total int64, share float64) (limit int, refused int64) {
	if total == 0 {
		return 0, 0
	}
	allowed := int64(share * float64(total))
	refused = total
	for level, n := range levels {
		if level > maxLevel {
			break
		}
		if refused -= n; level > 0 && refused <= allowed {
			return level, refused
		}
	}
	return 0, 0
}
