package limiter_test

import (
	"testing"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) limiter.Store { return limiter.NewMemory(storetest.Shards) })
}

func TestMemoryHasSoManyShards(t *testing.T) {
	m := limiter.NewMemory(2)
	if _, _, err := m.Load(2, nil); err == nil || err.Error() != "shard 2 of 2" {
		t.Error(err)
	}
	if _, err := m.Swap(2, nil, 0); err == nil || err.Error() != "shard 2 of 2" {
		t.Error(err)
	}
}
