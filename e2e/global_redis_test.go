package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/e2e/load"
)

// globalRedisRules are rules on paths of their own, under which each test has
// keys of its own.
const globalRedisRules = `
	{"name": "log", "match": {"path": {"exact": "/log"}}, "key": [{"header": "x-key"}], "global": {"limits": [{"requests": 100, "window": "10s"}]}},
	{"name": "short", "match": {"path": {"exact": "/short"}}, "key": [{"header": "x-key"}], "global": {"limits": [{"requests": 100, "window": "2s"}]}},
	{"name": "buckets", "match": {"path": {"exact": "/buckets"}}, "key": [{"header": "x-key"}],
	 "global": {"limits": [{"requests": 100, "window": "1s", "algorithm": "sliding_buckets", "buckets": 20}]}},
	{"name": "token", "match": {"path": {"exact": "/token"}}, "key": [{"header": "x-key"}],
	 "global": {"limits": [{"requests": 100, "window": "1s", "burst": 50, "algorithm": "token_bucket"}]}},
	{"name": "hot", "match": {"path": {"exact": "/hot"}}, "key": [{"header": "x-key"}], "global": {"limits": [{"requests": 5, "window": "1h"}]}},
	{"name": "front", "match": {"path": {"exact": "/front"}}, "key": [{"header": "x-user"}], "limits": [{"requests": 3, "window": "1h"}]},
	{"name": "behind", "match": {"path": {"exact": "/front"}}, "key": [{"header": "x-item"}], "global": {"limits": [{"requests": 1, "window": "1h"}]}},
	{"name": "user", "match": {"path": {"exact": "/both"}}, "key": [{"header": "x-user"}], "global": {"limits": [{"requests": 30, "window": "1h"}]}},
	{"name": "item", "match": {"path": {"exact": "/both"}}, "key": [{"header": "x-item"}], "global": {"limits": [{"requests": 1, "window": "1h"}]}}`

// TestGlobalRedis: two Envoys of two workers share what is in one Redis, by each
// of its doors.
func TestGlobalRedis(t *testing.T) {
	server := startRedis(t, 0)
	doors := []filter{globalFilter("webdis", globalRedisRules), globalFilter("upstash", globalRedisRules)}
	proxies := startProxies(t, 2, doors,
		cluster(t, "webdis", startWebdis(t, server).Addr), cluster(t, "upstash", startUpstash(t, server).Addr))
	for _, door := range doors {
		addrs := addresses(t, proxies, door.name)
		t.Run(door.name, func(t *testing.T) {
			// The doors share the windows too: so each has keys of its own.
			t.Run("splits", func(t *testing.T) { testSplits(t, addrs, door.name) })
			t.Run("windows", func(t *testing.T) { testWindows(t, addrs, door.name) })
			t.Run("shielded", func(t *testing.T) { testShielded(t, server, addrs, door.name) })
			t.Run("local limits in front", func(t *testing.T) { testInFront(t, addrs, door.name) })
			t.Run("several rules", func(t *testing.T) { testSeveral(t, addrs, door.name) })
			t.Run("script flush", func(t *testing.T) { testScriptFlush(t, server, addrs, door.name) })
		})
	}
}

// testSplits: 100 in 10 seconds are admitted of many more, however they are
// spread over the two proxies.
func testSplits(t *testing.T, addrs []string, door string) {
	for _, split := range []struct {
		name              string
		connections, sent [2]int // to each proxy, and requests on each connection
	}{
		{"50 to 50, 16 at once", [2]int{8, 8}, [2]int{25, 25}},
		{"90 to 10", [2]int{9, 1}, [2]int{40, 40}},
		{"all to one", [2]int{16, 0}, [2]int{25, 0}},
		{"one by one", [2]int{1, 1}, [2]int{120, 120}},
	} {
		t.Run(split.name, func(t *testing.T) {
			var lanes []lane
			for i, addr := range addrs {
				for range split.connections[i] {
					lanes = append(lanes, lane{addr, times(split.sent[i], requestOf("/log", "x-key", door+split.name))})
				}
			}
			checkShared(t, drive(t, lanes), bound{100, 10 * time.Second, 100, 0, 10 * time.Second})
		})
	}
}

// testWindows: what both proxies admit together stays within what is documented,
// in every window, and all of it is used.
func testWindows(t *testing.T, addrs []string, door string) {
	const second = time.Second
	for _, algorithm := range []struct {
		path  string
		lasts time.Duration
		bound
	}{
		{"/short", 7 * second, bound{100, 2 * second, 100, 0, 2 * second}},
		{"/buckets", 3 * second, bound{100, second, 100, 0, second + second/20}},
		{"/token", 3 * second, bound{50, second, 100, 50, second / 2}},
	} {
		t.Run(algorithm.path[1:], func(t *testing.T) {
			var lanes []lane
			for i := range 16 {
				lanes = append(lanes, lane{addrs[i%2], lasting(algorithm.lasts, requestOf(algorithm.path, "x-key", door))})
			}
			answers := drive(t, lanes)
			checkShared(t, answers, algorithm.bound)
			if len(answers[200]) < 2*algorithm.limit || len(answers[429]) == 0 {
				t.Errorf("no more than %v", tally(answers))
			}
		})
	}
}

// testShielded: after the engine has refused a key, each worker that knows makes
// no more calls. Counted where the calls arrive.
func testShielded(t *testing.T, server *engine.Redis, addrs []string, door string) {
	hot := requestOf("/hot", "x-key", door)
	calls := func() int64 { return scriptCalls(t, server) }
	before := calls()
	// One connection after the other: in each worker at most one call is refused.
	total := load.Tally{}
	for i := range 32 {
		total.Add(tally(drive(t, []lane{{addrs[i%2], times(5, hot)}})))
	}
	if total[200] != 5 || total[429] != 155 {
		t.Errorf("answers by status %v", total)
	}
	const workers = 4
	if n := calls() - before; n < 6 || n > 5+workers {
		t.Errorf("%d calls for 160 requests, want the 5 admitted and one refused in each of %d workers", n, workers)
	}
	// Another key is not shielded, which shows that the count counts.
	before = calls()
	wantTally(t, "another key", addrs[0], 5, requestOf("/hot", "x-key", door+"-other"), load.Tally{200: 5})
	if n := calls() - before; n != 5 {
		t.Errorf("%d calls for 5 requests of another key", n)
	}
}

// testInFront: a request that the engine refuses is charged to no local limit.
func testInFront(t *testing.T, addrs []string, door string) {
	item := func(user string, i int) load.Request {
		return requestOf("/front", "x-user", user+door, "x-item", fmt.Sprint(door, i))
	}
	for i := range 3 {
		wantTally(t, "who takes it first", addrs[1], 1, item("first", i), load.Tally{200: 1})
	}
	for i := range 3 { // by calls, as this proxy does not know yet
		wantTally(t, "taken", addrs[0], 4, item("second", i), load.Tally{429: 4})
	}
	for i := 3; i < 6; i++ {
		wantTally(t, "still there", addrs[0], 1, item("second", i), load.Tally{200: 1})
	}
	wantTally(t, "beyond the local limit", addrs[0], 1, item("second", 6), load.Tally{429: 1})
	wantTally(t, "which was not asked for", addrs[1], 1, item("third", 6), load.Tally{200: 1})
}

// testSeveral: two rules of one request are charged both or none, so that what
// one of them refuses leaves the other its room, whoever comes first.
func testSeveral(t *testing.T, addrs []string, door string) {
	var lanes []lane
	for i := range 16 {
		sent := 0
		lanes = append(lanes, lane{addrs[i%2], func(int) (load.Request, bool) {
			sent++ // all lanes want the same item at about the same time
			return requestOf("/both", "x-user", door, "x-item", fmt.Sprint(door, sent%50)), sent <= 100
		}})
	}
	if got := tally(drive(t, lanes)); got[200] != 30 || got[200]+got[429] != 1600 {
		t.Errorf("answers by status %v, want 30 admitted: each of 30 items once", got)
	}
}

// testScriptFlush: that Redis forgets the script costs nobody anything.
func testScriptFlush(t *testing.T, server *engine.Redis, addrs []string, door string) {
	client := clientOf(t, server)
	var lanes []lane
	for i := range 4 {
		sent := 0
		lanes = append(lanes, lane{addrs[i%2], func(int) (load.Request, bool) {
			if sent++; i == 0 && sent%10 == 0 {
				if err := client.ScriptFlush(t.Context()).Err(); err != nil {
					t.Error(err)
				}
			}
			return requestOf("/log", "x-key", fmt.Sprint(door, i, sent/100)), sent <= 500
		}})
	}
	before := commandCalls(t, server, "eval")
	if got := tally(drive(t, lanes)); got[200] != 2000 || got.Total() != 2000 {
		t.Errorf("answers by status %v", got)
	}
	if n := commandCalls(t, server, "eval") - before; n < 10 {
		t.Errorf("the script was sent %d times only: it was not forgotten", n)
	}
}

func clientOf(t *testing.T, server *engine.Redis) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// scriptCalls is how often Redis has been asked for a decision.
func scriptCalls(t *testing.T, server *engine.Redis) int64 {
	t.Helper()
	return commandCalls(t, server, "evalsha") + commandCalls(t, server, "eval")
}

// commandCalls is how often a command has run, as Redis counts it.
func commandCalls(t *testing.T, server *engine.Redis, command string) (n int64) {
	t.Helper()
	info, err := clientOf(t, server).Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if values, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls="); ok {
			if _, err := fmt.Sscan(strings.SplitN(values, ",", 2)[0], &n); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}
