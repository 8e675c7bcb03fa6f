package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/limiter"
)

// TestCluster: each server has a part of the slots, and sends who asks for another
// elsewhere.
func TestCluster(t *testing.T) {
	c, err := engine.StartCluster(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}()
	moved := 0
	for _, node := range c.Nodes {
		s := load(t, node)
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			one := call{charges: []charge{{name: name, limits: []limiter.Limit{{Algorithm: limiter.SlidingLog, Requests: 5, Window: 1e9}}, cost: 1}}}
			err := s.EvalSha(t.Context(), s.sha, one.keys(), one.args()...).Err()
			switch {
			case err != nil && strings.HasPrefix(err.Error(), "MOVED"):
				moved++
			case err != nil:
				t.Errorf("key %s: %v", name, err)
			}
		}
	}
	if moved != 8 {
		t.Errorf("%d of 16 calls were sent elsewhere, want each key at one of two servers", moved)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := engine.StartCluster(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("a start that was cancelled: %v", err)
	}
}
