package policy

import "github.com/weirproxy/weir/limiter"

// A Policy is a compiled configuration. It is immutable.
type Policy struct {
	// Namespace sets the windows of this policy apart from those of others in
	// the same proxy. Policies with the same one share their windows, and
	// should have the same Store.
	Namespace string

	// Rules are in the order of the configuration, which decides nothing.
	Rules []*Rule

	// Store is the size of the table, and what is done when it is full.
	Store Store

	// OnError is what happens to a request that cannot be decided.
	OnError Action

	// Global is how the engine is reached that some rules ask; nil if none.
	Global *Global

	// OnGlobalError is what happens to a request that the engine fails: Local,
	// Allow or Deny.
	OnGlobalError Action

	// Replicas is what the limits of each proxy are divided by, 1 or more.
	Replicas int64

	exempt  []match // a request that one of them matches is not limited
	reply   reply
	headers headers
}

// An Action is what to do with a request that the limits do not answer for.
type Action string

const (
	Allow Action = "allow" // let it pass
	Deny  Action = "deny"  // answer 503
)

// Store holds the options of the table.
type Store struct {
	MaxKeys int    // the largest number of keys tracked at a time
	OnFull  Action // what happens to a new key that finds no room
}

// TableOptions returns the options of the table that this policy runs on, under
// the clock of the proxy.
func (p *Policy) TableOptions(seed limiter.Seed) limiter.TableOptions {
	return limiter.TableOptions{MaxKeys: p.Store.MaxKeys, Steady: true, DenyWhenFull: p.Store.OnFull == Deny, Seed: seed}
}
