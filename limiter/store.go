package limiter

// A Store keeps the shards of a table: one value each, which is replaced only
// by somebody who has seen what it is now. It is used by many goroutines, or
// by many proxy workers, at once. Every Store passes the tests of
// [github.com/weirproxy/weir/limiter/storetest].
type Store interface {
	// Load returns a shard's value and its version. A shard that was never
	// stored has version 0 and an empty value; a stored value may be empty
	// too. The value is the caller's until the next Load with the same buf,
	// and may or may not lie in buf, which is memory that Load may use.
	Load(shard uint32, buf []byte) (value []byte, version uint64, err error)

	// Swap stores value if the shard's version is still the given one; 0
	// means that there is still none. It reports whether it did: false
	// without an error is a conflict, upon which the caller loads again. The
	// new version is one that the shard has not had for as long as anybody
	// can remember the old ones. Swap does not keep value.
	Swap(shard uint32, value []byte, version uint64) (stored bool, err error)
}
