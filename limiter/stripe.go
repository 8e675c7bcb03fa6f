package limiter

import (
	"bytes"
	"encoding/binary"
	"sync"
)

// A stripe is a part of a Limiter's keys, under one lock. Each key has a cell of
// one cache line somewhere in the neighbourhood of where its hash points to,
// and a tag, which is a byte of the hash, to find it by without a look at the
// cells. A tag of 0 marks a cell that is free.
type stripe struct {
	mu    sync.Mutex
	tags  []byte
	cells []byte
	large map[int][]byte // states that do not fit into their cells

	next   []byte // memory for the states of one key
	charge Charge // memory for its charge
	hand   int    // where the next sweep begins
	turn   uint
}

// A cell holds a hash (8 bytes), an expiry (5) and a load (1) as an entry of a
// shard does, the length of the states (1), and the states.
const (
	cellSize     = 64
	cellHead     = 8 + 5 + 1 + 1
	cellStates   = cellSize - cellHead
	elsewhere    = 255 // as a length: the states are in large
	neighbours   = 64
	sweepEvery   = 16 // takes, while any states are large
	expiryOffset = 8
	loadOffset   = 13
	lengthOffset = 14
)

// A place is where a key is, if it is anywhere.
type place struct {
	stripe *stripe
	cell   int
	ok     bool
}

// find looks for a key in its two neighbourhoods.
func (s *stripe) find(hash uint64) place {
	first, second := s.homes(hash)
	if cell, ok := s.findNear(first, hash); ok {
		return place{s, cell, true}
	}
	cell, ok := s.findNear(second, hash)
	return place{s, cell, ok}
}

func (s *stripe) findNear(home int, hash uint64) (cell int, ok bool) {
	if s.holds(home, hash) { // most are at home, and need no look at the tags
		return home, true
	}
	near := s.near(home)
	for from := 0; ; from++ {
		i := bytes.IndexByte(near[from:], tagOf(hash))
		if i < 0 {
			return 0, false
		}
		from += i
		if s.holds(home+from, hash) {
			return home + from, true
		}
	}
}

// holds says whether a cell is that of a hash; a free one is of 0, which is no
// hash.
func (s *stripe) holds(cell int, hash uint64) bool {
	return binary.LittleEndian.Uint64(s.cells[cell*cellSize:]) == hash
}

// homes are the first cells of a key's two neighbourhoods. The second is for
// when the first is full, which makes next to all cells useful.
func (s *stripe) homes(hash uint64) (first, second int) {
	return s.home(hash >> 8), s.home(hash >> 26)
}

func (s *stripe) home(bits uint64) int {
	home := int(bits & 0xFFFFFFFF * uint64(len(s.tags)) >> 32)
	return max(0, min(home, len(s.tags)-neighbours))
}

// near returns the tags of a neighbourhood.
func (s *stripe) near(home int) []byte {
	return s.tags[home:min(home+neighbours, len(s.tags))]
}

// tagOf takes the bits that the homes and the stripe leave.
func tagOf(hash uint64) byte { return max(1, byte(hash)) }

// at returns the bytes of a cell.
func (s *stripe) at(cell int) []byte { return s.cells[cell*cellSize : (cell+1)*cellSize] }

func (s *stripe) expiry(cell int) Instant { return expiryOf(s.at(cell)[expiryOffset-3:]) }

// live returns the states of a key, unless there are none or they have expired.
func (p place) live(now Instant) []byte {
	if !p.ok || p.stripe.expiry(p.cell) <= now {
		return nil
	}
	b := p.stripe.at(p.cell)
	if n := b[lengthOffset]; n != elsewhere {
		return b[cellHead : cellHead+int(n)]
	}
	return p.stripe.large[p.cell]
}

// take is what a Table does for one charge.
func (s *stripe) take(l *Limits, hash uint64, now Instant, cost int64, commit bool) Decision {
	p := s.find(hash)
	states := p.live(now)
	if len(l.algorithms) == 1 {
		return s.takeOne(l.algorithms[0], p, states, hash, now, cost, commit)
	}
	c := &s.charge
	c.Limits, c.Cost = l, cost
	s.next = c.answer(s.next[:0], states, now)
	e := c.entry(s.next, now)
	if !c.Decision.Allowed && c.keep {
		e = c.settle(s.next[:0], states, now)
		s.next = e.states
	}
	if commit && (c.Decision.Allowed || c.keep) {
		s.put(p, hash, e, now)
	}
	return c.Decision
}

// takeOne is take for a single limit, whose state needs no name.
func (s *stripe) takeOne(a algorithm, p place, state []byte, hash uint64, now Instant, cost int64, commit bool) Decision {
	next, o := a.take(s.next[:0], state, now, cost)
	if !o.Allowed && o.back > 0 {
		next, _ = a.take(s.next[:0], state, now, 0)
	}
	s.next = next
	if commit && (o.Allowed || o.back > 0) {
		e := entry{expiry: minInstant, states: next}
		e.note(o.Decision, now)
		s.put(p, hash, e, now)
	}
	return o.Decision
}

// put writes an entry where the key is, or where there is room.
func (s *stripe) put(p place, hash uint64, e entry, now Instant) {
	if !p.ok {
		if p.cell, p.ok = s.room(hash, now); !p.ok {
			return
		}
		s.tags[p.cell] = tagOf(hash)
	}
	b := s.at(p.cell)
	binary.LittleEndian.PutUint64(b, hash)
	putExpiry(b[expiryOffset:], e.expiry)
	b[loadOffset] = e.load
	if len(e.states) <= cellStates {
		if b[lengthOffset] == elsewhere {
			delete(s.large, p.cell)
		}
		b[lengthOffset] = byte(copy(b[cellHead:], e.states))
	} else {
		b[lengthOffset] = elsewhere
		s.large[p.cell] = append(s.large[p.cell][:0], e.states...)
	}
	if s.turn++; s.turn%sweepEvery == 0 && len(s.large) > 0 {
		s.sweep(now)
	}
}

// room returns a free cell in one of a key's neighbourhoods: one that is, or
// one whose entry has expired, or that of the least load; not ok if all have
// reached their limits.
func (s *stripe) room(hash uint64, now Instant) (cell int, ok bool) {
	first, second := s.homes(hash)
	for range 2 {
		for _, home := range [...]int{first, second} {
			if i := bytes.IndexByte(s.near(home), 0); i >= 0 {
				return home + i, true
			}
		}
		s.free(first, first+len(s.near(first)), now)
		s.free(second, second+len(s.near(second)), now)
	}
	victim := first
	for _, home := range [...]int{first, second} {
		for cell := home; cell < home+len(s.near(home)); cell++ {
			if s.at(cell)[loadOffset] < s.at(victim)[loadOffset] {
				victim = cell
			}
		}
	}
	return victim, s.at(victim)[loadOffset] < fullLoad
}

// free frees the cells from..to whose entries have expired.
func (s *stripe) free(from, to int, now Instant) {
	for cell := from; cell < to; cell++ {
		if s.tags[cell] != 0 && s.expiry(cell) <= now {
			s.tags[cell] = 0
			clear(s.at(cell)[:cellHead])
			delete(s.large, cell)
		}
	}
}

// sweep frees the next cells in turn, for the sake of their large states.
func (s *stripe) sweep(now Instant) {
	to := min(s.hand+neighbours, len(s.tags))
	s.free(s.hand, to, now)
	if s.hand = to; to == len(s.tags) {
		s.hand = 0
	}
}

func (s *stripe) tracked(now Instant) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cell, tag := range s.tags {
		if tag != 0 && s.expiry(cell) > now {
			n++
		}
	}
	return n
}
