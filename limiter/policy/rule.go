package policy

import "github.com/weirproxy/weir/limiter"

// A Rule holds the requests that it matches to limits, by their keys.
type Rule struct {
	// Name identifies the rule in replies, metrics and stored windows: 1 to 64
	// of a-z, 0-9, - and _.
	Name string

	match     match
	key       []part
	onMissing missing
	limits    *quota               // of this proxy; nil if there are only global ones
	global    *globalRule          // what the proxies share; nil if nothing
	overrides map[string]*override // by the encoded parts of the key
	cost      cost
	onResult  *responseCharge // nil: charged when the request comes
	shadow    bool
	enforced  uint32  // of all keys, in percent
	id        [8]byte // of namespace, name and key, which own the windows
	details   string  // response code details of what it refuses
}

// A quota is the limits of a rule or of an override, with the names that they
// have in RateLimit headers.
type quota struct {
	limits *limiter.Limits
	names  []string
	policy string // as RateLimit-Policy shows them
}

// An override replaces the limits for one key: by others, by none, or by a
// block, which refuses it for ever.
type override struct {
	limits           *quota
	share            *quota // of the limits, one proxy's, if they are global
	unlimited, block bool
}

// asksEngine says whether the engine decides a key. The limits of an override
// are global where those of the rule are, and else this proxy's, instead of what
// the engine may know.
func (r *Rule) asksEngine(o *override) bool {
	return r.global != nil && (o == nil || r.global.limits != nil)
}

// identify sets what the rule is called in replies, and the identity under
// which its windows are kept. Its place among the rules, what it matches, what it does about missing parts
// and its limits are no part of it.
func (r *Rule) identify(namespace string) {
	r.details = "local_rate_limited{" + r.Name + "}"
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

// override returns what replaces the limits for an encoded key, if anything.
func (r *Rule) override(key []byte) *override {
	return r.overrides[string(key[len(r.id):])]
}

// enforces says whether a refusal of the key refuses the request. Which keys
// it does for is the same in every proxy and at every time: a key is drawn by
// a hash of its own.
func (r *Rule) enforces(key []byte) bool {
	switch {
	case r.shadow || r.enforced == 0:
		return false
	case r.enforced >= 100:
		return true
	default:
		draw := uint64(limiter.Seed{}.Fingerprint(key)) >> 32
		return uint32(draw*100>>32) < r.enforced
	}
}
