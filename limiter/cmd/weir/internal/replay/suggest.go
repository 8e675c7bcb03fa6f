package replay

import (
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
	"github.com/weirproxy/weir/limiter/policy"
)

// shares are those that suggestions are made for.
var shares = []float64{0.001, 0.01, 0.05}

// suggest returns, for every window of a rule, the limits that would have
// refused a share of the requests, or of the clients once or more.
func (c *clients) suggest(limits []policy.NamedLimit) (list []report.Suggestion) {
	for i := range c.limits {
		w := &c.limits[i]
		for _, of := range []struct {
			what   string
			levels []int64
			total  int64
		}{
			{"requests", w.levels, w.total},
			{"clients", c.peaks(i), int64(len(c.byKey)) * c.weight()},
		} {
			for _, share := range shares {
				limit, refused := smallest(of.levels, of.total, share)
				if limit == 0 {
					continue
				}
				list = append(list, report.Suggestion{
					Limit: limits[i].Name, Window: report.Duration(w.Window), Of: of.what,
					Share: share, Requests: int64(limit), Refused: refused, Total: of.total,
				})
			}
		}
	}
	return list
}

// peaks counts the clients by the highest level of any of their requests: the
// smallest limit that would have refused them nothing.
func (c *clients) peaks(i int) (levels []int64) {
	for _, who := range c.byKey {
		peak := who.levels(i).used
		for peak >= len(levels) {
			levels = append(levels, 0)
		}
		levels[peak] += c.weight()
	}
	return levels
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
