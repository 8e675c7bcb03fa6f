//go:build wasip1

package main

import (
	"encoding/binary"
	"errors"
	"strconv"
	"unsafe"

	"github.com/weirproxy/weir/limiter"
)

// keyPrefix begins all that Weir writes to the shared data, which other
// plugins may share. Its number is the version of the layout.
const keyPrefix = "weir/1/"

// absent is a version that no value has, save one in 2^32: setting with it
// creates a value where there is none and conflicts with any that there is.
// The host's own "no version", 0, would overwrite.
const absent = 0xFFFFFFFF

// sharedData is a limiter.Store over the proxy's shared data, which all VMs
// with one vm_id see, and which outlives configurations and crashes. Nothing
// in it can be deleted, so that a shard which is empty stays as an empty value.
type sharedData struct{ key []byte } // which ends in the number of a shard, in four bytes

// newSharedData returns the store of a table. The number of shards is part of
// its keys, since it decides which shard a window is in.
func newSharedData(namespace string, shards uint32) *sharedData {
	key := keyPrefix + "table/" + namespace + "/" + strconv.Itoa(int(shards)) + "/"
	return &sharedData{append([]byte(key), 0, 0, 0, 0)}
}

// Load implements limiter.Store. It leaves nothing in the arena, since one tick
// loads many shards.
func (s *sharedData) Load(shard uint32, buf []byte) ([]byte, uint64, error) {
	before := returnedValues
	value, version, err := get(s.shardKey(shard))
	buf = append(buf[:0], value...)
	returnedValues.rewind(before)
	return buf, version, err
}

// Swap implements limiter.Store.
func (s *sharedData) Swap(shard uint32, value []byte, version uint64) (bool, error) {
	return set(s.shardKey(shard), value, version)
}

// shardKey is valid until the next.
func (s *sharedData) shardKey(shard uint32) []byte {
	binary.LittleEndian.PutUint32(s.key[len(s.key)-4:], shard)
	return s.key
}

func get(key []byte) (value []byte, version uint64, err error) {
	at, size := valueAt()
	returned.cas = 0
	st := proxyGetSharedData(unsafe.SliceData(key), int32(len(key)), at, size, unsafe.Pointer(&returned.cas))
	switch {
	case st == statusNotFound:
		return nil, 0, nil
	case st != statusOK:
		return nil, 0, st.err("proxy_get_shared_data")
	case returned.cas == 0:
		return nil, 0, errors.New("proxy_get_shared_data: a value without a version")
	}
	return bytes(), uint64(returned.cas), nil
}

func set(key, value []byte, version uint64) (stored bool, err error) {
	cas := uint32(version)
	if version == 0 {
		cas = absent
	}
	st := proxySetSharedData(unsafe.SliceData(key), int32(len(key)), unsafe.SliceData(value), int32(len(value)), cas)
	if st == statusCasMismatch {
		return false, nil
	}
	return st == statusOK, st.err("proxy_set_shared_data")
}

// sharedSeed returns the seed of all tables of this proxy. The first VM to ask
// draws it; what is no seed is replaced.
func sharedSeed() (limiter.Seed, error) {
	key := []byte(keyPrefix + "seed")
	for range 64 {
		value, version, err := get(key)
		if err != nil {
			return limiter.Seed{}, err
		}
		if seed, err := limiter.ParseSeed(value); err == nil {
			return seed, nil
		}
		if _, err := set(key, limiter.NewSeed().Bytes(), version); err != nil {
			return limiter.Seed{}, err
		}
	}
	return limiter.Seed{}, limiter.ErrConflict
}
