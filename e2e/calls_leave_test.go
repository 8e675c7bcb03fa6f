package e2e

import (
	"fmt"
	"testing"
	"time"
)

// TestWhoLeavesIsDecided: a client that leaves before the engine has refused it,
// again and again, must not use up a local limit, which others may share, nor cost
// a call each time.
func TestWhoLeavesIsDecided(t *testing.T) {
	for _, configuration := range []func(string, string) string{sharedByRedis, sharedByRLS} {
		c := newCaller(t, configuration("", ""))
		for i := range 9 {
			c.host.SetNow(time.Hour + time.Duration(i)*time.Minute) // when the engine has forgotten
			e, call := c.paused("a")
			c.must(e.Leave(t.Context()))
			c.answerAs(call, false)
			c.check(c.begin("a"), 429, "local_rate_limited{two}")
			c.counted("calls=1 shielded=1")
		}
		if n, _ := c.host.Metrics.Get("weir.rule.e2e.two.limited"); n != 18 {
			t.Errorf("%d refusals counted, want those of the requests that were left too", n)
		}
		c.host.SetNow(time.Hour + 9*time.Minute)
		for i := range 9 {
			e, call := c.paused("a")
			if i%2 == 1 { // what the engine has admitted is charged
				c.must(e.Leave(t.Context()))
				c.answerAs(call, true)
				continue
			}
			c.answerAs(call, true)
			c.check(e, 200, "")
			c.remains(e, 8-i)
		}
		c.check(c.begin("a"), 429, "local_rate_limited{two}")
		c.counted("calls=9")
		if logs := c.host.Logs(); len(logs) > 0 {
			t.Errorf("logged %q", logs)
		}
	}
}

// TestWhoLeavesAFailureIsDecided: where on_global_error refuses, what was charged
// comes back, and no failure is counted that nobody has suffered. A Redis without
// the script is not asked again.
func TestWhoLeavesAFailureIsDecided(t *testing.T) {
	for engine, configuration := range engines {
		c := newCaller(t, configuration("", `"on_global_error": "deny",`))
		for i := range 18 {
			e, call := c.paused("a")
			c.must(e.Leave(t.Context()))
			if engine == "redis" && i%2 == 0 {
				c.answer(call, noScript)
			} else {
				c.failAs(call)
			}
			if n := len(c.vm.Calls()); n != 0 {
				t.Errorf("%s: %d calls more", engine, n)
			}
		}
		c.counted("calls=18")
		e, call := c.paused("a")
		c.answerAs(call, true)
		c.check(e, 200, "")
		c.remains(e, 8)
	}
}

// TestNoTimeForWhoHasLeft: an error when nobody waits is told all the same.
func TestNoTimeForWhoHasLeft(t *testing.T) {
	for engine := range engines {
		c := newAnswerCaller(t, engine, "deny")
		e, call := c.paused("a")
		c.must(e.Leave(t.Context()))
		c.host.Before = faultIn(c.host, map[string]string{"redis": onHTTP, "rls": onMessage}[engine], "clock_time_get", 1)
		c.answerAs(call, true)
		c.host.Before, c.host.Fault = nil, nil
		if n, _ := c.host.Metrics.Get("weir.rule.e2e.two.errors"); n != 1 || c.errors() != 1 || len(c.host.Logs()) != 1 {
			t.Errorf("%s: %d errors of the rule, %d in all, logged %q", engine, n, c.errors(), fmt.Sprint(c.host.Logs()))
		}
	}
}
