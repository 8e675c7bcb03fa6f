package e2e

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

// TestReload changes the listeners of one Envoy with four workers while it runs.
func TestReload(t *testing.T) {
	l := startReloadable(t)
	t.Run("cold start", func(t *testing.T) { reloadColdStart(t, l) })
	t.Run("under load", func(t *testing.T) { reloadUnderLoad(t, l) })
	t.Run("changes", func(t *testing.T) { reloadChanges(t, l) })
	t.Run("refused", func(t *testing.T) { reloadRefused(t, l) })
	t.Run("builds", func(t *testing.T) { reloadBuilds(t, l) })
}

// perKey is a rule of so many requests an hour for each key.
func perKey(name string, requests int, more string) string {
	return fmt.Sprintf(`{"name": %q, "key": [{"header": "x-key"}], "limits": [{"requests": %d, "window": "1h"%s}]}`, name, requests, more)
}

// reloadColdStart is B76: one request on each of four connections, each at a
// worker of its own, first in their life and again after a reload.
func reloadColdStart(t *testing.T, l *lds) {
	balanced := func(listener, _ object) {
		listener["stat_prefix"] = "cold"
		listener["connection_balance_config"] = object{"exact_balance": object{}}
	}
	for i, want := range []map[string]int{{"a": 1}, {"a": 0, "b": 1}} {
		l.update(t, accepted, marked(t, "cold", fmt.Sprint(i), perKey("one", 1, ""), "", balanced))
		var conns []*pinned
		for range 4 {
			conns = append(conns, l.live(t, "cold", fmt.Sprint(i)))
		}
		l.await(t, `listener\.cold\.worker_.\.downstream_cx_active`, 4, 1)
		for key, n := range want {
			if got := atOnce(t, conns, key); got != n {
				t.Errorf("configuration %d: %d of 4 requests for %s admitted, want %d", i, got, key, n)
			}
		}
		for _, p := range conns {
			_ = p.Close()
		}
		l.await(t, `listener\.cold\.worker_.\.downstream_cx_active`, 4, 0)
	}
}

// atOnce asks on all connections at a time and counts who is admitted.
func atOnce(t *testing.T, conns []*pinned, key string) int {
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for _, p := range conns {
		wg.Go(func() {
			switch got, err := p.ask("/", "x-key: "+key); {
			case err != nil || got.status != 200 && got.status != 429:
				t.Errorf("%+v, %v", got, err)
			case got.status == 200:
				admitted.Add(1)
			}
		})
	}
	wg.Wait()
	return int(admitted.Load())
}

// reloadUnderLoad is B51 and B71: updates of what must not matter, under load.
func reloadUnderLoad(t *testing.T, l *lds) {
	updates := 20
	if *long {
		updates = 100
	}
	newClientele(t, l, "load", updates, "").reload(t)
}

// reloadChanges holds envoy/configuration.md to what it says of a reload. Every
// row is one key through several configurations.
func reloadChanges(t *testing.T, l *lds) {
	three := perKey("a", 3, "")
	type stage struct{ rules, members, want string }
	spent := stage{three, "", "200 200 200 429"}
	for name, stages := range map[string][]stage{
		"raised":              {spent, {perKey("a", 5, ""), "", "200 200 429"}},
		"lowered":             {{perKey("a", 9, ""), "", "200 200 200"}, {three, "", "429"}, {perKey("a", 4, ""), "", "200 429"}},
		"reordered":           {spent, {perKey("b", 9, "") + "," + three, "", "429"}, {three + "," + perKey("b", 9, ""), "", "429"}},
		"renamed":             {spent, {perKey("b", 3, ""), "", "200 200 200 429"}, {three, "", "429"}},
		"taken out, put back": {spent, {perKey("b", 9, ""), "", "200"}, {three, "", "429"}},
		"another key": {spent, {`{"name": "a", "key": [{"header": "x-key"}, {"constant": "x"}], "limits": [{"requests": 3, "window": "1h"}]}`,
			"", "200 200 200 429"}},
		"another window":    {spent, {strings.Replace(three, "1h", "2h", 1), "", "200 200 200 429"}},
		"another algorithm": {spent, {perKey("a", 3, `, "algorithm": "token_bucket"`), "", "200 200 200 429"}},
		"other buckets": {{perKey("a", 3, `, "algorithm": "sliding_buckets", "buckets": 60`), "", "200 200 200 429"},
			{perKey("a", 3, `, "algorithm": "sliding_buckets", "buckets": 30`), "", "200 200 200 429"}},
		"another burst": {{perKey("a", 1, `, "algorithm": "token_bucket", "burst": 3`), "", "200 200 200 429"},
			{perKey("a", 1, `, "algorithm": "token_bucket", "burst": 5`), "", "200 200 429"}},
		"a limit more":  {spent, {strings.Replace(three, "]}", `, {"requests": 9, "window": "1m"}]}`, 1), "", "429"}, {three, "", "429"}},
		"another match": {spent, {strings.Replace(three, `"key"`, `"match": {"methods": ["GET"]}, "on_missing_key": "skip", "key"`, 1), "", "429"}},
		"into shadow":   {spent, {strings.Replace(three, `"key"`, `"shadow": true, "key"`, 1), "", "200"}, {three, "", "429"}},
		// A table has a power of two of shards, here 4096 up to 131071 keys.
		"a little more room": {spent, {three, `, "store": {"max_keys": 131071}`, "429"}},
		"much more room":     {spent, {three, `, "store": {"max_keys": 131072}`, "200 200 200 429"}, {three, "", "429"}},
		"another namespace":  {spent, {three, `, "namespace": "elsewhere"`, "200 200 200 429"}, {three, "", "429"}},
	} {
		for i, s := range stages {
			mark := fmt.Sprint(name, " ", i)
			l.update(t, accepted, marked(t, "changes", mark, s.rules, s.members))
			got := l.live(t, "changes", mark).statuses(t, name, 1+strings.Count(s.want, " "))
			if got != s.want {
				t.Errorf("%s: %s, want %s", mark, got, s.want)
			}
		}
	}
}

// policies are what Envoy may do when a VM fails.
var policies = []string{"FAIL_OPEN", "FAIL_CLOSED", "FAIL_RELOAD"}

// reloadRefused is B55: whatever the failure policy, a configuration that Weir
// refuses is not put to use, neither as the first of a listener nor after a good
// one, whose limits and counts then stay.
func reloadRefused(t *testing.T, l *lds) {
	for i, policy := range policies {
		with := configuring(func(plugin object) { plugin["failure_policy"] = policy })
		window := fmt.Sprintf("%dx", i)
		bad := func(name string) object {
			return marked(t, name, "bad", strings.Replace(perKey("a", 3, ""), "1h", window, 1), "", with)
		}
		why := fmt.Sprintf(`rules[0].limits[0].window: %q: not a duration: want numbers with units, such as "500ms", "1m", "1h30m" or "1d"`, window)
		l.update(t, rejected, bad("new"))
		if addr, err := l.Listener(t.Context(), "new"); err == nil {
			t.Errorf("%s: a listener is served at %s", policy, addr)
		}
		delete(l.listeners, "new")
		l.update(t, accepted, marked(t, "refused", "good", perKey("a", 3, ""), "", with))
		p := l.live(t, "refused", "good")
		if got := p.statuses(t, policy, 2); got != "200 200" {
			t.Errorf("%s: %s before", policy, got)
		}
		l.update(t, rejected, bad("refused"))
		if got := p.statuses(t, policy, 2); got != "200 429" {
			t.Errorf("%s: %s after a bad update, want 200 429", policy, got)
		}
		if got := l.live(t, "refused", "good").statuses(t, policy, 1); got != "429" {
			t.Errorf("%s: %s on a new connection after a bad update, want 429", policy, got)
		}
		l.update(t, accepted, marked(t, "refused", "better", perKey("a", 4, ""), "", with))
		if got := l.live(t, "refused", "better").statuses(t, policy, 2); got != "200 429" {
			t.Errorf("%s: %s after the next good update, want 200 429", policy, got)
		}
		if n := l.refusals(why, 2); n != 2 {
			t.Errorf("%s: %d lines with %q, want one for each of two updates", policy, n, why)
		}
	}
}

// TestEnvoyRefusesToStartUnderEveryPolicy: FAIL_OPEN too does not let a bad
// configuration pass traffic. FAIL_RELOAD is in TestEnvoyRefusesBadConfigurations.
func TestEnvoyRefusesToStartUnderEveryPolicy(t *testing.T) {
	for _, policy := range policies[:2] {
		t.Run(policy, func(t *testing.T) {
			with := configuring(func(plugin object) { plugin["failure_policy"] = policy })
			config := assemble(t, []any{listener(t, filter{"bad", `{"rulez": []}`}, answerDirectly, with)})
			envoy, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: config, Concurrency: 1, LogLevel: "error"})
			if err == nil {
				_ = envoy.Stop()
				t.Fatal("envoy started")
			}
			if !strings.Contains(err.Error(), `rulez: unknown field, did you mean "rules"?`) {
				t.Error(err)
			}
		})
	}
}

// reloadBuilds lets two builds of the module, with one vm_id, share windows:
// side by side, and one after the other under load.
func reloadBuilds(t *testing.T, l *lds) {
	other := anotherBuild(t)
	with := configuring(func(plugin object) { plugin["vm_config"].(object)["code"] = object{"local": object{"filename": other}} })
	shared := `, "namespace": "shared"`
	l.update(t, accepted, marked(t, "first", "1", perKey("a", 9, ""), shared), marked(t, "second", "2", perKey("a", 9, ""), shared, with))
	for key := range 20 {
		conns := []*pinned{l.live(t, "first", "1"), l.live(t, "second", "2")}
		admitted := 0
		for range 9 {
			admitted += atOnce(t, conns, fmt.Sprint(key))
		}
		if admitted != 9 {
			t.Errorf("key %d: two builds admitted %d, want 9", key, admitted)
		}
	}
	newClientele(t, l, "builds", 4, other).reload(t)
}

// anotherBuild builds the module anew, so that its bytes differ.
func anotherBuild(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weir.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w -buildid=another", "-buildmode=c-shared", "-o", path, "../plugin")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(module, readModule(t)) {
		t.Fatal("the two builds are the same")
	}
	return path
}

// turnLimit is the limit of the keys of which one is used up around each update.
const turnLimit = 400

// A clientele asks over eight connections at a time, as fast as it is answered,
// while its listener is updated: by turns for the key "held", which was used up
// before; for "budget", which is meant to last to the end; and for the key whose
// number is that of the update under way.
type clientele struct {
	*lds
	name    string
	updates int
	another string // the module of every second update, if not the usual one
	addr    string
	turn    atomic.Int64
	served  atomic.Int64   // the last update that is known to answer
	granted []atomic.Int64 // of each turn's key
	members [8]member
}

// configuration is the listener of the clientele at its i-th update, which differs
// from the one before in much that must not matter.
func (c *clientele) configuration(t *testing.T, i int) object {
	t.Helper()
	rule := func(name, limit string) string {
		return fmt.Sprintf(`{"name": %q, "match": {"headers": [{"name": "x-rule", "exact": %q}]}, "key": [{"header": "x-key"}], "limits": [{%s}]}`, name, name, limit)
	}
	rules := []string{
		rule("held", `"requests": 3, "window": "1h"`),
		rule("budget", fmt.Sprintf(`"requests": %d, "window": "1h", "algorithm": "sliding_buckets"`, c.budget())),
		rule("turn", fmt.Sprintf(`"requests": %d, "window": "60m"`, turnLimit)),
		rule(fmt.Sprint("other-", i%3), fmt.Sprintf(`"requests": %d, "window": "1s"`, 1+i%7)),
	}
	first := i % len(rules)
	rules = append(rules[first:], rules[:first]...)
	build := configuring(func(plugin object) {
		if c.another != "" && i%2 == 1 {
			plugin["vm_config"].(object)["code"] = object{"local": object{"filename": c.another}}
		}
	})
	return marked(t, c.name, fmt.Sprint(i), strings.Join(rules, ", "), fmt.Sprintf(`, "store": {"max_keys": %d}`, 100000+i), build)
}

// budget is more than the clientele uses up between the updates.
func (c *clientele) budget() int { return 1000 * c.updates }

func newClientele(t *testing.T, l *lds, name string, updates int, another string) *clientele {
	t.Helper()
	c := &clientele{lds: l, name: name, updates: updates, another: another, granted: make([]atomic.Int64, updates+1)}
	c.update(t, accepted, c.configuration(t, 0))
	c.addr = c.live(t, name, "0").RemoteAddr().String()
	for i := range c.members {
		c.members[i] = member{t: t, addr: c.addr, admitted: map[string]int{}, cut: map[string]int{}, by: map[string]int{}, wait: math.MaxInt}
	}
	return c
}

// reload updates the listener again and again under load, and checks that
// nothing was lost, refilled or failed.
func (c *clientele) reload(t *testing.T) {
	t.Helper()
	from := time.Now()
	for i, want := range []int{200, 200, 200, 429} {
		if got := c.members[0].ask("held", "k"); got.status != want {
			t.Fatalf("request %d: %+v, want %d", i, got, want)
		}
	}
	spent := time.Now()
	var memory []int64 // after each update
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range c.members {
		wg.Go(func() {
			for m := &c.members[i]; !stop.Load() && m.round(c); {
			}
		})
	}
	for i := 1; i <= c.updates && !t.Failed(); i++ {
		c.turn.Store(int64(i))
		c.awaitGranted(t, i, turnLimit/8)
		c.update(t, accepted, c.configuration(t, i))
		_ = c.live(t, c.name, fmt.Sprint(i)).Close()
		c.served.Store(int64(i))
		c.awaitGranted(t, i, turnLimit*7/8)
		memory = append(memory, c.memory(t))
	}
	stop.Store(true)
	wg.Wait()
	t.Logf("%d updates under load in %v", c.updates, time.Since(spent).Round(time.Millisecond))
	asked := time.Now()
	got := c.members[0].ask("held", "k")
	checkWait(t, got, asked.Sub(spent), time.Since(from))
	c.useUp()
	c.check(t)
	checkMemory(t, memory)
}

func (c *clientele) memory(t *testing.T) int64 {
	t.Helper()
	rss, err := c.RSS()
	if err != nil {
		t.Error(err)
	}
	return rss
}

// checkMemory is B71: a VM for every worker and update would be over 20 MiB an
// update. It lets the first tenth of the updates warm up.
func checkMemory(t *testing.T, memory []int64) {
	t.Helper()
	const bound = 64 << 20
	first, middle, last := memory[len(memory)/10], memory[len(memory)/2], memory[len(memory)-1]
	t.Logf("memory after a tenth of the updates %d MiB, after half %d MiB, after all %d MiB", first>>20, middle>>20, last>>20)
	if last-first > bound {
		t.Errorf("memory grew by %d MiB, want at most %d", (last-first)>>20, bound>>20)
	}
}

// awaitGranted waits until so many requests for the key of a turn were admitted.
func (c *clientele) awaitGranted(t *testing.T, turn int, want int64) {
	t.Helper()
	for deadline := time.Now().Add(slow); c.granted[turn].Load() < want && !t.Failed(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("turn %d: %d admitted, want %d", turn, c.granted[turn].Load(), want)
		}
	}
}

// checkWait checks the Retry-After of a key whose oldest request of this hour
// came between least and most ago.
func checkWait(t *testing.T, got answer, least, most time.Duration) {
	t.Helper()
	wait, err := strconv.Atoi(got.retry)
	low, high := math.Ceil((time.Hour - most).Seconds()), math.Ceil((time.Hour - least).Seconds())
	if err != nil || got.status != 429 || float64(wait) < low || float64(wait) > high {
		t.Errorf("the key that was used up gets %+v, want 429 and a wait of %v to %v", got, low, high)
	}
}

// useUp takes what is left of every key.
func (c *clientele) useUp() {
	var wg sync.WaitGroup
	for i := range c.members {
		wg.Go(func() {
			m := &c.members[i]
			for m.ask("budget", "k").status == 200 {
			}
			for turn := range c.updates {
				for m.ask("turn", fmt.Sprint(turn+1)).status == 200 {
				}
			}
		})
	}
	wg.Wait()
}

// check compares what all members were granted with the limits. A request that
// was cut may have been charged.
func (c *clientele) check(t *testing.T) {
	t.Helper()
	answers, closed, cut, both := 0, 0, 0, 0
	admitted, lost, by := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range c.members {
		m := &c.members[i]
		answers, closed = answers+m.answers, closed+m.closed
		for key, n := range m.admitted {
			admitted[key] += n
		}
		for key, n := range m.cut {
			lost[key] += n
			cut += n
		}
		for key, n := range m.by {
			by[key] += n
		}
	}
	want := map[string]int{"held k": 3, "budget k": c.budget()}
	for turn := 1; turn <= c.updates; turn++ {
		key := fmt.Sprint("turn ", turn)
		want[key] = turnLimit
		if by[fmt.Sprint(key, " ", turn-1)] > 0 && by[fmt.Sprint(key, " ", turn)] > 0 {
			both++
		}
	}
	for key, limit := range want {
		if n := admitted[key]; n > limit || n+lost[key] < limit {
			t.Errorf("%s: %d admitted (and %d without an answer), want %d", key, n, lost[key], limit)
		}
	}
	t.Logf("%d answers; %d connections closed as announced, %d requests cut; %d of %d keys were admitted by the old and the new configuration",
		answers, closed, cut, both, c.updates)
	if both < c.updates {
		t.Error("a key was not admitted on both sides of its update")
	}
}

// round asks for each of the three keys, and says whether all is well.
func (m *member) round(c *clientele) bool {
	m.ask("budget", "k")
	turn := c.turn.Load()
	// A quarter of the turn's key is kept for the new configuration.
	due := c.granted[turn].Load() < turnLimit*3/4 || c.served.Load() == turn
	if due && m.ask("turn", fmt.Sprint(turn)).status == 200 {
		c.granted[turn].Add(1)
	}
	held := m.ask("held", "k")
	wait, err := strconv.Atoi(held.retry)
	if err != nil || held.status != 429 || wait > m.wait {
		m.t.Errorf("the key that was used up gets %+v after a wait of %d", held, m.wait)
	}
	m.wait = wait
	return !m.t.Failed()
}
