package limiter

import "slices"

// A Charge asks a table for the quota of one key, and receives the answer.
// A value may be used again; its slices then keep their memory.
type Charge struct {
	// Key is the fingerprint of the key. Two charges of one request must not
	// have the same.
	Key Fingerprint

	// Limits are what the key is held to.
	Limits *Limits

	// Cost is the weight of the request in units, 1..MaxRequests.
	Cost int64

	// Shadow marks a charge that is decided and recorded like any other, but
	// whose refusal does not refuse the request.
	Shadow bool

	// PeekOnly marks a charge that is decided and never recorded. It is Full
	// if a charge would be.
	PeekOnly bool

	// Record marks a charge that is recorded even where it does not fit, for
	// what has been used already. It refuses nothing, and its decisions say
	// what remains after it, if the request is admitted.
	Record bool

	// Decision is the answer of the strictest limit, which Binding is the
	// index of, with the longest ResetAfter of all; Each has the answer of
	// every limit in their order.
	Decision Decision
	Binding  int
	Each     []Decision

	// Full says that the key is new and the table had no room for it, so that
	// nothing is counted; Evicted that a live entry made way for it. Neither
	// is set where nothing is recorded.
	Full, Evicted bool

	receipts []receipt // of each limit
	known    int       // how many bytes of the entry's states were found to be of the limits
	back     int64     // the most that a state was ahead of the clock which was re-anchored
	keep     bool      // the entry says something wrong, to be mended even if the request is refused
	corrupt  bool      // some state could not be decoded
}

// Keep returns a copy that shares no memory with c, to be given back later by
// Table.Refund.
func (c *Charge) Keep() Charge {
	kept := *c
	kept.Each, kept.receipts = slices.Clone(c.Each), slices.Clone(c.receipts)
	return kept
}

// answer decides on the states of an entry and appends the next ones to dst.
func (c *Charge) answer(dst, states []byte, now Instant) (next []byte) {
	c.Each, c.receipts = c.Each[:0], c.receipts[:0]
	c.known, c.back, c.keep, c.corrupt = 0, 0, false, false
	if c.Record {
		return c.record(dst, states, now)
	}
	return c.take(dst, states, now)
}

// take decides on the states of an entry and, if all limits admit, appends the
// next ones to dst. Otherwise it returns dst as it came, and the decisions say
// what remains without the charge.
func (c *Charge) take(dst, states []byte, now Instant) (next []byte) {
	allowed, start := true, len(dst)
	for i, a := range c.Limits.algorithms {
		id, at := c.Limits.ids[i], len(dst)
		var o outcome
		dst, o = a.take(openState(dst, id), c.state(states, id), now, c.Cost)
		dst = sealState(dst, at)
		c.Each = append(c.Each, o.Decision)
		c.receipts = append(c.receipts, o.receipt)
		c.back = max(c.back, o.back)
		c.corrupt = c.corrupt || o.corrupt
		allowed = allowed && o.Allowed
	}
	c.keep = c.back > 0
	if c.bind(); !allowed {
		c.uncharge()
		return dst[:start]
	}
	return dst
}

// record appends the states with the cost in them, whatever the limits say.
func (c *Charge) record(dst, states []byte, now Instant) []byte {
	for i, a := range c.Limits.recorders {
		id, at := c.Limits.ids[i], len(dst)
		before := c.state(states, id)
		var o outcome
		dst, o = a.take(openState(dst, id), before, now, c.Cost)
		if !o.Allowed { // nothing more can be counted
			dst, o = a.take(dst, before, now, 0)
		}
		dst = sealState(dst, at)
		c.receipts = append(c.receipts, o.receipt)
		c.back = max(c.back, o.back)
		c.corrupt = c.corrupt || o.corrupt
		_, o = c.Limits.algorithms[i].take(nil, state(dst[at:], id), now, 0)
		o.Allowed = true
		c.Each = append(c.Each, o.Decision)
	}
	c.bind()
	return dst
}

// uncharge makes the decisions say what remains if nothing is charged.
func (c *Charge) uncharge() {
	for i := range c.Each {
		if d := &c.Each[i]; d.Allowed {
			d.Remaining = min(d.Limit, d.Remaining+c.Cost)
			d.ResetAfter = c.receipts[i].reset
		}
	}
	c.bind()
}

// bind picks the strictest of the decisions.
func (c *Charge) bind() {
	c.Binding = 0
	for i, d := range c.Each {
		if d.Stricter(c.Each[c.Binding]) {
			c.Binding = i
		}
	}
	c.Decision = c.Each[c.Binding]
	for _, d := range c.Each {
		c.Decision.ResetAfter = max(c.Decision.ResetAfter, d.ResetAfter)
	}
}

// settle returns the entry at now, charged with nothing. Its states are appended
// to dst: as they were, save that those which are ahead of a clock that was set
// back are moved. What has left a window stays, as it does where a refusal writes
// nothing: the clock may step back to where it counts.
func (c *Charge) settle(dst, states []byte, now Instant) entry {
	e := entry{key: c.Key, expiry: minInstant}
	c.known, c.back = 0, 0
	for i, a := range c.Limits.algorithms {
		id, at := c.Limits.ids[i], len(dst)
		before := c.state(states, id)
		next, o := a.take(openState(dst, id), before, now, 0)
		if o.back == 0 {
			next = append(next[:at+stateIDLen+1], before...)
		}
		dst = sealState(next, at)
		c.back = max(c.back, o.back)
		e.note(o.Decision, now)
	}
	e.states = dst
	return e
}

// refund appends the states without what an earlier take charged.
func (c *Charge) refund(dst, states []byte) []byte {
	c.known = 0
	for i, a := range c.Limits.algorithms {
		id, at := c.Limits.ids[i], len(dst)
		dst = a.refund(openState(dst, id), c.state(states, id), c.receipts[i], c.Cost)
		dst = sealState(dst, at)
	}
	return dst
}

// state returns what an entry's states hold under the id of one of the limits.
func (c *Charge) state(states []byte, id stateID) []byte {
	b, size := findState(states, id)
	if size == 0 && len(states) > 0 {
		return parkedUnder(states, id)
	}
	c.known += size
	return b
}

// entry is what a shard holds of the key after the charge was decided at now.
func (c *Charge) entry(states []byte, now Instant) entry {
	e := entry{key: c.Key, expiry: minInstant, states: states}
	for _, d := range c.Each {
		e.note(d, now)
	}
	return e
}

// note lets an entry live until the quota is whole again, and carry the used
// fraction of the fullest of its limits.
func (e *entry) note(d Decision, now Instant) {
	e.expiry = max(e.expiry, now.add(d.ResetAfter.Microseconds()))
	load := uint8(fullLoad)
	if d.Remaining > 0 {
		load = uint8((d.Limit - d.Remaining) * fullLoad / d.Limit)
	}
	e.load = max(e.load, load)
}
