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
	now = now.clamp()
	var sum Sweep
	var p page
	for range min(shards, t.shards) {
		p.shard = (t.sweep.Add(1) - 1) & (t.shards - 1)
		if err := p.load(t.store); err != nil {
			return sum, err
		}
		var s survey
		p.value, s = compact(p.value, 0, now)
		sum.Live += s.live
		if s.corrupt {
			sum.Corrupt++
		}
		if s.expired == 0 && !s.corrupt {
			continue
		}
		if s.live == 0 {
			p.value = nil
		}
		stored, err := p.swap(t.store)
		if err != nil {
			return sum, err
		}
		if stored {
			sum.Forgotten += s.expired
		}
	}
	return sum, nil
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
