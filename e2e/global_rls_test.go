package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/load"
)

const (
	rlsRules = `
	{"name": "minute", "match": {"path": {"exact": "/minute"}}, "key": [{"header": "x-key"}], "global": {}},
	{"name": "second", "match": {"path": {"exact": "/second"}}, "key": [{"header": "x-key"}], "global": {}},
	{"name": "unknown", "match": {"path": {"exact": "/unknown"}}, "key": [{"header": "x-key"}], "global": {}},
	{"name": "front", "match": {"path": {"exact": "/front"}}, "key": [{"header": "x-user"}], "limits": [{"requests": 3, "window": "1h"}]},
	{"name": "behind", "match": {"path": {"exact": "/front"}}, "key": [{"header": "x-item"}], "global": {}}`

	rlsLimits = `
domain: weir
descriptors:
  - {key: rule, value: minute, descriptors: [{key: header x-key, rate_limit: {unit: minute, requests_per_unit: 100}}]}
  - {key: rule, value: second, descriptors: [{key: header x-key, rate_limit: {unit: second, requests_per_unit: 100}}]}
  - {key: rule, value: behind, descriptors: [{key: header x-item, rate_limit: {unit: day, requests_per_unit: 1}}]}
`
)

// TestGlobalRLS: two Envoys of two workers share what a real rate limit service
// counts in Redis, in its fixed windows.
func TestGlobalRLS(t *testing.T) {
	server := startRedis(t, 0)
	service := startRatelimit(t, server, rlsLimits, 0)
	proxies := startProxies(t, 2, []filter{globalFilter("ratelimit", rlsRules)}, http2(cluster(t, "ratelimit", service.Addr)))
	addrs := addresses(t, proxies, "ratelimit")
	for name, connections := range map[string][2]int{"50 to 50": {8, 8}, "90 to 10": {14, 2}, "all to one": {16, 0}} {
		t.Run(name, func(t *testing.T) {
			withinWindow(t, time.Minute, func(attempt int) error {
				var lanes []lane
				for i, addr := range addrs {
					for range connections[i] {
						lanes = append(lanes, lane{addr, times(25, requestOf("/minute", "x-key", fmt.Sprint(name, attempt)))})
					}
				}
				if got := tally(drive(t, lanes)); got[200] != 100 || got[429] != 300 {
					return fmt.Errorf("answers by status %v", got)
				}
				return nil
			})
		})
	}
	t.Run("windows", func(t *testing.T) { testFixedWindows(t, addrs) })
	t.Run("shielded", func(t *testing.T) {
		withinWindow(t, time.Minute, func(attempt int) error {
			before := commandCalls(t, server, "incrby")
			total := load.Tally{}
			for i := range 40 {
				total.Add(tally(drive(t, []lane{{addrs[i%2], times(5, requestOf("/minute", "x-key", fmt.Sprint("hot", attempt)))}})))
			}
			if n := commandCalls(t, server, "incrby") - before; total[200] != 100 || total[429] != 100 || n < 101 || n > 104 {
				return fmt.Errorf("answers by status %v, %d calls: want the 100 admitted, and one refused in each of 4 workers", total, n)
			}
			return nil
		})
	})
	t.Run("local limits in front", func(t *testing.T) { testInFront(t, addrs, "rls") })
	t.Run("no limit", func(t *testing.T) {
		wantTally(t, "what the service knows no limit for", addrs[0], 50, requestOf("/unknown", "x-key", "any"), load.Tally{200: 50})
	})
}

// withinWindow does something within one window of the clock, and again, with
// other keys, if it was too slow for that: what it says then counts for nothing.
func withinWindow(t *testing.T, window time.Duration, do func(attempt int) error) {
	t.Helper()
	for attempt := range 5 {
		begun := time.Now().Truncate(window)
		if left := time.Until(begun.Add(window)); left < window/10 {
			time.Sleep(left)
			begun = begun.Add(window)
		}
		err := do(attempt)
		if time.Now().Truncate(window).Equal(begun) {
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Errorf("five times no window of %v was long enough", window)
}

// testFixedWindows: of each second on the clock, no more than the limit are
// admitted, and nobody is refused while there is room. The shield may go on for
// as much of a second as the service does not tell.
func testFixedWindows(t *testing.T, addrs []string) {
	start := time.Now()
	var lanes []lane
	for i := range 16 {
		lanes = append(lanes, lane{addrs[i%2], lasting(4500*time.Millisecond, requestOf("/second", "x-key", "windows"))})
	}
	answers := drive(t, lanes)
	first := start.Truncate(time.Second).Sub(start)
	_, end := ends(answers[200])
	windows := 0
	for from := first; from < end; from += time.Second {
		certain, possible := within(answers[200], from, from+time.Second)
		refused, _ := within(answers[429], from, from+time.Second)
		_, before := within(answers[200], from-time.Second, from)
		if certain > 100 {
			t.Errorf("%d admitted within a window", certain)
		}
		if refused > 0 && possible < 100 && before < 100 {
			t.Errorf("%d refused while at most %d and %d were admitted", refused, before, possible)
		}
		windows++
	}
	if n := len(answers[200]); n < 200 || n > 100*windows || len(answers) != 2 {
		t.Errorf("answers by status %v in %d windows", tally(answers), windows)
	}
}

// within returns how many were certainly decided between two times, and how many
// may have been. The clock of the service may be a little off this one, which
// does not step.
func within(spans []span, from, to time.Duration) (certain, possible int) {
	const off = 5 * time.Millisecond
	for _, s := range spans {
		if s.sent >= from+off && s.answered < to-off {
			certain++
		}
		if s.answered >= from-off && s.sent < to+off {
			possible++
		}
	}
	return certain, possible
}
