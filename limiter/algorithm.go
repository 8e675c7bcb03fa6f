package limiter

import (
	"math"
	"time"
)

// An algorithm decides on an encoded state and never changes the one that it
// is given. A state is empty for a key that nobody has used; bytes that cannot
// be decoded count as empty and are reported as corrupt.
type algorithm interface {
	// take decides whether cost more units fit at now and, if they do,
	// appends the state that holds them to dst. A refusal returns dst as it
	// came. A cost of 0 is not a request: it appends the state as it is at
	// now, which re-anchors one whose clock has stepped back.
	take(dst, state []byte, now Instant, cost int64) ([]byte, outcome)

	// refund appends to dst the state without the cost units that a take
	// charged. Units that have left meanwhile are not missed.
	refund(dst, state []byte, r receipt, cost int64) []byte

	// pending returns the units that are younger than the window, or what
	// the algorithm knows of them.
	pending(state []byte, now Instant) int64

	// unlimited returns the same algorithm, on the same states, with a limit
	// that nothing reaches: for what must be recorded come what may.
	unlimited() algorithm

	// shape is what a state can only be read with: whatever changes it
	// starts the limit afresh.
	shape() []int64
}

// unreachable is a limit for what refuses nothing. Counts up to it can be
// stored.
const unreachable = math.MaxUint32

// An outcome is a decision and what else its caller must know.
type outcome struct {
	Decision
	receipt
	back    int64 // microseconds by which the state was ahead, if it was re-anchored: keep it even if refused
	corrupt bool  // the state could not be decoded
}

// A receipt is what must be known of a charge to undo it.
type receipt struct {
	at     Instant       // when the units were recorded
	before level         // what a bucket held just before
	reset  time.Duration // ResetAfter without the charge
}
