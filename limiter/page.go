package limiter

import "slices"

// A page is one shard in a request: what it said when it was loaded, changed
// into what it will say if the request is admitted.
type page struct {
	shard   uint32
	version uint64
	value   []byte
	changed bool
	buf     []byte // memory for value
	entry   []byte // memory for one encoded entry
}

func (p *page) load(store Store) (err error) {
	p.changed = false
	p.value, p.version, err = store.Load(p.shard, p.buf)
	p.keep()
	return err
}

// keep remembers the largest memory that the value has had.
func (p *page) keep() {
	if cap(p.value) > cap(p.buf) {
		p.buf = p.value[:0]
	}
}

func (p *page) swap(store Store) (stored bool, err error) {
	return store.Swap(p.shard, p.value, p.version)
}

// put writes an entry over the one that the key has, or as a new one, and
// drops what has expired. A new entry that finds the shard full takes the
// place of the one with the least load; if all are at their limit, full is
// reported and the entry is not written.
func (p *page) put(e entry, capacity int, now Instant) (full, evicted, corrupt bool) {
	var s survey
	p.value, s = compact(p.value, e.key, now)
	p.entry = appendEntry(p.entry[:0], e)
	if s.own.key == 0 && s.live >= capacity {
		if s.victim.load == fullLoad {
			return true, false, s.corrupt
		}
		evicted = true
		p.value = slices.Delete(p.value, s.victim.from, s.victim.to)
	}
	if s.own.key == 0 {
		s.own.from, s.own.to = len(p.value), len(p.value)
	}
	p.value = slices.Replace(p.value, s.own.from, s.own.to, p.entry...)
	p.changed = true
	p.keep()
	return false, evicted, s.corrupt
}
