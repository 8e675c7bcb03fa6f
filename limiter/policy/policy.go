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

	reply      reply
	retryAfter bool // refusals carry Retry-After

	needsMethod, needsPath bool // some rule looks at it
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

// TableOptions returns the options of the table that this policy runs on.
func (p *Policy) TableOptions(seed limiter.Seed) limiter.TableOptions {
	return limiter.TableOptions{MaxKeys: p.Store.MaxKeys, DenyWhenFull: p.Store.OnFull == Deny, Seed: seed}
}

// A Rule holds the requests that it matches to limits, by their keys.
type Rule struct {
	// Name identifies the rule in replies, metrics and stored windows: 1 to 64
	// of a-z, 0-9, - and _.
	Name string

	// Limits are what each key is held to.
	Limits *limiter.Limits

	match     match
	key       []part
	onMissing missing
	id        [8]byte // of namespace, name and key, which own the windows
}

// missing is what happens to a request that lacks a part of the key.
type missing string

const (
	missingClientIP missing = "client_ip" // the client's address stands in
	missingSkip     missing = "skip"      // the rule does not apply
	missingReject   missing = "reject"    // the request is refused
	missingShared   missing = "shared"    // all that lack the part share a window
)

// identify sets the identity under which the windows of the rule are kept.
// Its place among the rules, what it matches, what it does about missing parts
// and its limits are no part of it.
func (r *Rule) identify(namespace string) {
	b := appendBytes(nil, namespace)
	b = appendBytes(b, r.Name)
	for _, p := range r.key {
		b = p.source.appendDefinition(append(b, byte(p.kind)))
	}
	hash := uint64(limiter.Seed{}.Fingerprint(b))
	for i := range r.id {
		r.id[i] = byte(hash >> (8 * i))
	}
}
