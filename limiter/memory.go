package limiter

import (
	"sync"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// Memory is a Store in the memory of this process, safe for concurrent use.
type Memory struct{ shards []memoryShard }

type memoryShard struct {
	mu      sync.Mutex
	version uint64
	value   []byte
}

// NewMemory returns a Store with room for the given number of shards, which
// Shards tells for a table of a given size.
func NewMemory(shards uint32) *Memory {
	return &Memory{shards: make([]memoryShard, shards)}
}

// Load implements Store. It copies the value into buf.
func (m *Memory) Load(shard uint32, buf []byte) ([]byte, uint64, error) {
	s, err := m.shard(shard)
	if err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(buf[:0], s.value...), s.version, nil
}

// Swap implements Store. It copies the value, and takes new memory only when
// the old is too small or more than twice too large.
func (m *Memory) Swap(shard uint32, value []byte, version uint64) (bool, error) {
	s, err := m.shard(shard)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version != version {
		return false, nil
	}
	s.version++
	if cap(s.value) > 2*len(value) {
		s.value = nil
	}
	s.value = append(s.value[:0], value...)
	return true, nil
}

func (m *Memory) shard(shard uint32) (*memoryShard, error) {
	if int64(shard) >= int64(len(m.shards)) {
		return nil, brief.Errorf("shard %d of %d", shard, len(m.shards))
	}
	return &m.shards[shard], nil
}
