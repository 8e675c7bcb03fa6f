package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// TestReloadWhileRequestsArePaused: a new configuration must not take the answers
// of the old one's requests, lose these, or keep the old one for ever. Envoy
// removes it when its last request is over, whose calls it then cancels.
func TestReloadWhileRequestsArePaused(t *testing.T) {
	for i, configuration := range []func(string, string) string{sharedByRedis, sharedByRLS} {
		c := newCaller(t, configuration("", ""))
		var pages uint32
		for round := range 900 {
			c.host.SetNow(time.Duration(round+1) * 2 * time.Hour)
			c.reload(configuration, fmt.Sprint("old", i, round))
			if round == 450 {
				pages = c.vm.MemoryPages()
			}
		}
		c.flat(pages)
		if logs := c.host.Logs(); len(logs) > 0 {
			t.Errorf("logged %q", logs)
		}
	}
}

// reload starts a plugin beside the first, pauses requests of both, and removes
// it while a call that nobody waits for is under way.
func (c *caller) reload(configuration func(string, string) string, name string) {
	c.Helper()
	old, err := c.vm.AddPlugin(c.Context(), wasmhost.Plugin{RootID: name, Configuration: []byte(configuration(`, "max_pending": 2`, `"namespace": "e2e",`))})
	c.must(err)
	e, err := old.Begin(c.Context(), keyed(name))
	c.must(err)
	gone, err := old.Begin(c.Context(), keyed(name))
	c.must(err)
	other, _ := c.paused(name)
	calls := c.vm.Calls()
	c.answerAs(calls[2], true)
	c.check(other, 200, "")
	c.answerAs(calls[0], false)
	c.check(e, 429, "local_rate_limited{two}")
	c.must(gone.Leave(c.Context()))
	c.must(old.Remove(c.Context()))
	if got := c.vm.Calls(); len(got) != 0 {
		c.Errorf("%d calls are left", len(got))
	}
	c.counted("calls=3")
}

// TestANewConfigurationForgetsTheShield: an operator who has emptied the engine, or
// raised a limit of a service, must not wait for refusals that were remembered.
func TestANewConfigurationForgetsTheShield(t *testing.T) {
	for _, configuration := range []func(string, string) string{sharedByRedis, sharedByRLS} {
		same := configuration("", `"namespace": "e2e",`)
		c := newCaller(t, same)
		_, call := c.paused("a")
		c.answerAs(call, false)
		c.check(c.begin("a"), 429, "local_rate_limited{two}")
		c.counted("calls=1 shielded=1")
		reloaded, err := c.vm.AddPlugin(c.Context(), wasmhost.Plugin{RootID: "e2e", Configuration: []byte(same)})
		c.must(err)
		e, err := reloaded.Begin(c.Context(), keyed("a"))
		c.must(err)
		if e.Over() || len(c.vm.Calls()) != 1 {
			t.Fatalf("over %v, %+v, %d calls, want one", e.Over(), e.Response(), len(c.vm.Calls()))
		}
		c.answerAs(c.vm.Calls()[0], true)
		c.check(e, 200, "")
		c.check(c.begin("a"), 429, "local_rate_limited{two}") // of the old one, which goes on
		c.counted("calls=1 shielded=1")
	}
}
