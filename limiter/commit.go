package limiter

import "slices"

// commit swaps every page that changed, or none: where a page conflicts it is
// loaded and decided anew, and if the request is then refused, or cannot be
// decided, what was swapped before is given back.
func (r *request) commit() (admitted bool, err error) {
	for i := range r.pages {
		if admitted, err = r.commitPage(&r.pages[i]); !admitted {
			r.giveBack(r.pages[:i])
			return false, err
		}
	}
	return true, nil
}

func (r *request) commitPage(p *page) (admitted bool, err error) {
	for range attempts {
		if !p.changed {
			return true, nil
		}
		stored, err := p.swap(r.table.store)
		if err != nil || stored {
			return stored, err
		}
		r.result.Conflicts++
		if err := r.decideAgain(p); err != nil {
			return false, err
		}
		if admitted, err := r.verdict(); !admitted {
			return false, err
		}
	}
	return false, ErrConflict
}

// decideAgain loads a page and answers the charges in it once more.
func (r *request) decideAgain(p *page) error {
	if err := p.load(r.table.store); err != nil {
		return err
	}
	for i := range r.charges {
		if c := &r.charges[i]; r.table.shardOf(c.Key) == p.shard {
			r.decide(p, c)
		}
	}
	return nil
}

// undo gives back the charges of a request that was admitted earlier.
func (r *request) undo(t *Table, now Instant, charges []Charge) Result {
	r.table, r.now, r.charges = t, now, charges
	r.pages, r.result = r.pages[:0], Result{}
	for i := range charges {
		shard := t.shardOf(charges[i].Key)
		if !slices.ContainsFunc(r.pages, func(p page) bool { return p.shard == shard }) {
			r.newPage(shard)
		}
	}
	r.giveBack(r.pages)
	return r.result
}

// giveBack refunds the charges in pages that were swapped.
func (r *request) giveBack(pages []page) {
	for i := range pages {
		p := &pages[i]
		if r.refundPage(p) {
			continue
		}
		for j := range r.charges {
			if r.charged(&r.charges[j], p) {
				r.result.Lost++
			}
		}
	}
}

func (r *request) refundPage(p *page) (done bool) {
	for range attempts {
		if err := p.load(r.table.store); err != nil {
			return false
		}
		for i := range r.charges {
			if c := &r.charges[i]; r.charged(c, p) {
				r.refund(p, c)
			}
		}
		if !p.changed {
			return true
		}
		if stored, err := p.swap(r.table.store); stored || err != nil {
			return stored
		}
		r.result.Conflicts++
	}
	return false
}

// charged says whether a charge was recorded in a page when that was swapped.
func (r *request) charged(c *Charge, p *page) bool {
	return c.Decision.Allowed && !c.Full && !c.PeekOnly && r.table.shardOf(c.Key) == p.shard
}

// refund takes one charge out of its entry. The entry keeps its expiry and its
// load, which the next charge brings up to date.
func (r *request) refund(p *page, c *Charge) {
	e, _ := find(p.value, c.Key, r.now)
	if len(e.states) == 0 {
		return
	}
	next := entry{key: e.key, expiry: e.expiry, load: e.load, states: c.refund(r.states[:0], e.states)}
	r.carry(c, &next, &e)
	p.put(next, e, r)
}

// mend keeps, of a request that is refused, only what it found to be wrong with
// its entries: states that are ahead of a clock that was set back, and a load
// from before the limit was lowered. It is tried once; whoever comes next
// finds the same.
func (r *request) mend() {
	for i := range r.charges {
		c := &r.charges[i]
		if !c.keep {
			continue
		}
		p, err := r.page(c)
		if err == nil {
			err = p.load(r.table.store)
		}
		if err != nil {
			continue
		}
		if e, _ := find(p.value, c.Key, r.now); len(e.states) > 0 {
			p.put(r.settle(c, &e), e, r)
			_, _ = p.swap(r.table.store)
		}
	}
}
