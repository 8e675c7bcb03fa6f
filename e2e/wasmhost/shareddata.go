package wasmhost

import (
	"bytes"
	"maps"
	"slices"
	"sync"
)

// SharedData is the map that all VMs of a process see. Each value has a version,
// the cas, drawn from one counter for the whole map. It is safe for concurrent use.
type SharedData struct {
	mu      sync.Mutex
	entries map[string]sharedEntry
	lastCas uint32
}

type sharedEntry struct {
	value []byte
	cas   uint32
}

func newSharedData() *SharedData { return &SharedData{entries: map[string]sharedEntry{}} }

// Get returns a copy of the value, with its version, which is never 0.
func (d *SharedData) Get(key string) (value []byte, cas uint32, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	entry, ok := d.entries[key]
	return bytes.Clone(entry.value), entry.cas, ok
}

// Set stores a copy of the value, by Envoy's rule: cas 0 always overwrites; any
// other cas inserts if the key is missing, and otherwise must be the version of
// the value that is there, or the answer is CasMismatch.
func (d *SharedData) Set(key string, value []byte, cas uint32) Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	if entry, ok := d.entries[key]; ok && cas != 0 && cas != entry.cas {
		return CasMismatch
	}
	d.lastCas++
	if d.lastCas == 0 { // 0 says "overwrite" and cannot be a version
		d.lastCas++
	}
	d.entries[key] = sharedEntry{bytes.Clone(value), d.lastCas}
	return OK
}

// Len is the number of keys. They are never removed.
func (d *SharedData) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.entries)
}

// Bytes is the sum of the lengths of all values.
func (d *SharedData) Bytes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := 0
	for _, entry := range d.entries {
		sum += len(entry.value)
	}
	return sum
}

// Keys returns all keys in order.
func (d *SharedData) Keys() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.entries))
}
