package e2e

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/load"
)

// floodLimit is what a key may do in a window that outlasts every flood.
const floodLimit = 100

// floodSize is the number of keys of a flood, and what a table has room for.
func floodSize() (keys, maxKeys int64) {
	if *long {
		return 2_000_000, 100_000
	}
	return 40_000, 2_000
}

// floodRule is a filter of one rule, with a table of its own.
func floodRule(name, key string, requests, maxKeys int64, onFull string) filter {
	return filter{name, fmt.Sprintf(`{"rules": [{"name": "flood", "key": [%s], "limits": [{"requests": %d, "window": "24h"}]}],
		"store": {"max_keys": %d, "on_full": %q}, "on_error": "deny"}`, key, requests, maxKeys, onFull)}
}

// startFlooded starts an Envoy with these filters and one more, which has been
// flooded: the code is compiled, and the VMs have the memory that they need.
func startFlooded(t *testing.T, c crowd, filters ...filter) *envoyproc.Process {
	t.Helper()
	var listeners []any
	for _, f := range append(filters, floodRule("warm", c.key, floodLimit, 1000, "allow")) {
		listeners = append(listeners, listener(t, f, answerDirectly))
	}
	envoy := startEnvoy(t, assemble(t, listeners), 2)
	const requests = 15_000
	if tally := pour(t, listenerOf(t, envoy, "warm"), each(0, requests, c.other)); tally[200] != requests {
		t.Fatalf("warming up: %v", tally)
	}
	return envoy
}

// TestKeyFlood sends twenty times as many keys as the table has room for. A key
// that is at its limit stays refused throughout, ordinary keys keep being
// served, memory stays within its bound, and every answer is accounted for.
func TestKeyFlood(t *testing.T) {
	for _, c := range crowds {
		t.Run(c.name, func(t *testing.T) {
			keys, maxKeys := floodSize()
			envoy := startFlooded(t, c, floodRule("flood", c.key, floodLimit, maxKeys, "allow"))
			f := &flooding{T: t, envoy: envoy, addr: listenerOf(t, envoy, "flood"), crowd: c, answers: load.Tally{}}
			f.useUp()
			before := f.latency()
			f.flood(keys, maxKeys)
			after := f.latency()
			for _, q := range []float64{0.5, 0.99} {
				t.Logf("ordinary keys, p%v: %v in an empty table, %v in a full one, × %.2f", 100*q,
					before.Quantile(q), after.Quantile(q), float64(after.Quantile(q))/float64(before.Quantile(q)))
			}
			checkFloodStats(t, envoy, "flood", map[string]int64{
				"allowed": f.answers[200],
				"limited": f.answers[429],
				"evicted": keys + ordinaryKeys + 1 - maxKeys, // all that came, but for those that fit
			})
		})
	}
}

// flooding is a flood under way.
type flooding struct {
	*testing.T
	envoy    *envoyproc.Process
	addr     string
	crowd    crowd
	ordinary atomic.Int64 // requests of ordinary keys so far
	answers  load.Tally
}

// useUp lets the victim reach its limit, and the ordinary keys use a tenth of it.
func (f *flooding) useUp() {
	f.Helper()
	f.expect("the victim", pour(f.T, f.addr, each(0, floodLimit, f.crowd.victim)), 200, floodLimit)
	f.expect("the victim at its limit", pour(f.T, f.addr, each(floodLimit, 2*floodLimit, f.crowd.victim)), 429, floodLimit)
	const each10 = 10 * ordinaryKeys
	f.expect("ordinary keys", pour(f.T, f.addr, each(0, each10, f.crowd.ordinary)), 200, each10)
}

// expect adds up answers, all of which must have the status.
func (f *flooding) expect(who string, answers load.Tally, status int, n int64) {
	f.Helper()
	f.answers.Add(answers)
	if answers[status] != n || answers.Total() != n {
		f.Errorf("%s: %v, want %d times %d", who, answers, n, status)
	}
}

// latency asks for ordinary keys at a steady rate, less often than they may.
func (f *flooding) latency() load.Latencies {
	f.Helper()
	const perSecond = 400
	d := time.Second / 2
	if *long {
		d = 10 * time.Second
	}
	latencies, tally, err := load.AtRate(f.Context(), f.addr, 4, perSecond, d, func(int) (load.Request, bool) {
		return f.crowd.ordinary(f.ordinary.Add(1)), true
	})
	if err != nil {
		f.Fatal(err)
	}
	f.expect("ordinary keys at a steady rate", tally, 200, int64(len(latencies)))
	return latencies
}

// flood sends the keys in twenty parts, the victim asking all the while.
func (f *flooding) flood(keys, maxKeys int64) {
	const parts = 20
	stop := f.probe()
	base, start := memoryOf(f.T, f.envoy), time.Now()
	half, last := base, base
	for part := range int64(parts) {
		first, end := part*keys/parts, (part+1)*keys/parts
		f.expect("the flood", pour(f.T, f.addr, each(first, end, f.crowd.other)), 200, end-first)
		f.expect("the victim in the flood", pour(f.T, f.addr, each(end, end+1, f.crowd.victim)), 429, 1)
		last = memoryOf(f.T, f.envoy)
		f.Logf("after %d keys: %v more", end, last.minus(base))
		if part < parts/2 {
			half = last
		}
	}
	f.Logf("%.0f requests a second", float64(keys)/time.Since(start).Seconds())
	stop()
	checkGrowth(f.T, "the half in which the table fills", half.minus(base), tableBound(maxKeys, 1))
	checkGrowth(f.T, "the half in which it is full", last.minus(half), 0)
}

// probe lets the victim ask over a connection of its own, until stop is called.
func (f *flooding) probe() (stop func()) {
	ctx, cancel := context.WithCancel(f.Context())
	var asked int64
	var latencies load.Latencies
	var answers load.Tally
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		latencies, answers, err = load.AtRate(ctx, f.addr, 1, 20, time.Hour, func(int) (load.Request, bool) {
			asked++
			return f.crowd.victim(asked), true
		})
	}()
	return func() {
		f.Helper()
		cancel()
		<-done
		if err != nil || asked == 0 {
			f.Fatalf("the victim asked %d times: %v", asked, err)
		}
		f.expect("the victim all along", answers, 429, asked)
		f.Logf("the victim was refused %d times, p50 %v, p99 %v", asked, latencies.Quantile(0.5), latencies.Quantile(0.99))
	}
}

// TestKeyFloodAtTheLimit fills a table with keys that are at their limit, none
// of which can make way: a new key gets the answer of on_full, the known ones
// stay refused, and memory is bounded as ever.
func TestKeyFloodAtTheLimit(t *testing.T) {
	_, maxKeys := floodSize()
	keys, c := 3*maxKeys, crowds[0]
	envoy := startFlooded(t, c, floodRule("allow", c.key, 1, maxKeys, "allow"), floodRule("deny", c.key, 1, maxKeys, "deny"))
	for _, test := range []struct {
		onFull string
		status int // of a key that finds no room
	}{{"allow", 200}, {"deny", 503}} {
		t.Run(test.onFull, func(t *testing.T) {
			addr, base := listenerOf(t, envoy, test.onFull), memoryOf(t, envoy)
			first := pour(t, addr, each(0, keys, c.other))
			filled := memoryOf(t, envoy)
			again := pour(t, addr, each(0, keys, c.other))
			checkGrowth(t, "a table that fills", filled.minus(base), tableBound(maxKeys, 1))
			checkGrowth(t, "a table that is full", memoryOf(t, envoy).minus(filled), 0)

			want := load.Tally{200: maxKeys}
			want.Add(load.Tally{test.status: keys - maxKeys})
			if !maps.Equal(first, want) {
				t.Errorf("every key once: %v, want %v", first, want)
			}
			if want = (load.Tally{429: maxKeys, test.status: keys - maxKeys}); !maps.Equal(again, want) {
				t.Errorf("every key again: %v, want %v", again, want)
			}
			checkFloodStats(t, envoy, test.onFull, map[string]int64{
				"allowed": maxKeys,
				"limited": maxKeys,
				"full":    2 * (keys - maxKeys),
			})
		})
	}
}

// checkFloodStats compares what a filter has counted; what is not wanted is 0.
func checkFloodStats(t *testing.T, envoy *envoyproc.Process, namespace string, want map[string]int64) {
	t.Helper()
	all := map[string]int64{}
	for _, name := range []string{"allowed", "limited", "shadow_limited", "charged", "missing_key", "full", "errors", "evicted"} {
		all["wasmcustom.weir.rule."+namespace+".flood."+name] = want[name]
	}
	for _, name := range []string{"errors", "corrupt", "lost"} {
		all["wasmcustom.weir.filter."+namespace+"."+name] = 0
	}
	checkStats(t, envoy, all)
}
