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
	return err
}

// forget drops the value. What the page loaded is the page's own, and if it is
// the largest memory so far it serves the next load.
func (p *page) forget() {
	if cap(p.value) > cap(p.buf) {
		p.buf = p.value[:0]
	}
	p.value = nil
}

func (p *page) swap(store Store) (stored bool, err error) {
	return store.Swap(p.shard, p.value, p.version)
}

// put writes an entry over old, the one that the key has, or as a new one if
// that is none.
func (p *page) put(e, old entry, r *request) (full, evicted, corrupt bool) {
	if old.key == 0 {
		if full, evicted, corrupt = p.makeRoom(r); full {
			return full, evicted, corrupt
		}
		old.from, old.to = len(p.value), len(p.value)
	}
	p.entry = appendEntry(p.entry[:0], e)
	p.value = splice(p.value, old.from, old.to, p.entry)
	p.changed = true
	return full, evicted, corrupt
}

// makeRoom makes room for a new entry: what has expired is dropped, and if the
// shard is full even so, the entry with the least load. If all others are at
// their limit or of the same request the shard stays full.
func (p *page) makeRoom(r *request) (full, evicted, corrupt bool) {
	s := p.compact(r)
	if s.live < r.table.capacity(p.shard) {
		return false, false, s.corrupt
	}
	if !s.yields() {
		return true, false, s.corrupt
	}
	p.value = slices.Delete(p.value, s.victim.from, s.victim.to)
	return false, true, s.corrupt
}

// isFull says whether there is no room for a new entry, and none can be made.
func (p *page) isFull(r *request) bool {
	s := p.compact(r)
	return s.live >= r.table.capacity(p.shard) && !s.yields()
}

func (p *page) compact(r *request) (s survey) {
	p.value, s = compact(p.value, r.charges, r.now)
	return s
}

// splice puts b in place of value[from:to]. Where that needs more memory it
// takes little more than it needs: many shards hold on to it.
func splice(value []byte, from, to int, b []byte) []byte {
	size := len(value) - (to - from) + len(b)
	if size > cap(value) {
		grown := make([]byte, size, size+size/8)
		copy(grown, value[:from])
		copy(grown[from+len(b):], value[to:])
		copy(grown[from:], b)
		return grown
	}
	after := value[to:]
	value = value[:size]
	copy(value[from+len(b):], after)
	copy(value[from:], b)
	return value
}
