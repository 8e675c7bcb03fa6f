package limiter

import "github.com/weirproxy/weir/limiter/internal/brief"

// A request is one Take or Peek under way. It loads every shard that its
// charges lie in once, changes the copies, and swaps them only if the whole is
// admitted.
type request struct {
	table   *Table
	now     Instant
	charges []Charge
	pages   []page
	states  []byte // scratch for the next states of one entry
	result  Result
}

func (r *request) do(t *Table, now Instant, charges []Charge, commit bool) (Result, error) {
	r.table, r.now, r.charges = t, now, charges
	r.pages, r.result = r.pages[:0], Result{}
	for i := range charges {
		if cost := charges[i].Cost; cost < 1 || cost > MaxRequests {
			return r.result, brief.Errorf("cost %d is not in 1..%d", cost, MaxRequests)
		}
	}
	if m, ok := t.store.(*Memory); ok && commit && len(charges) == 1 {
		return r.inPlace(m)
	}
	for i := range charges {
		p, err := r.page(&charges[i])
		if err != nil {
			return r.result, err
		}
		r.decide(p, &charges[i])
	}
	admitted, err := r.verdict()
	switch {
	case commit && admitted:
		admitted, err = r.commit()
	case commit:
		r.mend()
	}
	if !admitted {
		r.uncharge()
	}
	r.result.Admitted = admitted
	return r.result, err
}

// inPlace is do for one charge on a Memory.
func (r *request) inPlace(m *Memory) (Result, error) {
	c := &r.charges[0]
	p := r.newPage(r.table.shardOf(c.Key))
	s, err := m.shard(p.shard)
	if err != nil {
		return r.result, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.value, p.changed = s.value, false
	r.decide(p, c)
	s.value, p.value = p.value, nil // the page must not keep it
	if p.changed {
		s.version++
	}
	if r.result.Admitted, err = r.verdict(); !r.result.Admitted {
		r.uncharge()
	}
	return r.result, err
}

// forget drops what belongs to the caller or the Store and keeps the memory.
func (r *request) forget() {
	r.table, r.charges = nil, nil
	for i := range r.pages {
		r.pages[i].forget()
	}
}

// page returns the page that a charge lies in, loaded if it was not.
func (r *request) page(c *Charge) (*page, error) {
	shard := r.table.shardOf(c.Key)
	for i := range r.pages {
		if r.pages[i].shard == shard {
			return &r.pages[i], nil
		}
	}
	p := r.newPage(shard)
	return p, p.load(r.table.store)
}

// newPage returns one more page, with the memory of one of an earlier request.
func (r *request) newPage(shard uint32) *page {
	if len(r.pages) < cap(r.pages) {
		r.pages = r.pages[:len(r.pages)+1]
	} else {
		r.pages = append(r.pages, page{})
	}
	p := &r.pages[len(r.pages)-1]
	p.shard = shard
	return p
}

// decide answers one charge on what its page says, and changes the page.
func (r *request) decide(p *page, c *Charge) {
	e, corrupt := find(p.value, c.Key, r.now)
	c.Full, c.Evicted = false, false
	next := r.answer(c, &e)
	if len(e.states) > 0 && !c.Decision.Allowed {
		if until, load := c.held(&e); next.load > load || next.expiry > until {
			c.keep = true // the limit was lowered, and its state would be dropped too soon
		}
	}
	records := c.Decision.Allowed && !c.PeekOnly
	if !records && c.keep {
		next = r.settle(c, &e)
	}
	switch {
	case records || c.keep:
		var foreign bool
		c.Full, c.Evicted, foreign = p.put(next, e, r)
		corrupt = corrupt || foreign
	case c.Decision.Allowed && e.key == 0:
		c.Full = p.isFull(r)
	}
	if c.Decision.Allowed && c.PeekOnly {
		c.uncharge()
	}
	if corrupt || c.corrupt {
		r.result.Corrupt++
	}
}

// answer lets a charge decide on the states of its entry, and returns the next
// entry.
func (r *request) answer(c *Charge, e *entry) entry {
	now := r.now
	r.states = c.answer(r.states[:0], e.states, now)
	if r.wasHeldUp(c) {
		now = now.add(c.back)
		r.states = c.answer(r.states[:0], e.states, now)
	}
	next := c.entry(r.states, now)
	if c.Decision.Allowed {
		r.carry(c, &next, e)
	}
	return next
}

// settle returns the entry of a charge, charged with nothing. It lives no shorter
// and is no emptier than it was: who has other limits may count on that.
func (r *request) settle(c *Charge, e *entry) entry {
	next := c.settle(r.states[:0], e.states, r.now)
	if r.wasHeldUp(c) {
		next = c.settle(r.states[:0], e.states, r.now.add(c.back))
	}
	if c.back == 0 { // else it would stay until the clock is where it was before
		next.expiry, next.load = max(next.expiry, unspared(e.expiry)), max(next.load, e.load)
	}
	r.carry(c, &next, e)
	return next
}

// wasHeldUp says whether a state was re-anchored although the clock is never
// set back. The charge must be decided anew, later by as much as the state was
// ahead: the clock has come that far, and nothing is re-anchored then. No worker
// is held up for longer than longestStall: what is further ahead is of another
// clock, and would keep the key out until this one is there.
func (r *request) wasHeldUp(c *Charge) bool {
	return c.back > 0 && c.back <= longestStall && r.table.options.Steady
}

// longestStall is an hour, in microseconds.
const longestStall = 3_600_000_000

// verdict says whether the request passes as things stand.
func (r *request) verdict() (admitted bool, err error) {
	admitted = true
	for i := range r.charges {
		switch c := &r.charges[i]; {
		case c.Shadow:
		case !c.Decision.Allowed:
			return false, nil
		case c.Full && r.table.options.DenyWhenFull:
			admitted, err = false, ErrFull
		}
	}
	return admitted, err
}

// uncharge makes the charges of a request that is refused say so.
func (r *request) uncharge() {
	for i := range r.charges {
		c := &r.charges[i]
		if c.Decision.Allowed && !c.PeekOnly && !c.Record {
			c.uncharge()
		}
		c.Evicted = false
	}
}
