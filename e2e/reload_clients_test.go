package e2e

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

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
