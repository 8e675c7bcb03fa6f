package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// TestMaxPending: an engine that hangs must not make requests wait without
// bound, and one that recovers must be asked again.
func TestMaxPending(t *testing.T) {
	for _, configuration := range []func(string, string) string{sharedByRedis, sharedByRLS} {
		c := newCaller(t, configuration(`, "max_pending": 3`, `"on_global_error": "deny",`))
		for round := range 5 {
			var waiting []*wasmhost.Exchange
			for i := range 3 {
				e, _ := c.paused(fmt.Sprint(round, i))
				waiting = append(waiting, e)
			}
			for range 2 {
				c.check(c.begin(fmt.Sprint(round, "over")), 503, "local_rate_limit_error")
			}
			for i, call := range c.vm.Calls() {
				if i == 1 {
					c.failAs(call)
				} else {
					c.answerAs(call, true)
				}
			}
			for i, e := range waiting {
				c.check(e, []int{200, 503, 200}[i], []string{"", "local_rate_limit_error", ""}[i])
			}
			c.counted("calls=3 unreachable=1 overflow=2")
		}
	}
}

// TestClientsThatLeave: a call goes on in Envoy when its client has left. It
// counts until it ends, or clients that come and go would make any number of
// calls; it ends without harm; and nothing is kept for it.
func TestClientsThatLeave(t *testing.T) {
	const most = 20
	for _, configuration := range []func(string, string) string{sharedByRedis, sharedByRLS} {
		c := newCaller(t, configuration(fmt.Sprintf(`, "max_pending": %d`, most), `"on_global_error": "deny",`))
		var pages uint32
		for round := range 1200 {
			c.host.SetNow(time.Duration(round+1) * 2 * time.Hour)
			for i := range most {
				e, _ := c.paused(fmt.Sprint(i))
				c.must(e.Leave(t.Context()))
			}
			c.check(c.begin("over"), 503, "local_rate_limit_error")
			for i, call := range c.vm.Calls() {
				switch i % 3 {
				case 0:
					c.answerAs(call, true)
				case 1:
					c.answerAs(call, false)
				case 2:
					c.failAs(call)
				}
			}
			c.counted(fmt.Sprintf("calls=%d overflow=1", most)) // and no failure: nobody is left to suffer it
			if round == 600 {
				pages = c.vm.MemoryPages()
			}
		}
		c.flat(pages)
		if logs := c.host.Logs(); len(logs) > 0 {
			t.Errorf("logged %q", logs)
		}
	}
}

// TestAnswersOutOfOrder: a request that gets another's answer.
func TestAnswersOutOfOrder(t *testing.T) {
	for _, configuration := range []func(string, string) string{sharedByRedis, sharedByRLS} {
		c := newCaller(t, configuration("", ""))
		first, firstCall := c.paused("a")
		r := keyed("b")
		r.Upstream = wasmhost.Upstream{Status: 204}
		second, err := c.vm.Begin(t.Context(), r)
		c.must(err)
		third, thirdCall := c.paused("c")
		calls := c.vm.Calls()
		c.answerAs(thirdCall, false)
		c.answerAs(calls[1], true)
		c.check(second, 204, "")
		c.check(third, 429, "local_rate_limited{two}")
		if first.Over() {
			t.Error("the first is answered")
		}
		c.answerAs(firstCall, false)
		c.check(first, 429, "local_rate_limited{two}")
		c.counted("calls=3")
		// What was refused has not been charged here: of nine units eight are left
		// after the next request, which comes when the engine forgets.
		c.host.SetNow(time.Hour + time.Minute)
		e, call := c.paused("a")
		c.answerAs(call, true)
		c.headers(e, map[string]string{"x-ratelimit-limit": "2"})
		c.remains(e, 8)
	}
}

// TestShield: a hot key that is refused must cost the engine one call, and no
// longer than it said. A service says so in whole seconds, and may be wrong by one.
func TestShield(t *testing.T) {
	for _, test := range []struct {
		configuration func(string, string) string
		until         time.Duration
		left          string // just before
	}{{sharedByRedis, 30 * time.Second, "1"}, {sharedByRLS, 29 * time.Second, "2"}} {
		c := newCaller(t, test.configuration("", ""))
		e, call := c.paused("hot")
		c.answerAs(call, false)
		c.check(e, 429, "local_rate_limited{two}")
		for i, want := range []string{"30", "29", test.left} {
			c.host.SetNow(time.Hour + []time.Duration{0, time.Second, test.until - time.Microsecond}[i])
			e := c.begin("hot")
			c.check(e, 429, "local_rate_limited{two}")
			c.headers(e, map[string]string{"retry-after": want})
		}
		c.counted("calls=1 shielded=3")
		c.paused("cold")
		c.host.SetNow(time.Hour + test.until)
		e, _ = c.paused("hot")
		c.answerAs(c.vm.Calls()[1], true)
		c.check(e, 200, "")
		c.counted("calls=2")
	}
}

// TestLocalLimitsRefuseFirst: what this proxy refuses must not cost a call, and
// what the engine refuses must not use up a local limit.
func TestLocalLimitsRefuseFirst(t *testing.T) {
	for _, configuration := range []func(string, string) string{sharedByRedis, sharedByRLS} {
		c := newCaller(t, configuration("", ""))
		for i := range 9 {
			e, call := c.paused("a")
			c.answerAs(call, false)
			c.check(e, 429, "local_rate_limited{two}")
			c.host.SetNow(time.Hour + time.Duration(i+1)*time.Minute)
		}
		for i := range 9 {
			e, call := c.paused("a")
			c.answerAs(call, true)
			c.check(e, 200, "")
			c.remains(e, 8-i)
		}
		e := c.begin("a")
		c.check(e, 429, "local_rate_limited{two}")
		c.headers(e, map[string]string{"ratelimit": `"two";r=0;t=3600`})
		c.counted("calls=18")
	}
}

// TestStrayAnswers: the end of a call that was never made, or is over, must not
// decide a request.
func TestStrayAnswers(t *testing.T) {
	for _, configuration := range []func(string, string) string{sharedByRedis, sharedByRLS} {
		c := newCaller(t, configuration(`, "max_pending": 1`, ""))
		c.must(c.vm.Stray(t.Context(), 1))
		over, call := c.paused("a")
		c.answerAs(call, true)
		e, call := c.paused("b")
		for _, token := range []uint32{0, 1, call.Token - 4, call.Token + 1, call.Token + 4, 1<<32 - 1} {
			c.must(c.vm.Stray(t.Context(), token))
		}
		if e.Over() || len(c.vm.Calls()) != 1 {
			t.Errorf("over %v, %d calls", e.Over(), len(c.vm.Calls()))
		}
		c.answerAs(call, false)
		c.check(over, 200, "")
		c.check(e, 429, "local_rate_limited{two}")
		c.counted("calls=2")
	}
}
