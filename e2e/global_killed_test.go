package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/load"
)

// recovery is how long after it can be reached an engine may take to be of use.
const recovery = 2 * time.Second

// TestGlobalKilled: Redis is killed under load, and then the rate limit service,
// and each comes back on its port. Every request is answered as is declared, and
// two seconds after the engine can be reached it decides again.
func TestGlobalKilled(t *testing.T) {
	server := startRedis(t, 0)
	webdis, upstash, service := startWebdis(t, server), startUpstash(t, server), startRatelimit(t, server, killedLimits, 0)
	var filters []filter
	for _, door := range []string{"webdis", "upstash", "ratelimit"} {
		filters = append(filters, failingFilters(door, "1s")...)
	}
	proxy := startProxies(t, 1, filters, cluster(t, "webdis", webdis.Addr), cluster(t, "upstash", upstash.Addr),
		http2(cluster(t, "ratelimit", service.Addr)))[0]
	// What comes back outlives the part of the test that it comes back in.
	newServer := func() { startRedis(t, server.Port) }
	newService := func() { startRatelimit(t, startRedis(t, 0), killedLimits, service.Port) }
	t.Run("redis", func(t *testing.T) {
		testKilled(t, proxy, []string{"webdis", "upstash", "ratelimit"}, server.Process, newServer)
	})
	t.Run("ratelimit", func(t *testing.T) { testKilled(t, proxy, []string{"ratelimit"}, service.Process, newService) })
}

const killedLimits = `
domain: weir
descriptors:
  - {key: rule, value: one, descriptors: [{key: header x-key, rate_limit: {unit: day, requests_per_unit: 6}}]}
`

// An outage is when an engine was killed and came back, since the start.
type outage struct{ killing, killed, returning, returned time.Duration }

// testKilled kills an engine and brings it back, while each policy is under load.
func testKilled(t *testing.T, proxy *envoyproc.Process, doors []string, victim *engine.Process, restart func()) {
	var names []string
	for _, door := range doors {
		for policy := range fallbacks {
			names = append(names, door+"-"+policy)
		}
	}
	before, err := proxy.Stats(t.Context(), "wasmcustom")
	if err != nil {
		t.Fatal(err)
	}
	start, over := time.Now(), make(chan struct{})
	answers := make([]map[int][]span, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		addr := listenerOf(t, proxy, name)
		wg.Go(func() {
			answers[i] = driveSince(t, start, []lane{{addr, fresh(name+t.Name()+"-a", over)}, {addr, fresh(name+t.Name()+"-b", over)}})
		})
	}
	o := suffer(start, victim, restart)
	time.Sleep(recovery + 500*time.Millisecond)
	close(over)
	wg.Wait()
	for i, name := range names {
		checkOutage(t, name, answers[i], o)
		checkOutageCounts(t, proxy, before, name, tally(answers[i]))
	}
	for _, door := range doors {
		idle(t, proxy, door)
	}
}

// suffer lets the outage happen, in the midst of load.
func suffer(start time.Time, victim *engine.Process, restart func()) (o outage) {
	since := func() time.Duration { return time.Since(start) }
	time.Sleep(500 * time.Millisecond)
	o.killing = since()
	victim.Kill()
	o.killed = since()
	time.Sleep(1500 * time.Millisecond)
	o.returning = since()
	restart() // which returns when it has answered
	o.returned = since()
	return o
}

// fresh sends requests of a new key each, so that no limit refuses one.
func fresh(prefix string, over <-chan struct{}) load.Source {
	n := 0
	return func(int) (load.Request, bool) {
		n++
		select {
		case <-over:
			return load.Request{}, false
		case <-time.After(2 * time.Millisecond):
			return requestOf("/", "x-key", fmt.Sprint(prefix, n)), true
		}
	}
}

// checkOutage: while the engine is up all pass, and meanwhile what the policy
// says: of a new key also local and allow let a request pass.
func checkOutage(t *testing.T, name string, answers map[int][]span, o outage) {
	t.Helper()
	deny := strings.HasSuffix(name, "-deny")
	between := map[string]int{}
	for status, spans := range answers {
		if status != 200 && !(deny && status == 503) {
			t.Errorf("%s: %d answers have status %d", name, len(spans), status)
		}
		for _, s := range spans {
			phase := "turning"
			switch {
			case s.answered < o.killing:
				phase = "before"
			case s.sent > o.killed && s.answered < o.returning:
				phase = "down"
			case s.sent > o.returned+recovery:
				phase = "after"
			}
			between[fmt.Sprint(phase, " ", status)]++
		}
	}
	t.Logf("%s: %v", name, between)
	for _, phase := range []string{"before", "down", "after"} {
		want, other := 200, 503
		if deny && phase == "down" {
			want, other = other, want
		}
		if n := between[fmt.Sprint(phase, " ", want)]; n == 0 {
			t.Errorf("%s: %s nobody had status %d", name, phase, want)
		}
		if n := between[fmt.Sprint(phase, " ", other)]; n > 0 {
			t.Errorf("%s: %s %d answers had status %d, want %d", name, phase, n, other, want)
		}
	}
}

// checkOutageCounts: every request is counted once, and with deny every one that
// the engine has failed once by its cause.
func checkOutageCounts(t *testing.T, proxy *envoyproc.Process, before map[string]int64, name string, sent load.Tally) {
	t.Helper()
	filter, rule := "wasmcustom.weir.filter."+name+".", "wasmcustom.weir.rule."+name+".one."
	stats, err := proxy.Await(t.Context(), "wasmcustom", func(stats map[string]int64) bool {
		n := func(name string) int64 { return stats[name] - before[name] }
		failed := n(filter + "global_overflow")
		for _, cause := range causes {
			failed += n(filter + "global_" + cause)
		}
		return n(rule+"allowed") == sent[200] && n(rule+"errors") == sent[503] && failed > 0 && (sent[503] == 0 || failed == sent[503]) &&
			n(filter+"global_calls") >= sent.Total() && n(filter+"errors") == 0 && n(filter+"lost") == 0
	})
	if err != nil {
		t.Errorf("%s: answers by status %v, %v", name, sent, err)
	}
	for _, cause := range append([]string{"calls", "overflow"}, causes...) {
		t.Logf("%s: %s %d", name, cause, stats[filter+"global_"+cause]-before[filter+"global_"+cause])
	}
}
