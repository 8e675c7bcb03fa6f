package envoyproc

import (
	"context"
	"fmt"
	"time"
)

const pollInterval = 20 * time.Millisecond

// awaitTimeout bounds a wait whatever its context says: Envoy answers nobody while
// it compiles a module, which on a busy machine takes a minute.
const awaitTimeout = 3 * time.Minute

// Await asks for the statistics that match filter, as [Process.Stats] does, until
// done says that they are as wanted, and returns those. If that does not happen
// within three minutes, or ctx ends before, the error has what they were last.
func (p *Process) Await(ctx context.Context, filter string, done func(stats map[string]int64) bool) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, awaitTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var last map[string]int64
	for {
		stats, err := p.Stats(ctx, filter)
		switch {
		case err == nil && done(stats):
			return stats, nil
		case err == nil:
			last = stats
		case ctx.Err() == nil:
			return nil, err
		}
		select {
		case <-ctx.Done():
			return last, fmt.Errorf("envoy's statistics stay at %v: %w", last, ctx.Err())
		case <-tick.C:
		}
	}
}
