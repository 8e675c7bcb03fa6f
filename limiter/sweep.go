package limiter

// A Sweep is what visiting some shards found.
type Sweep struct {
	// Live counts the keys of the visited shards whose quota is not whole,
	// Forgotten those whose entries were dropped because it is.
	Live, Forgotten int

	// Corrupt counts the shards that held something that is no entry.
	Corrupt int
}

// Sweep visits the next shards in turn, after the last one the first again,
// and drops the entries of idle keys. Nothing else forgets the keys of a shard
// that nobody writes to. A shard with nothing to drop costs a Load; one that
// somebody else changes meanwhile is left for the next round.
func (t *Table) Sweep(now Instant, shards uint32) (Sweep, error) {
	r := t.request()
	sum, err := r.sweep(t, now.clamp(), min(shards, t.shards))
	t.release(r)
	return sum, err
}

func (r *request) sweep(t *Table, now Instant, shards uint32) (sum Sweep, err error) {
	r.pages = r.pages[:0]
	p := r.newPage(0)
	for range shards {
		p.shard = (t.sweep.Add(1) - 1) & (t.shards - 1)
		if err := p.load(t.store); err != nil {
			return sum, err
		}
		found, stored, err := p.sweep(t.store, now)
		if err != nil {
			return sum, err
		}
		sum.Live += found.live
		if found.corrupt {
			sum.Corrupt++
		}
		if stored {
			sum.Forgotten += found.expired
		}
	}
	return sum, nil
}

// sweep stores the page without what has expired, if anything has.
func (p *page) sweep(store Store, now Instant) (found survey, stored bool, err error) {
	p.value, found = compact(p.value, nil, now)
	if found.expired == 0 && !found.corrupt {
		return found, false, nil
	}
	if found.live == 0 {
		p.value = p.value[:0]
	}
	stored, err = p.swap(store)
	return found, stored, err
}

// Tracked counts the keys whose quota is not whole at now. It loads every
// shard once.
func (t *Table) Tracked(now Instant) (int, error) {
	now = now.clamp()
	tracked := 0
	var buf []byte
	for shard := range t.shards {
		value, _, err := t.store.Load(shard, buf)
		if err != nil {
			return tracked, err
		}
		buf = value
		tracked += count(value, now)
	}
	return tracked, nil
}

// count returns the number of entries that expire after now.
func count(value []byte, now Instant) (n int) {
	from, _ := entries(value)
	for {
		e, ok := entryAt(value, from)
		if !ok {
			return n
		}
		if e.expiry > now {
			n++
		}
		from = e.to
	}
}
