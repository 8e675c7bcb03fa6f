package e2e

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/load"
)

// A soakStream is the load on one listener, and what came of it.
type soakStream struct {
	filter
	share int64    // of the bursts, in percent
	rules []string // all of which match
	size  int64    // max_keys
	left  int64    // keys that are live for longer than a minute
	addr  string
	tally load.Tally
	cold  atomic.Int64 // keys that came once
}

// The populations of keys are these, and one that is ever new.
const (
	soakHot  = 10
	soakWarm = 10_000
)

// soakStreams have windows from one second to one hour. Keys that are ever new
// meet none of more than a minute, except in "small", whose table is always full.
func soakStreams() []*soakStream {
	return []*soakStream{
		{share: 50, rules: []string{"per-key"}, size: 262144, filter: filter{"key", `{"rules": [
			{"name": "per-key", "key": [{"header": "x-key"}], "limits": [{"requests": 20, "window": "1s"}, {"requests": 200, "window": "1m"}]}],
			"headers": ["retry-after", "ratelimit"], "on_error": "deny", "store": {"max_keys": 262144}}`}},
		{share: 10, rules: []string{"trial"}, size: 65536, filter: filter{"trial", `{"rules": [
			{"name": "trial", "key": [{"header": "x-key"}], "shadow": true, "limits": [{"requests": 5, "window": "10s", "algorithm": "sliding_counter"}]}],
			"on_error": "deny", "store": {"max_keys": 65536}}`}},
		{share: 10, rules: []string{"per-client", "pace", "used"}, size: 262144, left: soakHot + soakWarm, filter: filter{"client", `{"rules": [
			{"name": "per-client", "key": [{"client_ip": true}], "limits": [{"requests": 100, "window": "1h", "algorithm": "sliding_buckets", "buckets": 12}]},
			{"name": "pace", "key": [{"header": "x-key"}], "limits": [{"requests": 50, "window": "1s", "algorithm": "token_bucket", "burst": 100}]},
			{"name": "used", "key": [{"header": "x-key"}], "limits": [{"requests": 1000, "window": "30s"}], "charge": {"when": "response"}}],
			"headers": ["retry-after", "ratelimit"], "on_error": "deny", "store": {"max_keys": 262144}}`}},
		{share: 30, rules: []string{"small"}, size: 64, left: 64, filter: filter{"small", `{"rules": [
			{"name": "small", "key": [{"header": "x-key"}], "limits": [{"requests": 5, "window": "1h"}]}],
			"on_error": "deny", "store": {"max_keys": 64, "on_full": "allow"}}`}},
	}
}

// TestSoak is B71 and B77 in a real Envoy with two workers: under bursts and
// calm, with keys that are always there and keys that never come back, the
// memory of guests and host and the tables stay flat, no VM dies, no request
// fails, and the counters add up to what was sent and answered.
func TestSoak(t *testing.T) {
	requests, rounds, period := int64(40_000), 4, 1500*time.Millisecond
	if *long {
		requests, rounds, period = 10_000_000, 200, 6*time.Second
	}
	s := startSoak(t)
	for round := range rounds {
		// A round without a burst lets short windows pass.
		s.round(t, requests/int64(rounds)*[]int64{1, 0, 2, 1}[round%4], period)
	}
	s.checkFlat(t)
	s.checkTracked(t)
	s.checkCounters(t)
	s.checkForgotten(t)
}

// A soak is an Envoy under mixed load for a long time.
type soak struct {
	envoy   *envoyproc.Process
	streams []*soakStream
	start   time.Time
	vms     int64 // made before the load
	series  []soakSample
}

func startSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{streams: soakStreams()}
	var listeners []any
	for _, stream := range s.streams {
		listeners = append(listeners, listener(t, stream.filter, answerDirectly))
	}
	s.envoy = startEnvoy(t, assemble(t, listeners), 2)
	for _, stream := range s.streams {
		var err error
		if stream.addr, err = s.envoy.Listener(t.Context(), stream.name); err != nil {
			t.Fatal(err)
		}
		stream.tally = load.Tally{}
	}
	s.start, s.vms = time.Now(), s.stats(t)[vmsMade]
	return s
}

// round sends a burst over all listeners at once, looks at the memory, and is
// calm for the rest of the period.
func (s *soak) round(t *testing.T, burst int64, period time.Duration) {
	t.Helper()
	end := time.Now().Add(period)
	s.each(t, func(stream *soakStream) (load.Tally, error) {
		var sent atomic.Int64
		next := stream.source()
		// Envoy closes a connection on which more than two answers of its own wait.
		return load.Flood(t.Context(), stream.addr, 4, 2, func(conn int) (r load.Request, more bool) {
			if more = sent.Add(1) <= burst*stream.share/100; more {
				r = next(conn)
			}
			return r, more
		})
	})
	s.sample(t)
	s.each(t, func(stream *soakStream) (load.Tally, error) {
		next := stream.source()
		_, tally, err := load.AtRate(t.Context(), stream.addr, 2, 100, max(time.Until(end), 200*time.Millisecond),
			func(conn int) (load.Request, bool) { return next(conn), true })
		return tally, err
	})
}

// each loads all listeners at once.
func (s *soak) each(t *testing.T, load func(*soakStream) (load.Tally, error)) {
	t.Helper()
	var wg sync.WaitGroup
	for _, stream := range s.streams {
		wg.Go(func() {
			tally, err := load(stream)
			if err != nil {
				t.Errorf("%s: %v", stream.name, err)
			}
			stream.tally.Add(tally)
		})
	}
	if wg.Wait(); t.Failed() {
		t.FailNow()
	}
}

// source returns the requests of up to four connections: of five requests two
// have a hot key, two a warm one and one a key that never was before, and of
// two clients one is hot and one is warm.
func (s *soakStream) source() func(conn int) load.Request {
	var random [4]*rand.Rand
	for i := range random {
		random[i] = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return func(conn int) load.Request {
		r := random[conn]
		key, client := fmt.Sprint("hot-", r.IntN(soakHot)), fmt.Sprint("192.0.2.", r.IntN(soakHot))
		switch r.IntN(5) {
		case 0, 1:
			key = fmt.Sprint("warm-", r.IntN(soakWarm))
		case 2:
			key = fmt.Sprint("cold-", s.cold.Add(1))
		}
		if r.IntN(2) == 0 {
			n := r.IntN(soakWarm)
			client = fmt.Sprintf("10.0.%d.%d", n>>8, n&255)
		}
		return load.Request{Path: "/", Headers: [][2]string{{"x-key", key}, {"x-forwarded-for", client}}}
	}
}
