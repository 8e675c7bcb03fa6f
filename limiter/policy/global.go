package policy

import (
	"time"

	"github.com/weirproxy/weir/limiter"
)

// A Global says which engine keeps the limits that several proxies share, and
// how to reach it.
type Global struct {
	Engine  Engine
	Cluster string        // of the proxy's configuration
	Timeout time.Duration // of one call, a whole number of milliseconds

	// Domain is what the limits of a rate limit service are grouped by.
	Domain string

	// Dialect is how Redis is spoken to over HTTP, with the Authority and the
	// Token that it wants; the token may be empty.
	Dialect          Dialect
	Authority, Token string

	// MaxPending is the number of calls that may be under way in one worker.
	MaxPending int

	seed limiter.Seed // of the names of keys, the same in every proxy
}

// An Engine keeps shared limits.
type Engine string

const (
	RLS   Engine = "rls"   // a rate limit service, by Envoy's protocol v3
	Redis Engine = "redis" // Redis behind a door for HTTP
)

// A Dialect is a way to send a command of Redis over HTTP.
type Dialect string

const (
	Webdis  Dialect = "webdis"
	Upstash Dialect = "upstash"
)

// Local judges a request that the engine has failed by the limits of one of
// several proxies. It is what on_global_error may say beside Allow and Deny.
const Local Action = "local"

// A globalRule is what a rule asks the engine.
type globalRule struct {
	limits     *quota  // that all proxies share; nil if the engine knows them
	share      *quota  // of them, one proxy's
	descriptor []entry // for a rate limit service
}

// An entry of a descriptor has the value of a part of the key, or one of its
// own if there is none.
type entry struct {
	name, value string
	part        int // index, or -1
}

// A GlobalKey names a key to the engine: 128 bits of a keyed hash, so that
// nothing of what clients send leaves the proxy.
type GlobalKey [16]byte

// An Ask is one charge that the engine decides.
type Ask struct {
	Rule   *Rule
	Key    GlobalKey
	Cost   int64
	Shadow bool // a refusal refuses nobody

	// Limits are what the key is held to, if the engine does not know them.
	Limits *limiter.Limits

	// Descriptor is the list of names and values that a rate limit service
	// finds its limits by.
	Descriptor [][2]string

	outcome int // index
	quota   *quota
	share   *quota
	local   limiter.Fingerprint // of the key in the table
}

// A Call is a request that passes in this proxy, and waits for the engine. It
// keeps what is needed to conclude it, until that is done or the request is gone.
type Call struct {
	// Asks are what the engine is asked: at least one.
	Asks []Ask

	at       limiter.Instant
	outcomes []Outcome
	charges  []limiter.Charge // that this proxy has made
	asked    []asked
}

// String returns the key in hexadecimal digits. (The package for that brings fmt.)
func (k GlobalKey) String() string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, 2*len(k))
	for _, c := range k {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return string(b)
}

// globalName is what a rule's global limits are called that have no name, apart
// from its local ones.
func (r *Rule) globalName() string {
	if r.limits == nil {
		return r.Name
	}
	return r.Name + "-global"
}

// key names a key to the engine.
func (g *Global) key(key []byte) GlobalKey { return g.seed.Hash(key) }
