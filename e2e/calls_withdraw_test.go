package e2e

import "testing"

// TestWhoLeavesAFailureUsesNothingUp: what a client has left before the engine
// failed was served to nobody. It must use up neither the local limit nor the share
// of those who stay, and counts as neither admitted nor failed.
func TestWhoLeavesAFailureUsesNothingUp(t *testing.T) {
	for _, action := range []string{"local", "allow", "deny"} {
		for engine, configuration := range engines {
			c := newCaller(t, configuration("", `"on_global_error": "`+action+`",`))
			for range 20 {
				e, call := c.paused("a")
				c.must(e.Leave(t.Context()))
				c.failAs(call)
			}
			for _, outcome := range []string{"allowed", "limited", "errors"} {
				if n, _ := c.host.Metrics.Get("weir.rule.e2e.two." + outcome); n != 0 {
					t.Errorf("%s, %s: %d counted as %s", engine, action, n, outcome)
				}
			}
			e, call := c.paused("a")
			if action == "deny" {
				c.answerAs(call, true)
			} else {
				c.failAs(call)
			}
			c.check(e, 200, "")
		}
	}
}
