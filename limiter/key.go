package limiter

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/dchest/siphash"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// A Fingerprint stands for a key in a table: its SipHash-2-4 under the table's
// seed. Who does not know the seed can neither find two keys with one
// fingerprint nor pile keys into one shard. By chance two of n keys share one
// with a probability of n²/2^65: one in 37 million for a million keys. It is never 0.
type Fingerprint uint64

// SeedLen is the length of an encoded seed in bytes.
const SeedLen = 16

// A Seed makes the fingerprints of one table unpredictable. Everyone who uses
// the table must have the same one, and nobody else should see it.
type Seed struct{ k0, k1 uint64 }

// NewSeed draws a seed from the system's randomness.
func NewSeed() Seed { return Seed{rand.Uint64(), rand.Uint64()} }

// ParseSeed decodes what Bytes returned.
func ParseSeed(b []byte) (Seed, error) {
	if len(b) != SeedLen {
		return Seed{}, brief.Errorf("a seed has %d bytes, not %d", SeedLen, len(b))
	}
	return Seed{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}, nil
}

// Bytes encodes the seed.
func (s Seed) Bytes() []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, SeedLen), s.k0)
	return binary.LittleEndian.AppendUint64(b, s.k1)
}

// Fingerprint returns the fingerprint of a key, in time linear in its length.
func (s Seed) Fingerprint(key []byte) Fingerprint {
	return max(1, Fingerprint(siphash.Hash(s.k0, s.k1, key)))
}

// Hash returns the 128-bit hash of a key, for those who name keys to others and
// must not have two share a name.
func (s Seed) Hash(key []byte) (h [16]byte) {
	low, high := siphash.Hash128(s.k0, s.k1, key)
	binary.LittleEndian.PutUint64(h[:8], low)
	binary.LittleEndian.PutUint64(h[8:], high)
	return h
}
