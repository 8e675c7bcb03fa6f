package limiter

import "slices"

// Two configurations may hold one key to different limits: an old one beside
// the new one while connections drain, or two filters that share a rule. Each
// decides by its own states, and must keep those of the other although it
// cannot read them. Whoever writes an entry parks them: it puts the states that
// it does not know behind its own, as one state under parkingID, which is
//
//	load     1 byte, that of the states which are not parked
//	parked   the parked states, last come first, each as
//	    until    7 bytes, the expiry of the entry when the state was parked
//	    load     1 byte, of the limits that it was charged to
//	    state    its id, length and bytes
//
// An entry expires when the last of its limits is whole again, so until covers
// the state. While it is parked the entry expires no sooner and has no smaller
// load. Afterwards the next charge leaves it out, so that a key which is never
// idle gets rid of it too. Who knows a parked state takes it from there, and
// writes it among its own again.
//
// At most MaxLimits are parked, and the longest parked go first. What makes no
// sense is as good as absent.
const parkingID stateID = 0xFFFFFF

// A parkedState is one that a charge may not know.
type parkedState struct {
	until Instant
	load  uint8
	state []byte // with its id and length
}

func (p parkedState) id() stateID { return stateIDAt(p.state) }

func (p parkedState) append(dst []byte) []byte {
	dst = append(appendInstant(dst, p.until), p.load)
	return append(dst, p.state...)
}

// parkedUnder returns the bytes that are parked under id, nil if there are none.
func parkedUnder(states []byte, id stateID) []byte {
	for p := range (entry{states: states}).parked {
		if p.id() == id {
			from, to, _ := stateEnd(p.state)
			return p.state[from:to:to]
		}
	}
	return nil
}

// parked yields the states of an entry that are parked.
func (e entry) parked(yield func(parkedState) bool) {
	b, _ := findState(e.states, parkingID)
	if len(b) == 0 {
		return
	}
	for r := (reader{rest: b[1:]}); len(r.rest) > instantLen; {
		p := parkedState{until: min(r.instant(), e.expiry), load: r.rest[0]}
		_, to, ok := stateEnd(r.rest[1:])
		if !ok {
			return
		}
		p.state, r.rest = r.rest[1:1+to], r.rest[1+to:]
		if !yield(p) {
			return
		}
	}
}

// every yields all states of an entry, as they are parked or would be now.
func (e entry) every(yield func(parkedState) bool) {
	load := e.load
	if b, _ := findState(e.states, parkingID); len(b) > 0 {
		load = b[0]
	}
	for states := e.states; ; {
		_, to, ok := stateEnd(states)
		if !ok {
			break
		}
		p := parkedState{e.expiry, load, states[:to]}
		if p.id() != parkingID && !yield(p) {
			return
		}
		states = states[to:]
	}
	e.parked(yield)
}

// carry adds to the next entry of a charge the states in the old one that the
// charge does not know.
func (r *request) carry(c *Charge, next, old *entry) {
	if c.known != len(old.states) {
		c.park(next, old, r.now)
	}
	r.states = next.states // where there may be more memory now
}

func (c *Charge) park(next, old *entry, now Instant) {
	start, parked := len(next.states), 0
	next.states = append(openState(next.states, parkingID), next.load)
	for p := range old.every {
		if p.until <= now || parked == MaxLimits || c.knows(p) {
			continue
		}
		parked++
		next.states = p.append(next.states)
		next.expiry = max(next.expiry, unspared(p.until))
		next.load = max(next.load, p.load)
	}
	if parked == 0 {
		next.states = next.states[:start]
		return
	}
	next.states = sealState(next.states, start)
}

func (c *Charge) knows(p parkedState) bool {
	id := p.id()
	return id == parkingID || slices.Contains(c.Limits.ids, id)
}

// held returns until when an entry is sure to hold the states that a charge
// knows, and with what load, whatever becomes of the others.
func (c *Charge) held(e *entry) (until Instant, load uint8) {
	if c.known == len(e.states) {
		return e.expiry, e.load
	}
	until, load = e.expiry, fullLoad
	for p := range e.every {
		if c.knows(p) {
			until, load = min(until, p.until), min(load, p.load)
		}
	}
	return until, load
}
