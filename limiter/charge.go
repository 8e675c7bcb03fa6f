package limiter

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

	// Decision is the answer of the strictest limit, which Binding is the
	// index of, and Each the answer of every limit in their order.
	Decision Decision
	Binding  int
	Each     []Decision

	// Full says that the key is new and the table had no room for it, so that
	// nothing is counted; Evicted that a live entry made way for it.
	Full, Evicted bool

	receipts []receipt // of each limit
	rebased  bool      // some state was re-anchored
	corrupt  bool      // some state could not be decoded
}

// take decides on the states of an entry and appends the next ones to dst: all
// limits charged, or, if one refuses, none. next is then shorter than dst was
// only if no state is left, and write says whether it must be kept at all.
func (c *Charge) take(dst, states []byte, now Instant) (next []byte, write bool) {
	c.Each, c.receipts = c.Each[:0], c.receipts[:0]
	c.rebased, c.corrupt = false, false
	allowed, start := true, len(dst)
	for i, a := range c.Limits.algorithms {
		id, at := c.Limits.ids[i], len(dst)
		var o outcome
		dst, o = a.take(openState(dst, id), state(states, id), now, c.Cost)
		dst = sealState(dst, at)
		c.Each = append(c.Each, o.Decision)
		c.receipts = append(c.receipts, o.receipt)
		c.rebased = c.rebased || o.rebased
		c.corrupt = c.corrupt || o.corrupt
		allowed = allowed && o.Allowed
	}
	c.bind()
	switch {
	case allowed:
		return dst, true
	case c.rebased:
		return c.settle(dst[:start], states, now), true
	default:
		return dst[:start], false
	}
}

// bind picks the strictest of the decisions.
func (c *Charge) bind() {
	c.Binding = 0
	for i, d := range c.Each {
		if d.stricter(c.Each[c.Binding]) {
			c.Binding = i
		}
	}
	c.Decision = c.Each[c.Binding]
	for _, d := range c.Each {
		c.Decision.ResetAfter = max(c.Decision.ResetAfter, d.ResetAfter)
	}
}

// settle appends the states as they are at now, charged with nothing.
func (c *Charge) settle(dst, states []byte, now Instant) []byte {
	for i, a := range c.Limits.algorithms {
		id, at := c.Limits.ids[i], len(dst)
		dst, _ = a.take(openState(dst, id), state(states, id), now, 0)
		dst = sealState(dst, at)
	}
	return dst
}

// refund appends the states without what an earlier take charged.
func (c *Charge) refund(dst, states []byte) []byte {
	for i, a := range c.Limits.algorithms {
		id, at := c.Limits.ids[i], len(dst)
		dst = a.refund(openState(dst, id), state(states, id), c.receipts[i], c.Cost)
		dst = sealState(dst, at)
	}
	return dst
}

// entry is what a shard holds of the key after the charge was decided at now.
func (c *Charge) entry(states []byte, now Instant) entry {
	whole := now.add(c.Decision.ResetAfter.Microseconds())
	return entry{key: c.Key, expiry: whole, load: c.load(), states: states}
}

// load is the used fraction of the fullest limit as a byte: 255 says that a
// limit is reached, so that the entry must not make way for another.
func (c *Charge) load() uint8 {
	load := int64(0)
	for _, d := range c.Each {
		if d.Remaining == 0 {
			return fullLoad
		}
		load = max(load, (d.Limit-d.Remaining)*fullLoad/d.Limit)
	}
	return uint8(load)
}
