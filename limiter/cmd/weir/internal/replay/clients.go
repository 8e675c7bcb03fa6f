package replay

import (
	"github.com/weirproxy/weir/limiter"
)

// The bounds of what is kept for the clients of one rule: how many of them, and
// how many servers of their levels, of up to 16 bytes each.
const (
	maxClients = 1 << 18
	maxServers = 1 << 22
)

// clients follow the keys of one rule. When there are too many for the memory,
// every other key is forgotten, by a bit of its fingerprint, and from then on
// each that is left stands for twice as many. What a bit more of the fingerprint
// selects was selected before, so that a client of the sample has been followed
// from its first request on.
type clients struct {
	limits  []window
	byKey   map[limiter.Fingerprint]*client
	mask    limiter.Fingerprint // keys that have a bit of it are not in the sample
	servers int                 // of all clients
	cost    int64               // of the first request; 0 before it
	uneven  bool                // some requests cost more than others
	dear    bool                // some cost more than levels are told for
}

// A client is one key. Most rules have one limit, whose levels are beside the
// rest, in the memory that is at hand.
type client struct {
	tenth   uint8 // of a limit, the highest ever used: 0 up to a tenth, 9 above nine
	refused bool
	leveled bool     // it has levels
	beyond  bool     // some request was beyond those that are told
	first   levels   // of the first limit
	others  []levels // of the others
	seed    [2]int64 // the first tree of the first
}

func newClient(limits int) *client {
	c := &client{}
	c.first.tree = c.seed[:]
	c.seed[1] = never
	if limits > 1 {
		c.others = make([]levels, limits-1)
	}
	return c
}

// levels are those of the limit of the given index.
func (c *client) levels(limit int) *levels {
	if limit == 0 {
		return &c.first
	}
	return &c.others[limit-1]
}

func newClients(limits []limiter.Limit) *clients {
	c := &clients{byKey: map[limiter.Fingerprint]*client{}}
	for _, l := range limits {
		c.limits = append(c.limits, window{Limit: l})
	}
	return c
}

// weight is how many clients one of the sample stands for.
func (c *clients) weight() int64 { return int64(c.mask) + 1 }

// note takes note of a charge at a time, that its client was refused, by the
// charge or in spite of it, and of its level if it is one of the rule's own
// limits that may be recorded.
func (c *clients) note(at limiter.Instant, charge *limiter.Charge, refused, leveled bool) {
	if charge.Key&c.mask != 0 {
		return
	}
	who := c.byKey[charge.Key]
	if who == nil {
		who = newClient(len(c.limits))
		c.byKey[charge.Key] = who
	}
	who.note(charge, refused)
	if leveled {
		c.level(who, at, charge.Cost)
	}
	for len(c.byKey) > maxClients || c.servers > maxServers && len(c.byKey) > 1 {
		c.halve()
	}
}

// note takes note of a decision.
func (c *client) note(charge *limiter.Charge, refused bool) {
	if refused {
		c.refused = true
		return
	}
	for _, d := range charge.Each {
		if used := d.Limit - d.Remaining; used > 0 {
			c.tenth = max(c.tenth, uint8((used*10-1)/d.Limit))
		}
	}
}

// maxCost is the largest cost whose level is told. A request of several units
// takes as many servers, which is exact if all weigh the same. If they do not,
// the clients that would be refused nothing are exact still: all that they ask
// for then fits at once.
const maxCost = 1024

// level takes note of the level of a request in every window.
func (c *clients) level(who *client, at limiter.Instant, cost int64) {
	if c.cost == 0 {
		c.cost = cost
	}
	c.uneven, c.dear = c.uneven || cost != c.cost, c.dear || cost > maxCost
	who.leveled = true
	for i := range c.limits {
		w, l := &c.limits[i], who.levels(i)
		before, level := l.used, maxLevel+1
		if cost <= maxCost {
			until := w.until(int64(at))
			level = 0
			for range cost {
				level = max(level, l.take(int64(at), until))
			}
		}
		who.beyond = who.beyond || level > maxLevel
		c.servers += l.used - before
		for level >= len(w.levels) {
			w.levels = append(w.levels, 0)
		}
		w.levels[level] += c.weight()
		w.total += c.weight()
	}
}

// halve forgets about half of the clients.
func (c *clients) halve() {
	c.mask = c.mask<<1 | 1
	c.servers = 0
	for key, who := range c.byKey {
		if key&c.mask != 0 {
			delete(c.byKey, key)
			continue
		}
		for i := range c.limits {
			c.servers += who.levels(i).used
		}
	}
}
